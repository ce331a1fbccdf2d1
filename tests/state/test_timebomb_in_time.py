"""Protects a timebomb on a real node: its clock, its stored deadline, and their effect over time.

The compared values are given by hand; finding them is the task of static analysis.
"""

from collections.abc import Sequence
from typing import Any

import pytest
from msgspec import structs

from analysis.pipeline.chain_context import ChainContext
from analysis.pipeline.scan import scan
from analysis.reads.block_reader import BlockReader
from analysis.reads.read_batch import ReadBatch
from analysis.static.token_model.clock.clock_limits import ClockLimit
from analysis.token.contract_clock import ClockRead, ClockReading, ContractClock, clock_at
from analysis.token.deadline_state import read_clock_state
from analysis.token.deployed_code import DeployedCode, analyse_deployed_code
from api.formats.native.native import render_native
from api.formats.native.shapes import NativeFeatures
from api.formats.token_snapshot import clock_after
from assay.demo.layout import ZooToken
from assay.demo.reads import read
from config.facts.chain import Chain as ChainFacts
from core.evm.primitives import Address, BlockRef, Hash32
from core.report.report import Report
from core.rpc.client import RpcClient
from tests.harness.api.sample_reports import LIQUID_USD
from tests.harness.chain.transactions import Chain

YEAR_S = 365 * 86_400
DAY_S = 86_400


def slot(number: int) -> Hash32:
    return Hash32(f"0x{number:064x}")


def deadline_of(chain: Chain, token: ZooToken) -> int:
    return int(str(read(chain.node, token.address, "deadline()")[0]))


def slot_of(chain: Chain, token: Address, word: int) -> Hash32:
    """The slot among the first that holds this word."""
    for number in range(32):
        slot_word = chain.node.rpc("eth_getStorageAt", token, hex(number), "latest")
        if int(str(slot_word), 16) == word:
            return slot(number)
    raise LookupError(word)


def stored_limit(chain: Chain, token: ZooToken) -> ClockLimit:
    return ClockLimit(
        source="storage",
        slot=slot_of(chain, token.address, deadline_of(chain, token)),
        is_writable=True,
        compared_with="timestamp",
    )


@pytest.fixture
def limits(monkeypatch: pytest.MonkeyPatch) -> list[ClockLimit]:
    """Set the clock limits found by static analysis in every code."""
    found: list[ClockLimit] = []

    async def judge(*given: Any, **named: Any) -> DeployedCode:
        judged = await analyse_deployed_code(*given, **named)
        findings = structs.replace(judged.findings, timebomb=True)
        return structs.replace(judged, findings=findings, clock_limits=tuple(found))

    monkeypatch.setattr("analysis.pipeline.condition_reads.analyse_deployed_code", judge)
    return found


async def judge(context: ChainContext, token: ZooToken) -> Report:
    *_, report = [report async for report in scan(context, token.address)]
    return report


def answer(report: Report, facts: ChainFacts, *, later_s: int = 0) -> NativeFeatures:
    """Return a caller's answer some time after the analysis, on a chain without a follower."""
    moved = clock_after(report, facts, now_s=report.token.scanned_at_s + later_s)
    return render_native(report, clock=moved, liquid_above_usd=LIQUID_USD)


def course(report: Report, facts: ChainFacts, waits_s: Sequence[int]) -> list[Any]:
    answers = [answer(report, facts, later_s=wait_s) for wait_s in waits_s]
    return [(features.timebomb, features.timebomb_status) for features in answers]


async def clock_of(client: RpcClient, block: BlockRef) -> ClockReading | None:
    batch = ReadBatch(block.hash)
    clock = ClockRead(batch)
    await batch.send(client)
    return clock.read()


async def test_the_clock_is_what_contracts_read(chain: Chain, node_client: RpcClient) -> None:
    for _ in range(3):
        chain.node.increase_time(1_000)
        head = await node_client.fetch_head()
        assert await clock_of(node_client, head) == ClockReading(
            block_number=head.number, time_s=head.time_s
        )


async def test_a_former_block_has_its_own_clock(chain: Chain, node_client: RpcClient) -> None:
    former = await node_client.fetch_head()
    chain.node.increase_time(1_000)
    assert await clock_of(node_client, former) == ClockReading(
        block_number=former.number, time_s=former.time_s
    )


async def test_a_stored_deadline_is_read_at_the_pinned_block(
    chain: Chain, node_client: RpcClient
) -> None:
    token = chain.world.token("timebomb_stored")
    limit, until_s = stored_limit(chain, token), deadline_of(chain, token)
    pin = await node_client.fetch_head()
    chain.send(token.owner, token.address, "setDeadline(uint256)", until_s + 5)
    state = await read_clock_state(BlockReader(node_client, block=pin.hash), token.address, [limit])
    assert state.reading == ClockReading(block_number=pin.number, time_s=pin.time_s)
    assert [row.value for row in state.limits] == [until_s]
    head = await node_client.fetch_head()
    state = await read_clock_state(
        BlockReader(node_client, block=head.hash), token.address, [limit]
    )
    assert [row.value for row in state.limits] == [until_s + 5]


async def test_a_stored_deadline_passes_between_two_answers(
    chain: Chain, context: ChainContext, facts: ChainFacts, limits: list[ClockLimit]
) -> None:
    token = chain.world.token("timebomb_stored")
    limits.append(stored_limit(chain, token))
    until_s = deadline_of(chain, token)
    report = await judge(context, token)
    assert report.token.timebomb_status == "armed"
    (deadline,) = answer(report, facts).timebomb_deadlines
    assert (deadline.source, deadline.slot) == ("storage", limits[0].slot)
    assert (deadline.clock, deadline.value, deadline.passed) == ("timestamp", until_s, False)
    left_s = until_s - report.token.block_time_s
    waits_s = [left_s - 1, left_s, left_s + YEAR_S, left_s + YEAR_S + 1]
    assert course(report, facts, waits_s) == [
        (True, "armed"),
        (True, "unknown"),
        (True, "unknown"),
        (True, "resettable"),
    ]


async def test_a_renounced_deadline_ends_as_passed(
    chain: Chain, context: ChainContext, facts: ChainFacts, limits: list[ClockLimit]
) -> None:
    token = chain.world.token("timebomb_stored")
    limits.append(stored_limit(chain, token))
    assert chain.send(token.owner, token.address, "renounceOwnership()").success
    report = await judge(context, token)
    assert (report.token.ownership_renounced, report.token.owner_slots_vacant) == (True, True)
    left_s = deadline_of(chain, token) - report.token.block_time_s
    assert course(report, facts, [0, left_s, left_s + YEAR_S + 1]) == [
        (True, "armed"),
        (True, "unknown"),
        (False, "passed"),
    ]


async def test_somebody_in_another_owner_slot_can_still_reset(
    chain: Chain, context: ChainContext, facts: ChainFacts, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = chain.world.token("timebomb_stored")
    limit = stored_limit(chain, token)
    assert chain.send(token.owner, token.address, "renounceOwnership()").success

    async def judge_two_owners(*given: Any, **named: Any) -> DeployedCode:
        judged = await analyse_deployed_code(*given, **named)
        findings = structs.replace(judged.findings, timebomb=True)
        slots = (*judged.owner_slots, limit.slot)
        return structs.replace(judged, findings=findings, clock_limits=(limit,), owner_slots=slots)

    monkeypatch.setattr("analysis.pipeline.condition_reads.analyse_deployed_code", judge_two_owners)
    report = await judge(context, token)
    assert (report.token.ownership_renounced, report.token.owner_slots_vacant) == (True, False)
    assert course(report, facts, [3 * YEAR_S]) == [(True, "resettable")]


@pytest.mark.parametrize("key", ["timebomb_constant", "renounced"])
async def test_the_year_2100_is_out_of_reach(
    chain: Chain, context: ChainContext, facts: ChainFacts, limits: list[ClockLimit], key: str
) -> None:
    limits.append(ClockLimit(source="constant", value=4_102_444_800, compared_with="timestamp"))
    report = await judge(context, chain.world.token(key))
    features = answer(report, facts)
    assert (features.timebomb, features.timebomb_status) == (False, "unreachable")
    assert features.timebomb_deadlines == ()


async def test_blocks_on_ethereums_clock_go_by_ethereums_block_time(
    chain: Chain, context: ChainContext, facts: ChainFacts, limits: list[ClockLimit]
) -> None:
    """As on 42161 and 4663: the chain's own blocks, four a second, have no bearing."""
    shared = structs.replace(facts, clock="ethereum", block_time_s=0.25)
    context = structs.replace(context, chain=shared)
    head = chain.node.head_number()
    ahead = 101 if (head + 101) % 60 else 102
    limits.append(ClockLimit(source="constant", value=head + ahead, compared_with="block"))
    report = await judge(context, chain.world.token("honest"))
    assert report.token.clock_block == head
    (deadline,) = answer(report, shared).timebomb_deadlines
    assert (deadline.clock, deadline.passed) == ("block", False)
    assert deadline.estimated_unix_time == report.token.block_time_s + 12 * ahead
    assert course(report, shared, [12 * ahead - 1, 12 * ahead]) == [
        (True, "armed"),
        (False, "passed"),
    ]


async def test_without_clock_limits_no_clock_is_read(
    chain: Chain, context: ChainContext, limits: list[ClockLimit]
) -> None:
    report = await judge(context, chain.world.token("honest"))
    assert (report.token.clock_block, report.token.clock_time_s) == (None, None)
    assert report.token.timebomb_status == "unknown"


async def test_the_followed_head_places_what_the_report_left_open(
    chain: Chain, context: ChainContext, limits: list[ClockLimit]
) -> None:
    token = chain.world.token("timebomb_stored")
    limits.append(stored_limit(chain, token))
    report = await judge(context, token)
    until_s = deadline_of(chain, token)
    chain.node.set_time(until_s)
    head = await context.node.fetch_head()
    newest: ContractClock = clock_at(
        ClockReading(block_number=head.number, time_s=head.time_s), block_interval_s=12.0
    )
    features = render_native(report, clock=newest, liquid_above_usd=LIQUID_USD)
    assert (features.timebomb_status, features.timebomb_deadlines[0].passed) == ("unknown", True)
