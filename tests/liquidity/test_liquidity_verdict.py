"""Protects the verdict on withdrawable liquidity.

A young pool whose maker can withdraw, from one account or many, is never `safe`; burnt and locked
liquidity is.
"""

from typing import Literal

import msgspec
import pytest

from analysis.pipeline.chain_context import ChainContext
from assay.demo.layout import BURN, VenueKey, ZooToken
from core.evm.primitives import Address
from core.report.rows import PoolRow
from tests.harness.chain.contexts import context_with, judge
from tests.harness.chain.transactions import Chain
from tests.harness.liquidity.locker_scene import (
    YEAR_S,
    Asked,
    asking_for,
    bring,
    chain,
    few_first_blocks,
    few_newest,
    give_lp,
    lock,
    lp_balance,
    now_s,
    pool_rows,
    verdict,
    with_locker,
)
from tests.harness.node.faults import LogLimitedNode
from tests.harness.quotes.quote_traps import place

__all__ = ["chain", "few_first_blocks", "few_newest"]

Placed = Literal["kept", "spread", "burnt", "locked", "locked for a week"]
WEEK_S = 7 * 86_400


@pytest.fixture
def asking(context: ChainContext) -> ChainContext:
    """Deployment that searches the holders of every pool."""
    return asking_for(context, "always")


def put(chain: Chain, context: ChainContext, token: ZooToken, placed: Placed) -> ChainContext:
    """Move the LP tokens from their maker; return a context that knows the locker."""
    lp_tokens = lp_balance(chain, token)
    if placed == "spread":
        for number in range(1, 10):
            give_lp(chain, token, Address(f"0x{0xACC0 + number:040x}"), lp_tokens // 10)
    elif placed == "burnt":
        give_lp(chain, token, BURN, lp_tokens)
    elif placed != "kept":
        until_s = now_s(chain) + (YEAR_S if placed == "locked" else WEEK_S)
        return with_locker(context, lock(chain, token, "DatedLocker", lp_tokens, until_s))
    return context


@pytest.mark.parametrize(
    ("placed", "reasons"),
    [
        ("kept", ("warning_flags", "liquidity_can_leave")),
        ("spread", ("warning_flags", "liquidity_can_leave")),
        ("locked for a week", ("warning_flags", "liquidity_can_leave")),
        ("burnt", ()),
        ("locked", ()),
    ],
)
async def test_what_its_maker_can_take_is_not_safe(
    chain: Chain, asking: ChainContext, placed: Placed, reasons: tuple[str, ...]
) -> None:
    token = place(chain)
    verdict_given = await verdict(put(chain, asking, token, placed), token.address)
    assert verdict_given.verdict_reasons == reasons
    assert verdict_given.verdict == ("warning" if reasons else "safe")


@pytest.mark.parametrize("venue", ["v3", "v4"])
async def test_positions_are_looked_into_too(
    chain: Chain, asking: ChainContext, venue: VenueKey
) -> None:
    verdict_given = await verdict(asking, place(chain, venue=venue).address)
    assert verdict_given.verdict == "warning"
    assert verdict_given.verdict_reasons[-1] in ("liquidity_can_leave", "unanswered_danger_checks")


async def risk(context: ChainContext, token: Address) -> str | None:
    return (await judge(context, token)).scan.liquidity_risk


@pytest.mark.parametrize(
    ("holder_setting", "expected_verdict"),
    [("never", None), ("young", "withdrawable"), ("always", "withdrawable")],
)
async def test_a_young_pool_is_asked_about_unless_the_deployment_never_does(
    chain: Chain, context: ChainContext, holder_setting: Asked, expected_verdict: str | None
) -> None:
    token = place(chain).address
    summary = await verdict(asking_for(context, holder_setting), token)
    assert (summary.verdict == "safe") is (expected_verdict is None)
    assert ("liquidity_can_leave" in {flag.key for flag in summary.flags}) is (
        expected_verdict is not None
    )
    assert await risk(asking_for(context, holder_setting), token) == expected_verdict


def with_long_blocks(context: ChainContext, *, pools: tuple[PoolRow, ...] | None) -> ChainContext:
    """Return a context with blocks of a day. `pools` None: the index has none."""
    facts = msgspec.structs.replace(context.chain, block_time_s=86_400.0)
    slow = msgspec.structs.replace(context, chain=facts)
    return slow if pools is None else context_with(slow, rows=pools)


@pytest.mark.parametrize(
    ("holder_setting", "expected_verdict"), [("young", "unknown_old"), ("always", "withdrawable")]
)
@pytest.mark.parametrize("is_indexed", [True, False])
async def test_an_old_pool_is_asked_about_where_the_deployment_always_does(
    chain: Chain,
    context: ChainContext,
    holder_setting: Asked,
    expected_verdict: str | None,
    *,
    is_indexed: bool,
) -> None:
    """Its age is in the index, or an event that is as old shows it."""
    token = place(chain)
    rows = pool_rows(chain, token)
    chain.mine(31)
    slow = with_long_blocks(context, pools=rows if is_indexed else None)
    assert await risk(asking_for(slow, holder_setting), token.address) == expected_verdict


@pytest.mark.parametrize("is_indexed", [True, False])
async def test_a_pool_is_young_up_to_its_thirtieth_day(
    chain: Chain, context: ChainContext, *, is_indexed: bool
) -> None:
    chain.mine(40)
    token = place(chain)
    rows = pool_rows(chain, token)
    made_at = rows[0].block_number
    chain.mine(made_at + 29 - chain.node.head_number())
    slow = with_long_blocks(context, pools=rows if is_indexed else None)
    assert await risk(asking_for(slow, "young"), token.address) == "withdrawable"


@pytest.mark.usefixtures("few_first_blocks")
@pytest.mark.parametrize(
    ("venue", "is_burnt", "expected_verdict"),
    [
        ("v2", True, "held"),
        ("v2", False, "withdrawable"),
        ("v3", True, "held"),
        ("v3", False, "withdrawable"),
        ("algebra", True, "held"),
    ],
)
async def test_a_node_that_searches_few_blocks_shows_what_came_first(
    chain: Chain, context: ChainContext, venue: VenueKey, expected_verdict: str, *, is_burnt: bool
) -> None:
    key = {"v2": "honest", "v3": "v3_honest", "algebra": "algebra_honest"}[venue]
    token = chain.world.token(key) if is_burnt else place(chain, venue=venue)
    rows = pool_rows(chain, token)
    chain.mine(60)
    known = context_with(context, rows=rows, node=LogLimitedNode(context.node, most_blocks=40))
    assert await risk(asking_for(known, "young"), token.address) == expected_verdict


@pytest.mark.usefixtures("few_first_blocks", "few_newest")
async def test_liquidity_that_came_later_is_not_held_for_what_came_first(
    chain: Chain, context: ChainContext
) -> None:
    """The trap: burn a little first, and bring the most when nodes no longer look."""
    token = chain.world.token("v3_honest")
    rows = pool_rows(chain, token)
    chain.mine(60)
    bring(chain, token, 9)
    known = context_with(context, rows=rows, node=LogLimitedNode(context.node, most_blocks=40))
    assert await risk(asking_for(known, "young"), token.address) == "unknown"
    seeing = context_with(context, rows=rows)
    assert await risk(asking_for(seeing, "young"), token.address) == "withdrawable"
