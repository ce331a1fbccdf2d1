"""Value of liquidity between two ticks at a pool's price. Pure."""

from math import inf, isclose, log, sqrt

import msgspec

from analysis.market.venues.pool import Candidate, PoolState
from analysis.market.venues.state.uniswap_v4_state import Position, held_amounts

_TICK_BASE = 1.0001
_NEAR = 1e-9
"""Part by which sums of liquidity may differ: they are whole numbers turned into floats."""


class Valuation(msgspec.Struct, frozen=True, kw_only=True):
    """Valuation of the positions of one pool."""

    root: float
    """Square root of token1 per token0, in smallest units."""
    price: float
    """Quote per token, in smallest units."""
    token_is_0: bool
    reserves: float
    """Value of the pool's reserves."""
    in_range: int
    """The pool's own liquidity in range."""
    quote_reserve: float
    """The quote tokens in the reserves."""
    is_quote_only: bool = False
    """True if tokens count as nothing."""

    def quote_only(self) -> "Valuation":
        """Return the valuation by what sellers can receive.

        Any number of tokens beyond the price can make up the value of a pool, and pays nobody.
        """
        return msgspec.structs.replace(self, reserves=self.quote_reserve, is_quote_only=True)

    def of(self, positions: list[Position]) -> float:
        """Return the value in smallest units of the quote token."""
        amounts = held_amounts(positions, sqrt_price=self.root)
        token, quote = amounts if self.token_is_0 else amounts[::-1]
        return quote if self.is_quote_only else quote + token * self.price

    def is_whole(self, positions: list[Position]) -> bool:
        """True if the positions make up the pool's liquidity in range."""
        sums = self._in_range(positions)
        return any(isclose(each, self.in_range, rel_tol=_NEAR) for each in sums)

    def least_total(self, positions: list[Position]) -> float:
        """Return the least that all of the pool's liquidity is worth, where these positions are a
        part of it: its reserves, which may be a lower bound themselves, or what makes up its
        liquidity in range. inf: none of these positions is in range."""
        found = self.of(positions)
        in_range = min(self._in_range(positions))
        if in_range >= self.in_range:
            return max(found, self.reserves)
        return max(found * self.in_range / in_range, self.reserves) if in_range else inf

    def _in_range(self, positions: list[Position]) -> list[int]:
        """Return the sum of liquidity in range. On the boundary of a tick rounding decides what is,
        so it is read on both sides as well."""
        tick = 2 * log(self.root) / log(_TICK_BASE)
        return [
            sum(one.liquidity for one in positions if one.lower <= at < one.upper)
            for at in (tick - _HALF_TICK, tick, tick + _HALF_TICK)
        ]


_HALF_TICK = 0.01


def valuation_of(pool: Candidate, state: PoolState) -> Valuation | None:
    """Return how the pool's positions are valued. None: its price is not known."""
    if not state.price or state.in_range_liquidity is None or state.price == inf:
        return None
    return Valuation(
        root=sqrt(state.price if pool.token_is_0 else 1 / state.price),
        price=state.price,
        token_is_0=pool.token_is_0,
        reserves=state.quote_reserve_raw + state.token_reserve_raw * state.price,
        in_range=state.in_range_liquidity,
        quote_reserve=float(state.quote_reserve_raw),
    )
