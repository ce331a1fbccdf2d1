"""Price and volume of a token from stored trades, as a chart. Pure."""

from collections.abc import Sequence
from typing import Final

import msgspec

from api.formats.amounts import number_text
from api.formats.prose.rendered_report import RenderedReport
from api.formats.times import duration_words
from api.pages.views.pool_view import decimals_by_quote, quote_symbol
from config.facts.chain import Chain
from core.report.rows import Trade

_POINTS: Final = 48
"""Points of the line: each is the mean of the trades in its part of the time."""

WIDTH: Final = 600
HEIGHT: Final = 140
_VOLUME: Final = 32
"""Height of the highest bar of volume."""
_EDGE: Final = 6


class TokenMarket(msgspec.Struct, frozen=True, kw_only=True):
    """Trades and holders of a token in the index."""

    trades: tuple[Trade, ...] = ()
    """Newest first, in the deepest pool."""
    holder_count: int | None = None
    """Accounts with a balance. None: not every transfer is stored."""


class MarketChart(msgspec.Struct, frozen=True, kw_only=True):
    """A line of prices and bars of volume over the same time."""

    title: str
    line: str
    """Points of an SVG line in a box of WIDTH by HEIGHT."""
    volumes: tuple[tuple[float, float], ...]
    """Left edge and height of each bar of volume, in the same box."""
    bar_width: float
    low: str
    """Lowest price, with its coin."""
    high: str
    last: str
    span: str
    """Time that the chart covers, in words."""


class _Part(msgspec.Struct):
    at: int
    base: float = 0.0
    other: float = 0.0


def chart_of(market: TokenMarket, rendered: RenderedReport, chain: Chain) -> MarketChart | None:
    """Build the chart of the deepest pool. None: its trades cover no time, or its other side is no
    anchor."""
    pools = rendered.report.pools or ()
    decimals = decimals_by_quote(chain).get(pools[0].quote) if pools else None
    trades = [trade for trade in reversed(market.trades) if trade.base > 0 and trade.other > 0]
    if decimals is None or not trades or trades[0].time_s == trades[-1].time_s:
        return None
    unit = 10.0 ** (rendered.report.token.decimals - decimals)
    parts, symbol = _parts(trades), quote_symbol(pools[0].quote, chain)
    prices = [unit * part.other / part.base for part in parts]
    most = max(part.other for part in parts)
    step = WIDTH / _POINTS
    volume = sum(trade.other for trade in trades) / 10.0**decimals
    return MarketChart(
        title=f"{len(trades)} trades in its largest pool, worth {_figure(volume)} {symbol}",
        line=" ".join(
            f"{(part.at + 0.5) * step:.1f},{_height(price, prices):.1f}"
            for part, price in zip(parts, prices, strict=True)
        ),
        volumes=tuple((part.at * step, _VOLUME * part.other / most) for part in parts),
        bar_width=step * 0.8,
        low=f"{_figure(min(prices))} {symbol}",
        high=f"{_figure(max(prices))} {symbol}",
        last=f"{_figure(prices[-1])} {symbol}",
        span=duration_words(trades[-1].time_s - trades[0].time_s),
    )


def _parts(trades: Sequence[Trade]) -> list[_Part]:
    """Add the trades up by part of the time, oldest first; parts without trades are left out."""
    first, span = trades[0].time_s, trades[-1].time_s - trades[0].time_s
    found: dict[int, _Part] = {}
    for trade in trades:
        at = min(_POINTS - 1, (trade.time_s - first) * _POINTS // span)
        part = found.setdefault(at, _Part(at=at))
        part.base += trade.base
        part.other += trade.other
    return [found[at] for at in sorted(found)]


def _height(price: float, prices: Sequence[float]) -> float:
    """Return the place of a price from the top, above the bars of volume."""
    low, high = min(prices), max(prices)
    share = 0.5 if high <= low else (price - low) / (high - low)
    return _EDGE + (1 - share) * (HEIGHT - _VOLUME - 2 * _EDGE)


def _figure(amount: float) -> str:
    return number_text(float(f"{amount:.4g}"))
