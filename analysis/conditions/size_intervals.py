"""Sizes of trades to simulate: one in each interval between the boundaries of conditions. Pure.

Sizes are in smallest units of the token, as the pool moves them. Trades of the usual sizes are
simulated in any case, so an interval with one of those needs no further size.
"""

from collections.abc import Iterable
from itertools import pairwise
from math import isqrt
from typing import Final

import msgspec

from core.evm.primitives import RawAmount

_USUAL_SHARES: Final = (2_300, 110, 23)
"""Divisors of the reserve: sizes that are bought and sold in any case, by `scenarios.buy`."""

_SMALLEST_SHARE: Final = 23_000
_LARGEST_SHARE: Final = 20
_MOST_SIZES: Final = 6
_NEAR: Final = (85, 102)
"""Percent of a usual size that lie within an interval with it: a tax on the buy makes the sale
smaller."""


class TradeSizes(msgspec.Struct, frozen=True, kw_only=True):
    """Sizes to simulate."""

    sizes: tuple[RawAmount, ...]
    is_complete: bool
    """False: there are more intervals than are simulated."""


def size_span(pool_balance_raw: RawAmount) -> tuple[int, int]:
    """Return the smallest and largest size for which boundaries are looked for: up to 5 percent of
    what the pool holds."""
    return pool_balance_raw // _SMALLEST_SHARE + 1, pool_balance_raw // _LARGEST_SHARE


def trade_sizes(boundaries: Iterable[int], pool_balance_raw: RawAmount) -> TradeSizes:
    """Return one size for each interval without a usual one. `boundaries`: the first size of each
    interval."""
    low, high = size_span(pool_balance_raw)
    if low >= high:
        return TradeSizes(sizes=(), is_complete=True)
    inner = sorted({cut for cut in boundaries if low < cut <= high})
    usual = [pool_balance_raw // (share + 1) for share in _USUAL_SHARES]
    found = [
        RawAmount(max(start, min(end - 1, isqrt(start * end))))
        for start, end in pairwise((low, *inner, high + 1))
        if not any(_is_within(size, start, end) for size in usual)
    ]
    shown = found[:_MOST_SIZES]
    return TradeSizes(sizes=tuple(shown), is_complete=len(shown) == len(found))


def _is_within(size: int, start: int, end: int) -> bool:
    least, most = (size * percent // 100 for percent in _NEAR)
    return start <= least and most < end
