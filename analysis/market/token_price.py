"""Token price in USD: four sources in a fixed order, the first that has one.

Source: the specification, "Price sources".
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, Protocol

import msgspec

from analysis.external.market_data import MarketData
from analysis.market.liquidity_value import Price
from config.facts.chain import Chain
from core.evm.primitives import Address, HexBytes, RawAmount
from core.report.report import PoolResultRow, Report
from core.report.rows import Trade

PriceSource = Literal["aggregator", "network_token_info", "pool_spot", "stablecoin_pin"]

_OLDEST_S = 86_400
"""Greatest age of a trade, against the report. The pools' own price is better than an older one."""

_LEAST_USD = 1.0
"""Least value of a trade that counts: amounts of a few units round to arbitrary prices."""

_MOST_TRADES = 50

_UNFIT = frozenset({"liquidity_too_low", "no_in_range_liquidity", "one_sided_liquidity"})
"""Error codes of pools whose price anybody can move."""


class TokenPrice(msgspec.Struct, frozen=True, kw_only=True):
    """A price and its source."""

    usd: float
    source: PriceSource
    age_s: int | None = None
    """Age of the trade. None unless the source is network_token_info."""
    service: str = ""
    """Name of the market-data service. Empty unless the source is aggregator."""
    read_at_s: int | None = None
    """Unix seconds of the request to the service. None unless the source is aggregator."""


class LastTrade(msgspec.Struct, frozen=True, kw_only=True):
    """The newest stored trade of a token whose price in USD is known."""

    usd: float
    time_s: int


class TradeHistory(Protocol):
    """Access to the stored trades."""

    async def last_trade(self, chain: Chain, report: Report) -> LastTrade | None:
        """Return the newest trade of the report's token. None: no trade of the token is stored."""
        ...


class TradeReader(Protocol):
    """A blocking read of stored trades in some pools of a token."""

    def __call__(
        self,
        *,
        chain_id: int,
        token: Address,
        pool_keys: Sequence[HexBytes],
        from_block: int,
        at_most: int,
    ) -> Sequence[Trade]:
        """Return the trades from a block on, newest first."""
        ...


class StoredTrades:
    """Trade history over a store. A stable counts as one dollar.

    The native coin counts at its price when a token of the chain was last analysed, so the price of
    an old trade moves with that of the coin it was paid in.
    """

    def __init__(
        self, read_trades: TradeReader, prices: Callable[[Chain], Mapping[Address, Price]]
    ) -> None:
        """`prices` returns a chain's anchors with the prices that are known now."""
        self._read_trades = read_trades
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
            self._read_trades,
            chain_id=chain.id,
            token=report.token.address,
            pool_keys=[HexBytes(key) for key in pools],
            from_block=report.token.block_number - chain.blocks_in(_OLDEST_S),
            at_most=_MOST_TRADES,
        )
        for trade in trades:
            quote = prices[pools[trade.pool_key].quote]
            worth_usd = quote.value_usd(RawAmount(int(trade.other)))
            if trade.base > 0 and worth_usd >= _LEAST_USD:
                tokens = trade.base / 10.0**report.token.decimals
                return LastTrade(usd=worth_usd / tokens, time_s=trade.time_s)
        return None


async def find_price(
    chain: Chain,
    report: Report,
    *,
    market_data: MarketData,
    now_s: float,
    trades: TradeHistory | None = None,
) -> TokenPrice | None:
    """Return the price of the report's token. None: no source has one, which is not a price of 0.

    `trades` None: no store of trades is available.
    """
    token = report.token.address
    usd = await market_data.token_price(chain, token)
    if usd is not None:
        return TokenPrice(
            usd=usd,
            source="aggregator",
            service=market_data.aggregator_name,
            read_at_s=int(now_s),
        )
    traded = await trades.last_trade(chain, report) if trades is not None else None
    if traded is not None:
        age_s = max(0, int(now_s) - traded.time_s)
        return TokenPrice(usd=traded.usd, source="network_token_info", age_s=age_s)
    spot = pool_spot(report)
    if spot is not None:
        return TokenPrice(usd=spot, source="pool_spot")
    if token in {stable.address for stable in chain.stables}:
        return TokenPrice(usd=1.0, source="stablecoin_pin")
    return None


def pool_spot(report: Report) -> float | None:
    """Return the spot price in the deepest pool with a simulated buy that passed. None: no such
    pool has a price."""
    bought = (pool for pool in report.pools or () if pool.buy == "passed")
    return next((pool.token_usd for pool in bought if pool.token_usd is not None), None)
