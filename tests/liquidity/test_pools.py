"""Protects the worth of pools: it equals the balances of the node's contracts.

Outside data is limited, and a crowd of empty pools hides no deep one.
"""

from decimal import Decimal, getcontext
from math import isqrt
from typing import cast

import msgspec
import pytest

from analysis.pipeline.chain_context import ChainContext
from assay.demo.concentrated import POOL_KEY, fill_concentrated, pool_key
from assay.demo.layout import NATIVE_USD, Sides, ZooToken, native_worth, router_of
from assay.demo.reads import balance_of, read
from assay.demo.seeding import UNLIMITED, fetch_addresses, seed
from assay.demo.transaction_pipeline import Pipeline
from config.facts.chain import Chain as ChainFacts
from core.evm.primitives import ZERO_ADDRESS, HexBytes
from core.report.rows import PoolRow
from tests.harness.chain.contexts import context_with, judge
from tests.harness.chain.transactions import Chain
from tests.harness.external.outside_service import dexscreener_pair, running_market_data
from tests.harness.liquidity.empty_pools import crowd
from tests.harness.liquidity.pool_values import own_pool, sqrt_at, usd_of, v4_words
from tests.harness.node.faults import LogLimitedNode

getcontext().prec = 60


@pytest.mark.parametrize("key", ["honest", "v2_usdc", "v2_usdt", "solid_honest", "solid_stable"])
async def test_pairs_are_worth_their_reserves(
    chain: Chain, context: ChainContext, key: str
) -> None:
    token = chain.world.token(key)
    row = own_pool(await judge(context, token.address), token)
    balance = balance_of(chain.node, token.pool.quote, token.pool.address)
    assert row.liquidity_usd == pytest.approx(
        2 * usd_of(chain, token.pool.quote, balance), rel=0.01
    )


def quote_by_ticks(
    token: ZooToken, *, price_x96: int, liquidity: int, lower: int, upper: int
) -> Decimal:
    """The quote side of one position. Source: Uniswap V3 whitepaper, 6.29 and 6.30."""
    price = Decimal(price_x96) / 2**96
    if token.pool.quote < token.address:
        return liquidity * (1 / price - 1 / sqrt_at(upper))
    return liquidity * (price - sqrt_at(lower))


@pytest.mark.parametrize(("key", "outermost"), [("v3_usdc", 887_220), ("v3_honest", 887_220)])
async def test_v3_pools_are_worth_what_their_ticks_say(
    chain: Chain, context: ChainContext, key: str, outermost: int
) -> None:
    token = chain.world.token(key)
    row = own_pool(await judge(context, token.address), token)
    (price,) = read(chain.node, token.pool.address, "slot0()", returns="(uint160)")
    (liquidity,) = read(chain.node, token.pool.address, "liquidity()", returns="(uint128)")
    quote_amount = quote_by_ticks(
        token,
        price_x96=cast(int, price),
        liquidity=cast(int, liquidity),
        lower=-outermost,
        upper=outermost,
    )
    assert row.liquidity_usd == pytest.approx(
        2 * usd_of(chain, token.pool.quote, quote_amount), rel=1e-6
    )


@pytest.mark.parametrize("key", ["v4_honest", "v4_usdc", "v4_hook"])
async def test_v4_pools_are_worth_what_their_ticks_say(
    chain: Chain, context: ChainContext, key: str
) -> None:
    token = chain.world.token(key)
    row = own_pool(await judge(context, token.address), token)
    price, liquidity = v4_words(chain, token)
    quote_amount = quote_by_ticks(
        token, price_x96=price, liquidity=liquidity, lower=-887_220, upper=887_220
    )
    assert row.liquidity_usd == pytest.approx(
        2 * usd_of(chain, token.pool.quote, quote_amount), rel=1e-6
    )


async def test_without_logs_a_v4_pool_is_worth_what_is_surely_in_it(
    chain: Chain, context: ChainContext, facts: ChainFacts
) -> None:
    """The part of its one position that lies within the ticks around the price. Where that is not
    enough to call the pool liquid nobody calls it shallow, for it may hold more."""
    token = chain.world.token("v4_usdc")
    node = LogLimitedNode(context.node)
    rows = crowd(chain.node, facts, token, count=1)
    assert (await judge(context_with(context, rows=rows, node=node), token.address)).pools is None
    context = msgspec.structs.replace(
        context, settings=msgspec.structs.replace(context.settings, min_liquidity_usd=1.0)
    )
    row = own_pool(await judge(context_with(context, rows=rows, node=node), token.address), token)
    price, liquidity = v4_words(chain, token)
    tick = next(
        at for at in range(-887_220, 887_220, 60) if sqrt_at(at + 60) > Decimal(price) / 2**96
    )
    quote_amount = quote_by_ticks(
        token, price_x96=price, liquidity=liquidity, lower=tick, upper=tick + 60
    )
    assert row.liquidity_usd == pytest.approx(
        2 * usd_of(chain, token.pool.quote, quote_amount), rel=1e-4
    )
    assert 0 < row.liquidity_usd < 1_000


async def test_a_crowd_of_empty_pools_hides_no_deep_one(
    chain: Chain, context: ChainContext, facts: ChainFacts
) -> None:
    token = chain.world.token("v4_honest")
    alone = own_pool(await judge(context, token.address), token)
    rows = crowd(chain.node, facts, token, count=5_001)
    report = await judge(context_with(context, rows=rows), token.address)
    assert report.pools is not None
    assert len(report.pools) == 5_001
    deepest, *others = report.pools
    assert deepest.pool_id == token.pool.pool_id
    assert (deepest.buy, deepest.sell) == ("passed", "passed")
    assert deepest.liquidity_usd == pytest.approx(alone.liquidity_usd)
    assert {(one.buy, one.sell, one.error_code) for one in others} == {
        (None, None, "liquidity_too_low")
    }


async def test_a_crowd_that_only_its_creation_events_tell_of_hides_no_deep_pool(
    chain: Chain, context: ChainContext
) -> None:
    token, venues = chain.world.token("v4_honest"), chain.world.venues
    before = await judge(context, token.address)
    assert before.pools is not None
    sides = Sides(
        token=token.address,
        token_raw=1_000 * 10**18,
        quote=venues.wrapped_native.address,
        quote_raw=native_worth(20_000),
        owner=token.owner,
    )
    crowded = [msgspec.structs.replace(token.pool, fee=5_000 + at) for at in range(130)]
    price = isqrt((sides.token_raw << 192) // sides.quote_raw)
    pipeline = Pipeline(chain.node, chain.artifacts)
    for pool in crowded:
        pipeline.call(
            venues.v4.factory,
            f"initialize({POOL_KEY},uint160)",
            *(pool_key(pool, token.address), price),
            sender=token.owner,
        )
    fill_concentrated(pipeline, venues, crowded[-1], sides)
    pipeline.flush()
    report = await judge(context, token.address)
    assert report.pools is not None
    known = {pool.pool_id for pool in before.pools}
    deepest, *others = [pool for pool in report.pools if pool.pool_id not in known]
    assert deepest.liquidity_usd == pytest.approx(40_000, rel=1e-3)
    assert (deepest.buy, deepest.sell) == ("passed", "passed")
    assert [one.error_code for one in others] == ["liquidity_too_low"] * 129


# --- outside data -------------------------------------------------------------------------------


async def test_a_v4_pool_counts_for_twice_the_anchors_that_others_see(
    chain: Chain, context: ChainContext
) -> None:
    token = chain.world.token("v4_honest")
    async with running_market_data() as (service, outside):
        pair = dexscreener_pair(
            str(token.pool.pool_id), token.address, ZERO_ADDRESS, depth=7.5, usd="1"
        )
        service.says({"pairs": [pair]})
        row = own_pool(await judge(context_with(context, outside=outside), token.address), token)
    assert row.liquidity_usd == pytest.approx(2 * 7.5 * NATIVE_USD)
    assert (row.buy, row.sell) == ("passed", "passed")


@pytest.mark.parametrize("answer", [{"pairs": None}, [], {"data": "?"}])
async def test_what_others_do_not_tell_changes_nothing(
    chain: Chain, context: ChainContext, answer: object
) -> None:
    token = chain.world.token("v4_honest")
    alone = own_pool(await judge(context, token.address), token)
    async with running_market_data() as (service, outside):
        service.says(answer)
        row = own_pool(await judge(context_with(context, outside=outside), token.address), token)
        assert service.requests
    assert row.liquidity_usd == alone.liquidity_usd


async def test_a_total_without_sides_counts_where_positions_are_not_told(
    chain: Chain, context: ChainContext, facts: ChainFacts
) -> None:
    token = chain.world.token("v4_honest")
    rows = crowd(chain.node, facts, token, count=1)
    total = {"attributes": {"address": token.pool.pool_id, "reserve_in_usd": "4321.5"}}
    async with running_market_data() as (service, outside):
        service.says({"pairs": None, "data": [total]})
        blind = context_with(context, rows=rows, outside=outside, node=LogLimitedNode(context.node))
        row = own_pool(await judge(blind, token.address), token)
    assert row.liquidity_usd == 4321.5


async def test_a_total_without_sides_is_no_word_against_positions(
    chain: Chain, context: ChainContext
) -> None:
    token = chain.world.token("v4_honest")
    alone = own_pool(await judge(context, token.address), token)
    total = {"attributes": {"address": token.pool.pool_id, "reserve_in_usd": "99999999"}}
    async with running_market_data() as (service, outside):
        service.says({"pairs": None, "data": [total]})
        row = own_pool(await judge(context_with(context, outside=outside), token.address), token)
    assert row.liquidity_usd == alone.liquidity_usd


def seed_beside(chain: Chain, token: ZooToken, quote: ZooToken) -> PoolRow:
    """A pair of the token with another token of the zoo, holding 1,000 of each."""
    venues, pipeline = chain.world.venues, Pipeline(chain.node, chain.artifacts)
    router = router_of(venues.v2)
    pipeline.call(quote.address, "approve(address,uint256)", router, UNLIMITED, sender=token.owner)
    sides = Sides(
        token=token.address,
        token_raw=1_000 * 10**18,
        quote=quote.address,
        quote_raw=1_000 * 10**18,
        owner=token.owner,
    )
    pool = seed(pipeline, venues, "v2", sides)
    pipeline.flush()
    [found] = fetch_addresses(chain.node, venues, [(token.address, pool)])
    first, second = sorted((token.address, quote.address))
    return PoolRow(
        chain_id=1,
        pool_key=HexBytes(found.address),
        pool=found.address,
        pool_id=None,
        dex=venues.v2.name,
        kind="AmmV2",
        variant=None,
        factory=venues.v2.factory,
        token0=first,
        token1=second,
        fee=30,
        tick_spacing=None,
        stable=None,
        hooks=None,
        block_number=1,
        log_index=0,
    )


@pytest.mark.parametrize(
    ("depth", "usd", "expected"),
    [
        pytest.param(100.0, "2.5", 2 * 1_000 * 2.5, id="a market stands behind the price"),
        pytest.param(1.0, "2.5", None, id="the market is too shallow to be believed"),
        pytest.param(2.0, "1000000", 2 * 2 * NATIVE_USD, id="no more than the market can pay"),
        pytest.param(None, "2.5", None, id="nobody tells a price"),
    ],
)
async def test_pools_against_other_tokens_are_worth_what_a_market_backs(
    chain: Chain, context: ChainContext, depth: float | None, usd: str, expected: float | None
) -> None:
    token, quote = chain.world.token("honest"), chain.world.token("mintable")
    row = seed_beside(chain, token, quote)
    weth = chain.world.venues.wrapped_native.address
    async with running_market_data() as (service, outside):
        pair = dexscreener_pair("0x1", quote.address, weth, depth=depth or 0, usd=usd)
        service.says([] if depth is None else [pair])
        report = await judge(context_with(context, rows=[row], outside=outside), token.address)
    found = {one.pool: one for one in report.pools or ()}
    if expected is None:
        assert row.pool not in found
        return
    assert found[row.pool].liquidity_usd == pytest.approx(expected)
    assert (found[row.pool].buy, found[row.pool].sell) == (None, None)


@pytest.mark.parametrize(
    ("usd", "expected"),
    [
        pytest.param("2.5", 2 * 1_000 * 2.5, id="twice the token's side"),
        pytest.param("1000000", 2 * 100 * NATIVE_USD, id="no more than its own market can pay"),
    ],
)
async def test_a_pool_against_a_worthless_token_is_worth_the_side_that_has_a_price(
    chain: Chain, context: ChainContext, usd: str, expected: float
) -> None:
    token, quote = chain.world.token("honest"), chain.world.token("mintable")
    row = seed_beside(chain, token, quote)
    weth = chain.world.venues.wrapped_native.address
    async with running_market_data() as (service, outside):
        service.says([dexscreener_pair("0x1", token.address, weth, depth=100, usd=usd)])
        report = await judge(context_with(context, rows=[row], outside=outside), token.address)
    found = {one.pool: one for one in report.pools or ()}
    assert found[row.pool].liquidity_usd == pytest.approx(expected)
    assert found[row.pool].quote == quote.address
