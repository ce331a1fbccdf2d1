"""Protects who holds a token that was there long before us: its past, fetched from a real node."""

import asyncio
import os
import random
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path

import msgspec
import pytest

from analysis.pipeline.chain_context import ChainContext
from api.formats.native.native import render_native
from api.formats.summary.summary import render_summary
from assay.demo.anvil import AnvilNode
from assay.demo.compile import Artifacts
from assay.demo.embedded_chain import write_overlay
from assay.demo.layout import World, ZooToken, named_account
from assay.demo.trader import Call
from assay.demo.world import build_world
from assay.demo.zoo_token import Animal
from assay.service.record_report import record_report
from assay.service.refresh_policy import next_refresh
from assay.service.store_adapter import ReportStore
from config.facts.chain import Chain as ChainFacts
from config.facts.load_chains import load_chains
from config.settings import AnalysisSettings, IndexerSettings, RpcSettings
from core.evm.abi import call_data
from core.evm.primitives import Address
from core.report.report import Report
from core.rpc.client import RpcClient
from indexer.head.follower import Follower
from indexer.history.transfer_history import Histories
from sql.engine.store import Store
from tests.harness.chain.contexts import judge
from tests.harness.chain.replayed_holders import TRANSFER, ranked, replay, top_of
from tests.harness.chain.transactions import Chain, Log
from tests.harness.indexer.ingest_process import hurried_s
from tests.harness.store.store_contents import transfers_of

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[2]
SETTINGS = IndexerSettings(initial_log_range=8, max_log_range=32, late_logs_s=4)
SUPPLY = 1_000_000 * 10**18
HOLDERS = [named_account(f"early holder {number}") for number in range(90)]


@pytest.fixture(scope="module", params=[64, 10_000], ids=["no old states", "old states"])
def anvil_node(request: pytest.FixtureRequest) -> Iterator[AnvilNode]:
    with AnvilNode(states_kept=request.param) as node:
        yield node


@pytest.fixture(scope="module")
def demo_world(anvil_node: AnvilNode) -> World:
    return build_world(anvil_node)


@pytest.fixture(scope="module")
def overlay(demo_world: World, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_overlay(demo_world, tmp_path_factory.mktemp("overlay"))


@pytest.fixture
def facts(overlay: Path) -> ChainFacts:
    """Followed from the head on: all that was before is the past."""
    found = next(chain for chain in load_chains(overlay) if chain.slug == "ethereum")
    return msgspec.structs.replace(found, start_block=None)


@pytest.fixture
def chain(anvil_node: AnvilNode, demo_world: World, artifacts: Artifacts) -> Chain:
    return Chain(anvil_node, demo_world, artifacts)


@pytest.fixture
async def node_client(anvil_node: AnvilNode) -> AsyncIterator[RpcClient]:
    client = await RpcClient.connect((anvil_node.url,), anvil_node.chain_id, RpcSettings())
    yield client
    await client.aclose()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.duckdb"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    store = Store.open(path)
    yield store
    store.close()


def give(chain: Chain, token: ZooToken, receiver: Address, amount_raw: int) -> None:
    """From the owner, in the next block."""
    data = call_data("transfer(address,uint256)", receiver, amount_raw)
    chain.node.send(Call(to=token.address, data=data).sent_by(token.owner, gas=200_000))


def spread(chain: Chain) -> ZooToken:
    """A token that ninety hold, after some three hundred transfers in as many blocks."""
    animal = Animal(key="old", trait="held by many for long", symbol="OLD", pool_pct=15)
    token = chain.place(animal)
    for turn in range(3):
        for at, holder in enumerate(HOLDERS):
            give(chain, token, holder, SUPPLY // 400 + turn * 10**18 + at)
            if at % 3 == 2:
                chain.mine(3)
    chain.mine(10)
    return token


async def follow(facts: ChainFacts, client: RpcClient, store: Store) -> None:
    """Up to the head."""
    follower = Follower(facts, client, store, SETTINGS)
    await follower.load()
    async for _ in follower.advance(await client.fetch_head_header()):
        pass


async def meet(
    chain: Chain, facts: ChainFacts, client: RpcClient, store: Store
) -> tuple[ZooToken, Report]:
    """Follow, then analyse the token for the first time; in time its history is final."""
    token = spread(chain)
    await follow(facts, client, store)
    first = await judge(context_of(facts, client, store), token.address)
    record_report(store, first, next_refresh(first, AnalysisSettings()))
    for at in range(facts.finality_blocks + 2):
        give(chain, token, HOLDERS[at], 5 * 10**17)
        chain.mine()
    await follow(facts, client, store)
    return token, first


def context_of(facts: ChainFacts, client: RpcClient, store: Store) -> ChainContext:
    return ChainContext(
        chain=facts,
        node=client,
        index=ReportStore(store, AnalysisSettings()),
        settings=AnalysisSettings(),
        now_s=time.time,
    )


def is_concentrated(report: Report) -> bool | None:
    native = render_native(report, clock=None, liquid_above_usd=100.0)
    summary = render_summary(
        report, native, chain="ethereum", address=report.token.address, liquid_above_usd=100.0
    )
    (flag,) = (flag for flag in summary.flags if flag.key == "holder_concentration")
    assert flag.value is None or isinstance(flag.value, bool)
    return flag.value


def known_of(report: Report) -> object:
    (row,) = (row for row in report.evidence if row.key == "top_holders")
    return msgspec.json.decode(row.body)["transfers_known"]


def logs_of(chain: Chain, token: Address, *, since: int = 0) -> list[tuple[object, ...]]:
    """The token's transfers, as the node has them."""
    where = {"address": token, "topics": [TRANSFER], "fromBlock": hex(since), "toBlock": "latest"}
    answer = chain.node.rpc("eth_getLogs", where)
    places = msgspec.convert(answer, list[dict[str, object]])
    return [
        (
            int(str(place["blockNumber"]), 16),
            int(str(place["logIndex"]), 16),
            *("0x" + word[-40:] for word in log.topics[1:]),
            int(log.data, 16),
        )
        for place, log in zip(places, msgspec.convert(answer, list[Log]), strict=True)
    ]


def stored(store: Store, token: Address) -> list[tuple[object, ...]]:
    return [
        (row.block_number, row.log_index, row.sender, row.recipient, row.amount_raw)
        for row in transfers_of(store, token)
    ]


async def test_whoever_held_it_before_us_is_found(
    chain: Chain, facts: ChainFacts, node_client: RpcClient, store: Store
) -> None:
    token, first = await meet(chain, facts, node_client, store)
    balances = replay(chain, token.address)
    assert len(balances) > 80
    assert top_of(first) != ranked(balances), "nobody has told of them yet"
    assert (is_concentrated(first), known_of(first)) == (None, "none")
    context = context_of(facts, node_client, store)
    part = await judge(context, token.address)
    assert (is_concentrated(part), known_of(part)) == (None, "some")

    histories = Histories(facts, node_client, store, SETTINGS)
    while await histories.fetch_next():
        await move_chain(chain, token, facts, node_client, store)
    assert stored(store, token.address) == logs_of(chain, token.address)
    whole = await judge(context, token.address)
    assert top_of(whole) == ranked(replay(chain, token.address))
    for owner, amount_raw in top_of(whole):
        assert chain.balance(token.address, owner) == amount_raw
    assert (is_concentrated(whole), known_of(whole)) == (False, "all")
    listed = dict(top_of(whole))
    balances = replay(chain, token.address)
    assert whole.token.others_raw == sum(
        amount_raw for owner, amount_raw in balances.items() if owner not in listed
    )


async def move_chain(
    chain: Chain, token: ZooToken, facts: ChainFacts, client: RpcClient, store: Store
) -> None:
    """Send transfers and reorganise, right above the final block, between two turns."""
    give(chain, token, HOLDERS[7], 3 * 10**17)
    chain.mine(2)
    await follow(facts, client, store)
    chain.reorg(facts.finality_blocks - 2)
    give(chain, token, HOLDERS[8], 2 * 10**17)
    chain.mine()
    await follow(facts, client, store)


async def test_of_a_giant_the_list_stays_incomplete(
    chain: Chain, facts: ChainFacts, node_client: RpcClient, store: Store
) -> None:
    token, _ = await meet(chain, facts, node_client, store)
    bounded = msgspec.structs.replace(SETTINGS, history_logs=40)
    histories = Histories(facts, node_client, store, bounded)
    turns = 0
    while await histories.fetch_next():
        turns += 1
        assert turns < 20
    rows = stored(store, token.address)
    assert rows == logs_of(chain, token.address)[-len(rows) :]
    assert 40 < len(rows) < 40 + 32 * 3 + 20
    report = await judge(context_of(facts, node_client, store), token.address)
    assert (is_concentrated(report), known_of(report)) == (None, "some")
    assert report.token.others_raw is None
    for owner, amount_raw in top_of(report):
        assert chain.balance(token.address, owner) == amount_raw


async def test_killed_at_any_moment_it_loses_and_doubles_nothing(
    chain: Chain, facts: ChainFacts, overlay: Path, node_client: RpcClient, path: Path
) -> None:
    store = Store.open(path)
    token, _ = await meet(chain, facts, node_client, store)
    dice = random.Random(7)  # noqa: S311 - a test's dice
    reached = [len(stored(store, token.address))]
    for _ in range(3):
        store.close()
        kill_after_a_turn(dice.uniform(0, 0.1), chain.node.url, path, overlay)
        store = Store.open(path)
        rows = stored(store, token.address)
        reached.append(len(rows))
        assert rows == logs_of(chain, token.address)[-len(rows) :]
    assert reached == sorted(reached)
    assert reached[0] < reached[1] < len(logs_of(chain, token.address))
    histories = Histories(facts, node_client, store, SETTINGS, now_s=hurried_s)
    await asyncio.sleep(0.1)  # until what the last one had taken comes again
    while await histories.fetch_next():
        pass
    assert stored(store, token.address) == logs_of(chain, token.address)
    store.close()


def kill_after_a_turn(more_s: float, url: str, path: Path, overlay: Path) -> None:
    """Start a process that fetches pasts; kill it a turn, and a moment of the next one, later."""
    command = [sys.executable, "-m", "tests.harness.indexer.ingest_process"]
    with subprocess.Popen(
        [*command, url, str(path), str(overlay), "histories"],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        bufsize=0,
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdout.readline()
        with suppress(BrokenPipeError):  # there was nothing left to fetch
            child.stdin.write(b"\n")
        time.sleep(more_s)
        child.kill()
