"""External valuation of pools and quote tokens, fetched while the first trades are simulated.

Only the settled report waits for it, and a miss changes nothing. A V4 pool counts for twice the
external value of its priced side, because the other side's price is set by its issuer. A token that
is no anchor has a price only where a market with enough anchor liquidity stands behind it.
"""

import asyncio
from collections.abc import Mapping

import msgspec

from analysis.external.dexscreener import MOST_POOLS_A_REQUEST, PoolFigures
from analysis.market.liquidity_value import PoolValue, Price
from analysis.market.pool_ranking import ValuedPool, by_depth, rank_pools
from analysis.market.venues.pool import Candidate, PoolState
from analysis.market.venues.venue_registry import venue_of
from analysis.pipeline.chain_context import ChainContext
from analysis.pipeline.second_round import MarketState
from core.evm.primitives import Address, Hash32

LEAST_DEPTH_USD = 5_000.0
"""Anchor liquidity, in US dollars, of the market that prices a quote token. A price with less
behind it is too cheap to manipulate."""

_MOST_QUOTES = 5
"""Quote tokens whose price is fetched."""


class ExternalValuation(msgspec.Struct, frozen=True, kw_only=True):
    """Values and prices from external services."""

    figures: Mapping[Hash32, PoolFigures] = {}
    prices: Mapping[Address, Price] = {}
    """Prices of quote tokens that are no anchors."""
    own: Mapping[Address, Price] = {}
    """Price of the token itself, where it has pools against such tokens."""


async def appraise(
    context: ChainContext, state: MarketState, *, decimals: int
) -> ExternalValuation:
    """Fetch values of V4 pools, and prices of the quote tokens and of the token.

    The pools are the deepest, as many as fit in one request. `decimals` are the token's.
    """
    if context.external is None:
        return ExternalValuation()
    v4 = [pool for pool in state.pools if venue_of(pool.candidate.dex).entries]
    is_floor = {
        Hash32(pool.candidate.key): pool.state.is_floor for pool in v4[:MOST_POOLS_A_REQUEST]
    }
    own = {pool.token: decimals for pool, _ in state.unpriced}
    figures, prices, own_price = await asyncio.gather(
        context.external.market_data.pool_figures(
            context.chain,
            list(is_floor),
            totals_of=[pool_id for pool_id in is_floor if is_floor[pool_id]],
        ),
        quote_prices(context, state.quote_decimals),
        quote_prices(context, own),
    )
    return ExternalValuation(figures=figures, prices=prices, own=own_price)


async def quote_prices(
    context: ChainContext, decimals: Mapping[Address, int]
) -> dict[Address, Price]:
    """Return prices of quote tokens, those with a market of LEAST_DEPTH_USD behind them."""
    if context.external is None:
        return {}
    wanted = list(decimals)[:_MOST_QUOTES]
    prices_found = await asyncio.gather(
        *(context.external.market_data.backed_price(context.chain, quote) for quote in wanted)
    )
    return {
        quote: Price(usd=price.usd, decimals=decimals[quote], most_usd=price.depth_usd)
        for quote, price in zip(wanted, prices_found, strict=True)
        if price is not None and price.depth_usd >= LEAST_DEPTH_USD
    }


def appraised(
    state: MarketState,
    valuation: ExternalValuation,
    anchors: Mapping[Address, Price],
    *,
    decimals: int,
) -> tuple[ValuedPool, ...]:
    """Return the pools with their external values, deepest first. `decimals` are the token's.

    The token's own price counts only where the other side has none.
    """
    if not valuation.figures and not valuation.prices and not valuation.own:
        return state.pools
    pools = [_with_figures(pool, valuation.figures, anchors) for pool in state.pools]
    rest = [pair for pair in state.unpriced if pair[0].quote not in valuation.prices]
    return by_depth(
        (
            *pools,
            *rank_pools(state.unpriced, valuation.prices, decimals=decimals),
            *rank_pools(rest, valuation.own, decimals=decimals),
        )
    )


def _with_figures(
    pool: ValuedPool, figures: Mapping[Hash32, PoolFigures], prices: Mapping[Address, Price]
) -> ValuedPool:
    candidate = pool.candidate
    own = figures.get(candidate.pool_id) if candidate.pool_id is not None else None
    value = None if own is None else value_figures(pool.candidate, pool.state, own, prices)
    return pool if value is None else msgspec.structs.replace(pool, value=value)


def value_figures(
    candidate: Candidate, state: PoolState, figures: PoolFigures, prices: Mapping[Address, Price]
) -> PoolValue | None:
    """Return the pool's value by external figures. None: no credible one.

    A total that is not split into sides counts only where the positions were not added up.
    """
    amounts = {figures.base: figures.base_amount, figures.quote: figures.quote_amount}
    other = next((side for side in amounts if side and side != candidate.token), "")
    side_amount, price = amounts.get(other), prices.get(candidate.quote)
    # The native coin is listed under its own address or its wrapper's: both have one price.
    if side_amount is not None and price is not None and prices.get(Address(other)) == price:
        side_usd = side_amount * price.usd
        return PoolValue(liquidity_usd=2 * side_usd, quote_side_usd=side_usd)
    if figures.base or figures.liquidity_usd is None or not state.is_floor:
        return None
    return PoolValue(liquidity_usd=figures.liquidity_usd, quote_side_usd=figures.liquidity_usd / 2)
