"""A pool that the index knows and no code here can read is listed without claims.

Its token is not illiquid for it, and it is not traded.
"""

import msgspec
import pytest

from analysis.pipeline.chain_context import ChainContext
from api.formats.native.native import render_native
from api.formats.summary.summary import render_summary
from config.facts.chain import Dex
from core.evm.primitives import Address, Hash32, HexBytes
from core.report.rows import PoolRow
from tests.harness.chain.contexts import context_with, judge
from tests.harness.chain.transactions import Chain
from tests.harness.external.outside_service import dexscreener_pair, running_market_data

LIQUID_USD = 100.0
MANAGER = Address("0x" + "1f" * 20)
POOL_ID = Hash32("0x" + "ab" * 32)
INFINITY = Dex(name="Infinity", kind="AmmV4", variant="infinity_2", factory=MANAGER)


def known_to_infinity(context: ChainContext) -> ChainContext:
    """The context of a chain that has such an exchange too."""
    dexes = (*context.chain.dexes, INFINITY)
    return ChainContext(
        chain=msgspec.structs.replace(context.chain, dexes=dexes),
        node=context.node,
        index=context.index,
        settings=context.settings,
        now_s=context.now_s,
    )


def row_of(token: Address, quote: Address) -> PoolRow:
    first, second = sorted((token, quote))
    return PoolRow(
        chain_id=1,
        pool_key=HexBytes(POOL_ID),
        pool=MANAGER,
        pool_id=POOL_ID,
        dex=INFINITY.name,
        kind="AmmV4",
        variant=INFINITY.variant,
        factory=MANAGER,
        token0=first,
        token1=second,
        fee=3_000,
        tick_spacing=60,
        stable=None,
        hooks=None,
        block_number=1,
        log_index=0,
    )


@pytest.mark.parametrize("has_other", [True, False])
async def test_a_pool_that_cannot_be_read_is_listed_with_nulls(
    chain: Chain, context: ChainContext, *, has_other: bool
) -> None:
    weth = chain.world.venues.wrapped_native.address
    pair = chain.world.token("honest")
    token = pair.address if has_other else chain.deploy("HonestToken", "Odd", "ODD")
    rows = [row_of(token, weth)]
    if has_other:
        v2 = chain.world.venues.v2
        rows.append(
            msgspec.structs.replace(
                rows[0],
                pool_key=pair.pool.address,
                pool=pair.pool.address,
                pool_id=None,
                dex=v2.name,
                kind=v2.kind,
                variant=None,
                factory=v2.factory,
                tick_spacing=None,
            )
        )
    report = await judge(context_with(known_to_infinity(context), rows=rows), token)
    native = render_native(report, clock=None, liquid_above_usd=LIQUID_USD)
    pool = native.dex[-1]
    assert (pool.pool_id, pool.liquidity_type) == (POOL_ID, "AmmV4")
    assert (pool.liquidity, pool.buy_success, pool.sell_success) == (None, None, None)
    assert (pool.buy_tax, pool.sell_tax) == (None, None)
    assert pool.error_code == "liquidity_unknown"
    assert pool.error_message
    assert "Infinity" in pool.error_message
    assert native.is_liquid is (True if has_other else None)
    assert native.is_in_dex is True
    summary = render_summary(
        report, native, chain="ethereum", address=token, liquid_above_usd=LIQUID_USD
    )
    assert summary.has_enough_liquidity is native.is_liquid
    assert (summary.total_liquidity_usd is None) is not has_other
    assert "no_liquidity" not in summary.verdict_reasons
    assert summary.detected_pool_count == (2 if has_other else 1)


async def test_what_others_tell_of_it_counts(chain: Chain, context: ChainContext) -> None:
    token = chain.deploy("HonestToken", "Odd", "ODD")
    weth = chain.world.venues.wrapped_native.address
    row = row_of(token, weth)
    async with running_market_data() as (service, outside):
        service.says({"pairs": [dexscreener_pair(POOL_ID, token, weth, depth=5, usd="1")]})
        market_context = context_with(known_to_infinity(context), rows=[row], outside=outside)
        report = await judge(market_context, token)
    native = render_native(report, clock=None, liquid_above_usd=LIQUID_USD)
    (pool,) = native.dex
    assert pool.liquidity == pytest.approx(2 * 5 * 3_000)
    assert (pool.buy_success, pool.sell_success) == (None, None)
    assert pool.error_code == "missing_swap_parameters"
    assert native.is_liquid is True
