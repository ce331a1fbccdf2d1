"""Protects the verdict on withdrawable liquidity, and its risk."""

from typing import Literal

import msgspec
import pytest

from analysis.liquidity.liquidity_shares import (
    LiquidityShares,
    LockedShare,
    TokenParties,
    Withdrawer,
)
from analysis.liquidity.withdrawal_risk import (
    LiquidityRisk,
    PoolAge,
    WeighedPool,
    combine_risk,
    usd_of_others,
)
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


# --- withdrawal risk ----------------------------------------------------------------------------

NOW_S = 1_800_000_000

LOCKER = Address("0x" + "10" * 20)


def account(number: int) -> Address:
    return Address(f"0x{number:040x}")


def free(*shares: float) -> LiquidityShares:
    """Held by as many accounts; the rest is burnt."""
    return LiquidityShares(
        burnt_share=1 - sum(shares),
        withdrawable_share=sum(shares),
        withdrawers=tuple(
            Withdrawer(account=account(at + 1), share=share) for at, share in enumerate(shares)
        ),
    )


def locked(days: float) -> LiquidityShares:
    lock = LockedShare(
        share=1.0, until_s=NOW_S + int(days * 86_400), locker=LOCKER, owner=account(1)
    )
    return LiquidityShares(locked_share=1.0, locks=(lock,))


def unsure(share: float) -> LiquidityShares:
    return LiquidityShares(burnt_share=1 - share, unknown_share=share)


def pool(
    ownership: LiquidityShares | None,
    *,
    usd: float = 1_000.0,
    age: PoolAge = "young",
) -> WeighedPool:
    return WeighedPool(liquidity_usd=usd, age=age, ownership=ownership)


def unread(usd: float) -> WeighedPool:
    """A pool that is too old for its holders to be read."""
    return pool(None, usd=usd, age="old")


@pytest.mark.parametrize(
    ("pools", "risk"),
    [
        ([pool(free(1.0))], "withdrawable"),
        # The trap: spread over accounts, none of which has half.
        ([pool(free(*[0.1] * 10))], "withdrawable"),
        ([pool(free(*[0.1] * 10), age="unknown")], "withdrawable"),
        # Its double: a pool that people came into.
        ([pool(free(*[0.1] * 10), age="old")], "held"),
        ([pool(free(0.6, 0.4), age="old")], "withdrawable"),
        ([pool(free(0.4))], "held"),
        ([pool(free())], "held"),
        # A lock that ends tomorrow locks nothing.
        ([pool(locked(1))], "withdrawable"),
        ([pool(locked(31))], "held"),
        ([pool(unsure(0.6))], "unknown"),
        ([pool(unsure(0.4))], "held"),
        ([pool(None)], "unknown"),
        ([], "unknown"),
        # Two pools weigh what they are worth.
        ([pool(free(), usd=900), pool(free(1.0), usd=100)], "held"),
        ([pool(free(), usd=100), pool(free(1.0), usd=900)], "withdrawable"),
        ([pool(free(), usd=100), pool(None, usd=900)], "unknown"),
        # Old pools: their unknown holders count apart.
        ([unread(1_000)], "unknown_old"),
        ([pool(unsure(0.6), age="old")], "unknown_old"),
        ([pool(unsure(0.4), age="old")], "held"),
        ([unread(600), pool(free(1.0), usd=400)], "unknown_old"),
        ([unread(400), pool(free(1.0), usd=600)], "withdrawable"),
        ([unread(400), pool(unsure(1.0), usd=600)], "unknown"),
        ([unread(400), pool(unsure(1.0), usd=600, age="unknown")], "unknown"),
        ([unread(400), pool(free(), usd=600)], "held"),
        ([unread(450), pool(unsure(0.2), usd=550)], "unknown_old"),
        # One holder in two older pools; two holders in two.
        ([pool(free(0.5), age="old"), pool(free(0.6), age="old")], "withdrawable"),
        ([pool(free(0.4), age="old"), pool(free(0.1, 0.7), age="old")], "held"),
    ],
)
def test_what_can_leave(pools: list[WeighedPool], risk: LiquidityRisk) -> None:
    assert combine_risk(pools, now_s=NOW_S) == risk


CREATOR, OWNER = account(1), account(2)


@pytest.mark.parametrize(
    ("pools", "usd"),
    [
        ([], None),
        ([pool(None)], None),
        ([pool(free())], 1_000.0),
        ([pool(free(0.4))], 600.0),
        ([pool(free(0.4, 0.1))], 500.0),
        ([pool(free(0.1, 0.1, 0.3))], 500.0),
        ([pool(free(0.1, 0.1, 0.3, 0.2))], 500.0),
        ([pool(free(0, 0, 0.3, 0.3)), pool(free(0, 0, 0, 0.2))], 1_500.0),
        ([pool(locked(31))], 1_000.0),
        ([pool(locked(29))], 0.0),
        ([pool(unsure(0.7))], 300.0),
        ([pool(free(0.4)), pool(None)], 600.0),
    ],
    ids=[
        "no pool",
        "not read",
        "burnt",
        "the creator's",
        "creator's and owner's",
        "and the largest other",
        "and a smaller other",
        "the largest over all pools",
        "locked for long",
        "locked for weeks",
        "unknown",
        "one not read",
    ],
)
def test_liquidity_of_others_is_what_the_tokens_people_cannot_take(
    pools: list[WeighedPool], usd: float | None
) -> None:
    found = usd_of_others(pools, TokenParties(creator=CREATOR, owner=OWNER), now_s=NOW_S)
    assert found == (None if usd is None else pytest.approx(usd))
