"""Token price from the last stored trade.

A stable counts as one dollar; the native coin at its price when a token of the chain was last
analysed, so the price of an old trade moves with that of the coin it was paid in.
"""

import asyncio
from collections.abc import Callable, Mapping

from analysis.market.liquidity_value import Price
from analysis.market.token_price import LastTrade
from config.chains import Chain
from core.evm.primitives import Address, HexBytes, RawAmount
from core.report.report import PoolResultRow, Report
from sql.chain.trade_tables import newest_trades
from sql.engine.store import Store

_OLDEST_S = 86_400
"""Trades are read this far behind the report; older ones are worse than the pools' own price."""

_LEAST_USD = 1.0
"""Least value of a trade that counts: amounts of a few units round to arbitrary prices."""

_LOOKED_AT = 50


class StoredTrades:
    """analysis.market.token_price.Trades over the store."""

    def __init__(self, store: Store, prices: Callable[[Chain], Mapping[Address, Price]]) -> None:
        """Read from `store`. `prices` returns a chain's anchors with the prices that are known
        now."""
        self._store = store
        self._prices = prices

    async def last_trade(self, chain: Chain, report: Report) -> LastTrade | None:
        """Return the newest trade in a pool of the report that holds enough to trade. None: no
        trade of the last day."""
        prices = self._prices(chain)
        pools: dict[str, PoolResultRow] = {
            pool.pool_id or pool.pool: pool
            for pool in report.pools or ()
            if pool.quote in prices and pool.error_code not in _UNFIT
        }
        if not pools:
            return None
        trades = await asyncio.to_thread(
            newest_trades,
            self._store,
            chain_id=chain.id,
            token=report.token.address,
            pool_keys=[HexBytes(key) for key in pools],
            from_block=report.token.block_number - chain.blocks_in(_OLDEST_S),
            at_most=_LOOKED_AT,
        )
        for trade in trades:
            worth_usd = _worth(pools[trade.pool_key], trade.other, prices)
            if trade.base > 0 and worth_usd >= _LEAST_USD:
                tokens = trade.base / 10.0**report.token.decimals
                return LastTrade(usd=worth_usd / tokens, time_s=trade.time_s)
        return None


_UNFIT = frozenset({"liquidity_too_low", "no_in_range_liquidity", "one_sided_liquidity"})
"""Error codes of pools whose price anybody can move."""


def _worth(pool: PoolResultRow, raw: float, prices: Mapping[Address, Price]) -> float:
    return prices[pool.quote].value_usd(RawAmount(int(raw)))
