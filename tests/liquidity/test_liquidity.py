"""Protects the worth of concentrated liquidity, and the checks of liquidity holders."""

from decimal import Decimal
from typing import Literal, cast

import msgspec
import pytest

from analysis.pipeline.chain_context import ChainContext
from analysis.quotes.liquidity_inquiry import find_liquidity
from api.formats.resources.liquidity_format import liquidity_answer
from assay.demo.anvil import ETHER
from assay.demo.concentrated import POOL_KEY, pool_key
from assay.demo.layout import BURN, FOR_EVER, VenueKey, ZooToken, positions_of
from assay.demo.reads import balance_of, read
from core.evm.primitives import ZERO_ADDRESS
from tests.harness.chain.contexts import judge
from tests.harness.chain.transactions import Chain
from tests.harness.liquidity.locker_scene import give_lp, lp_balance
from tests.harness.liquidity.pool_values import (
    amounts_held,
    own_pool,
    price_of,
    quote_by_ticks,
    sqrt_at,
    usd_of,
    v4_words,
)
from tests.harness.quotes.quote_traps import place

Range = tuple[int, int]

_STEP = 600

"""A multiple of every venue's tick spacing."""

_OUTERMOST = {"v3": 887_220, "algebra": 887_220, "v4": 887_220, "pancake": 887_250} | {
    "slipstream": 887_200
}


def ranges_round(tick: int) -> tuple[Range, ...]:
    """Round the price, above it and below it."""
    at = tick // _STEP * _STEP
    return (
        (at - _STEP, at + 2 * _STEP),
        (at + 3 * _STEP, at + 5 * _STEP),
        (at - 10 * _STEP, at - 2 * _STEP),
    )


def tick_of(chain: Chain, token: ZooToken) -> int:
    price = Decimal(price_of(chain, token)) / 2**96
    return int(price.ln() * 2 / Decimal("1.0001").ln())


def change(chain: Chain, token: ZooToken, span: Range, liquidity: int) -> None:
    """The owner adds to a position of a V4 pool, or takes from it."""
    value_wei = 50 * ETHER if token.pool.quote == ZERO_ADDRESS and liquidity > 0 else 0
    chain.node.set_balance(token.owner, 1_000 * ETHER)
    sent = chain.send(
        token.owner,
        chain.world.venues.liquidity_v4,
        f"modifyLiquidity({POOL_KEY},(int24,int24,int256,bytes32),bytes)",
        *(pool_key(token.pool, token.address), (*span, liquidity, bytes(32)), b""),
        value_wei=value_wei,
    )
    assert sent.success


def mint(chain: Chain, token: ZooToken, span: Range, liquidity: int) -> None:
    """The owner opens a position in a pool of the V3 family."""
    venues, pool = chain.world.venues, token.pool
    root = Decimal(price_of(chain, token)) / 2**96
    most = [int(one) + 1 for one in amounts_held(root, {span[0]: liquidity, span[1]: 0})]
    is_algebra = pool.venue == "algebra"
    key_type, key = ("address", ZERO_ADDRESS) if is_algebra else ("uint24", pool.fee)
    chain.node.set_balance(token.owner, 1_000 * ETHER)
    sent = chain.send(
        token.owner,
        positions_of(venues.dex_of(pool.venue)),
        f"mint((address,address,{key_type},int24,int24,"
        "uint256,uint256,uint256,uint256,address,uint256))",
        (*sorted((token.address, pool.quote)), key, *span, *most, 0, 0, token.owner, FOR_EVER),
        value_wei=50 * ETHER if pool.quote == venues.wrapped_native.address else 0,
    )
    assert sent.success


def provide(chain: Chain, token: ZooToken) -> None:
    """Give the owner the positions' tokens."""
    deployer = chain.world.deployer
    if token.pool.quote in {stable.address for stable in chain.world.venues.stables}:
        given = (token.pool.quote, "transfer(address,uint256)", token.owner, 10**6 * 10**6)
        assert chain.send(deployer, *given).success
    for holder in token.holders:
        amount_raw = chain.balance(token.address, holder)
        assert chain.transfer(token.address, holder, token.owner, amount_raw).success


async def worth(chain: Chain, context: ChainContext, token: ZooToken) -> float:
    return own_pool(await judge(context, token.address), token).liquidity_usd


def liquidity_of(chain: Chain, token: ZooToken) -> int:
    """In range."""
    if token.pool.venue == "v4":
        return v4_words(chain, token)[1]
    (liquidity,) = read(chain.node, token.pool.address, "liquidity()", returns="(uint128)")
    return cast(int, liquidity)


@pytest.mark.parametrize("key", ["v4_honest", "v4_usdc"])
async def test_v4_pools_of_many_positions(chain: Chain, context: ChainContext, key: str) -> None:
    token = chain.world.token(key)
    provide(chain, token)
    outermost = _OUTERMOST["v4"]
    spans = ranges_round(tick_of(chain, token))
    ticks = [-outermost, outermost, *(tick for span in spans for tick in span)]
    alone, liquidity = await worth(chain, context, token), liquidity_of(chain, token) // 10
    for span in spans:
        change(chain, token, span, liquidity)

    async def check() -> float:
        worth_usd = await worth(chain, context, token)
        expected = 2 * usd_of(chain, token.pool.quote, quote_by_ticks(chain, token, ticks))
        assert worth_usd == pytest.approx(expected, rel=1e-6)
        return worth_usd

    assert await check() > alone * 1.001
    trader = chain.fresh_account()
    assert chain.buy(token, trader, chain.quote_worth(token, 3_000)).success
    assert await check() > alone * 1.001
    for span in spans:
        change(chain, token, span, -liquidity)
    assert await check() < alone * 1.5


@pytest.mark.parametrize("key", ["v3_honest", "v3_usdc", "algebra_honest"])
async def test_pools_of_the_v3_family_with_many_positions(
    chain: Chain, context: ChainContext, key: str
) -> None:
    """Equal to their ticks, plus uncollected fees of trades."""
    token = chain.world.token(key)
    provide(chain, token)
    outermost = _OUTERMOST[token.pool.venue]
    spans = ranges_round(tick_of(chain, token))
    ticks = [-outermost, outermost, *(tick for span in spans for tick in span)]
    alone, liquidity = await worth(chain, context, token), liquidity_of(chain, token) // 10
    for span in spans:
        mint(chain, token, span, liquidity)

    def by_ticks() -> float:
        return 2 * usd_of(chain, token.pool.quote, quote_by_ticks(chain, token, ticks))

    worth_usd = await worth(chain, context, token)
    assert worth_usd == pytest.approx(by_ticks(), rel=1e-6)
    assert worth_usd > alone * 1.001
    assert chain.buy(token, chain.fresh_account(), chain.quote_worth(token, 3_000)).success
    traded = await worth(chain, context, token)
    assert by_ticks() <= traded <= by_ticks() + 2 * 3_000 * 0.01


@pytest.mark.parametrize(
    "key", ["v3_honest", "pancake_honest", "algebra_honest", "slipstream_honest", "v4_honest"]
)
async def test_every_venue_of_concentrated_liquidity(
    chain: Chain, context: ChainContext, key: str
) -> None:
    token = chain.world.token(key)
    outermost = _OUTERMOST[token.pool.venue]
    expected = quote_by_ticks(chain, token, (-outermost, outermost))
    assert await worth(chain, context, token) == pytest.approx(
        2 * usd_of(chain, token.pool.quote, expected), rel=1e-6
    )


@pytest.mark.parametrize("key", ["honest", "v2_usdc", "v2_usdt", "solid_honest", "solid_stable"])
async def test_pairs_after_trades(chain: Chain, context: ChainContext, key: str) -> None:
    token, trader = chain.world.token(key), chain.fresh_account()
    before = await worth(chain, context, token)
    assert chain.buy(token, trader, chain.quote_worth(token, 2_000)).success
    reserves = read(chain.node, token.pool.address, "getReserves()", returns="(uint112,uint112)")
    kept = reserves[0 if token.pool.quote < token.address else 1]
    assert kept == balance_of(chain.node, token.pool.quote, token.pool.address)
    worth_usd = await worth(chain, context, token)
    assert worth_usd == pytest.approx(2 * usd_of(chain, token.pool.quote, kept), rel=0.01)
    assert worth_usd > before


def test_the_check_itself_knows_where_liquidity_lies() -> None:
    """One unit of price 1 in a symmetric range holds the same of both; outside it only one."""
    inside = amounts_held(Decimal(1), {-600: 10**18, 600: -(10**18)})
    assert inside[0] == pytest.approx(inside[1])
    below = amounts_held(sqrt_at(-1200), {-600: 10**18, 600: -(10**18)})
    assert below[1] == 0
    assert below[0] > 0


# --- liquidity flags ----------------------------------------------------------------------------

Held = Literal["by its maker", "burnt", "by a contract"]

ALL, NONE = (True, True, False, True), (False, False, False, False)


@pytest.mark.parametrize(
    ("venue", "placement", "expected"),
    [
        ("v2", "by its maker", ALL),
        ("v3", "by its maker", ALL),
        ("v2", "burnt", NONE),
        ("v2", "by a contract", (None, None, None, None)),
    ],
)
async def test_checks_follow_from_where_the_liquidity_was_sent(
    chain: Chain,
    context: ChainContext,
    venue: VenueKey,
    placement: Held,
    expected: tuple[bool | None, ...],
) -> None:
    token = place(chain, venue=venue)
    wrapped = chain.world.venues.wrapped_native.address
    to = {"burnt": BURN, "by a contract": wrapped, "by its maker": None}[placement]
    if to is not None:
        give_lp(chain, token, to, lp_balance(chain, token))
    report = await judge(context, token.address)
    made = msgspec.structs.replace(report.token, creator_address=token.owner)
    report = msgspec.structs.replace(report, token=made)
    found = await find_liquidity(context, token.address, report)
    answer = liquidity_answer(found, context.chain, report.token)
    flags = {flag.key: flag.value for flag in answer.flags}
    assert (
        flags["liquidity_held_by_one"],
        flags["issuer_can_withdraw_liquidity"],
        flags["liquidity_unlocks_soon"],
        flags["sale_fails_after_withdrawal"],
    ) == expected
    shares = {
        "by its maker": answer.withdrawable_share,
        "burnt": answer.protected_share,
        "by a contract": answer.unknown_share,
    }
    assert shares.pop(placement) == pytest.approx(1)
    assert list(shares.values()) == [pytest.approx(0, abs=1e-9)] * 2
