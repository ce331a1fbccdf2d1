"""Token price in USD: four sources in a fixed order, the first that has one.

Source: the specification, "Price sources".
"""

from typing import Literal, Protocol

import msgspec

from analysis.external.market_data import MarketData
from config.chains import Chain
from core.report.report import Report

PriceSource = Literal["aggregator", "network_token_info", "pool_spot", "stablecoin_pin"]


class TokenPrice(msgspec.Struct, frozen=True, kw_only=True):
    """A price and its source."""

    usd: float
    source: PriceSource
    age_s: int | None = None
    """Age of the trade. None unless the source is network_token_info."""
    service: str = ""
    """Name of the market-data service. Empty unless the source is aggregator."""
    read_at_s: int | None = None
    """Unix seconds at which the service was asked. None unless the source is aggregator."""


class LastTrade(msgspec.Struct, frozen=True, kw_only=True):
    """The newest stored trade of a token whose price in USD is known."""

    usd: float
    time_s: int


class TradeHistory(Protocol):
    """Access to the stored trades."""

    async def last_trade(self, chain: Chain, report: Report) -> LastTrade | None:
        """Return the newest trade of the report's token. None: no trade of the token is stored."""
        ...


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
