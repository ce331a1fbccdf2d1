"""Protects powers of real tokens as they are served: summary, evidence, page and replay agree."""

import json
from typing import Any

import msgspec
import pytest

from analysis.pipeline.chain_context import ChainContext
from analysis.replay.record_pack import record_pack
from analysis.replay.replay_pack import replay_pack
from api.formats.rendering import render_report
from api.formats.token_snapshot import TokenSnapshot, take_snapshot
from api.pages.views.token_view import view_token
from assay.demo.layout import ZooToken
from core.evm.abi import selector_of
from core.evm.primitives import checksum
from core.report.report import Report
from tests.harness.chain.contexts import judge
from tests.harness.chain.transactions import Chain
from tests.harness.conditions.condition_traps import place, with_traps

PAUSE = "pause_status_can_be_modified"
SET_OPEN = selector_of("setOpen(bool)")


def snapshot_of(report: Report, context: ChainContext) -> TokenSnapshot:
    return take_snapshot(
        report,
        context.chain,
        now_s=report.token.scanned_at_s,
        liquid_above_usd=context.settings.min_liquidity_usd,
    )


def slot_value(chain: Chain, token: ZooToken, slot: str) -> int:
    return int(str(chain.node.rpc("eth_getStorageAt", token.address, slot, "latest")), 16)


def pause_of(powers: list[dict[str, Any]]) -> dict[str, Any]:
    (power,) = (each for each in powers if each["check"] == PAUSE)
    return power


@pytest.mark.parametrize("is_renounced", [False, True])
async def test_a_switch_is_served_with_its_holder_and_its_proof(
    chain: Chain, context: ChainContext, *, is_renounced: bool
) -> None:
    chain = with_traps(chain)
    token = place(chain, "PausedToken")
    if is_renounced:
        assert chain.send(token.owner, token.address, "renounceOwnership()").success
    report = await judge(context, token.address)
    snapshot = snapshot_of(report, context)
    shown = pause_of(json.loads(render_report(snapshot, "summary"))["powers"])
    holder = None if is_renounced else checksum(token.owner)
    assert (shown["what"], shown["holder"]) == ("stop", holder)
    assert shown["holder_kind"] == ("nobody" if is_renounced else "wallet")
    assert shown["is_harmful"] is not is_renounced
    assert shown["functions"] == [SET_OPEN]
    evidence = json.loads(render_report(snapshot, "evidence"))["evidence"]["powers"]
    assert evidence["is_complete"] is report.are_powers_known is True
    proof = pause_of(evidence["powers"])
    assert (proof["holder_kind"], proof["bound"]) == (shown["holder_kind"], shown["bound"])
    (function,) = proof["functions"]
    assert function["selector"] == SET_OPEN
    (switch,) = function["slots"]
    (caller,) = function["callers"]
    if not is_renounced:
        before = slot_value(chain, token, switch)
        assert chain.send(token.owner, token.address, "setOpen(bool)", False).success
        assert slot_value(chain, token, switch) != before
        assert slot_value(chain, token, caller["slot"]) >> caller["shift"] == int(token.owner, 16)
    table = view_token(snapshot, now_s=report.token.scanned_at_s).powers
    assert table is not None
    assert table.is_complete
    (line,) = (each for each in table.lines if each.what == "Pause all transfers")
    assert (line.address, line.is_harmful) == (holder, not is_renounced)


async def test_powers_in_a_pack_follow_from_its_calls(chain: Chain, context: ChainContext) -> None:
    chain = with_traps(chain)
    token = place(chain, "PausedToken")
    pack = await record_pack(context, token.address)
    replay = await replay_pack(pack, context.node, context)
    assert replay.verdict == "equal", (replay.reason, replay.differing, replay.differences)
    assert replay.derived is not None
    powers = msgspec.to_builtins(replay.derived.powers)
    assert powers == msgspec.to_builtins(pack.report.powers)
    assert pause_of(powers)["holder"] == token.owner


async def test_each_function_has_its_own_callers(chain: Chain, context: ChainContext) -> None:
    """A purchase puts its buyer on the list of this token, and its owner may put anybody there."""
    token = chain.world.token("blacklist")
    report = await judge(context, token.address)
    (row,) = (each for each in report.evidence if each.key == "powers")
    callers = {
        (function["selector"], len(function["callers"]))
        for power in json.loads(row.body)["powers"]
        for function in power["functions"]
        if power["check"] == "has_blacklist_or_whitelist"
    }
    assert callers == {
        (selector_of("transfer(address,uint256)"), 1),
        (selector_of("transferFrom(address,address,uint256)"), 0),
        (selector_of("setBot(address,bool)"), 1),
    }
