"""Holdings of a pool whose liquidity lies in bins of one price each. Pure.

A bin's liquidity is divided into shares, and shares are held by bin: they are redeemed for that
part of both of the bin's reserves. Source: joe-v2 LBPair, infinity-core BinPool.
"""

from collections.abc import Mapping, Sequence
from math import inf
from typing import Final

import msgspec

from analysis.liquidity.holdings import Part, PoolHoldings, gather
from analysis.market.venues.pool import PoolState
from core.evm.primitives import Address

ShareKey = tuple[Address, int]
"""Holder, and number of the bin."""

_WHOLE: Final = 1 - 1e-9
"""Share of the liquidity from which all of it counts as found: a bin keeps a thousand shares."""


class BinReserves(msgspec.Struct, frozen=True, kw_only=True):
    """One bin."""

    x: int
    """Smallest units of the pool's first token."""
    y: int
    shares: int
    """Total number of shares."""


class BinValue(msgspec.Struct, frozen=True, kw_only=True):
    """Valuation of the bins of one pool."""

    price: float
    """Quote per token, in smallest units."""
    reserves: float
    """Value of the pool's reserves; a lower bound where they are one."""

    def of(self, x: int, y: int, *, token_is_x: bool) -> float:
        """Return the value of two amounts in smallest units of the quote token."""
        token, quote = (x, y) if token_is_x else (y, x)
        return quote + token * self.price


def bin_value_of(state: PoolState) -> BinValue | None:
    """Return the valuation of the pool's bins. None: its price is not known."""
    if not state.price or state.price == inf:
        return None
    reserves = state.quote_reserve_raw + state.token_reserve_raw * state.price
    return BinValue(price=state.price, reserves=reserves)


def gather_bins(
    bins: Mapping[int, BinReserves],
    parts: Sequence[tuple[Address, Part]],
    value: BinValue,
    *,
    token_is_x: bool,
    gap: str = "",
    pool_key: bytes = b"",
) -> PoolHoldings:
    """Return the holdings of parts of these bins.

    `gap`: reason why some may be missing. `pool_key`: see LiquidityHolding.
    """
    worth = {at: value.of(one.x, one.y, token_is_x=token_is_x) for at, one in bins.items()}
    owned = [
        (holder, worth[at] * part.amount / bins[at].shares, part)
        for holder, part in parts
        if (at := part.bin_id) is not None and at in bins and bins[at].shares
    ]
    total = max(value.reserves, sum(worth.values()))
    if sum(weight for _, weight, _ in owned) >= total * _WHOLE:
        total, gap = sum(weight for _, weight, _ in owned), ""
    else:
        gap = gap or "not every holder is known"
    return gather(owned, total=total, gap=gap, pool_key=pool_key)
