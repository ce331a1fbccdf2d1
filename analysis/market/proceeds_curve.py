"""Proceeds of sales, interpolated between measured ones, and the best split over pools. Pure.

Between two measured sales the reciprocal of the proceeds is linear in the reciprocal of the amount.
This is exact for a constant product, and inside one range of concentrated liquidity, for any fee
and proportional tax. Elsewhere it is an estimate, so a split is simulated before it is quoted.
"""

from collections.abc import Sequence
from typing import Final

import msgspec

_SLICES: Final = 128
"""Equal parts into which an amount is divided to be split."""

_FARTHEST: Final = 4
"""Most that an amount may exceed the largest measured one, as a factor."""


class ProceedsCurve(msgspec.Struct, frozen=True, kw_only=True):
    """Measured sales in one pool: sold amounts, ascending, and their proceeds."""

    amounts: tuple[int, ...]
    """Smallest units of the token, above 0."""
    paid: tuple[float, ...]
    """Proceeds in any one unit, above 0."""

    @classmethod
    def of(cls, points: Sequence[tuple[int, float]]) -> "ProceedsCurve":
        """Return the curve through measured sales, in any order, without sales that paid
        nothing."""
        kept = {amount: paid for amount, paid in points if amount > 0 and paid > 0}
        amounts = tuple(sorted(kept))
        return cls(amounts=amounts, paid=tuple(kept[amount] for amount in amounts))

    @property
    def largest(self) -> int:
        """Return the largest amount that was measured. 0: none."""
        return self.amounts[-1] if self.amounts else 0

    def paid_for(self, amount: int) -> float:
        """Return the proceeds of an amount. Raises ValueError above the largest measured one."""
        if amount <= 0:
            return 0.0
        if amount > self.largest:
            raise ValueError(amount)
        constant, slope = self._segment(amount)
        return 1 / (constant + slope / amount)

    def amount_for(self, paid: float) -> int | None:
        """Return the approximate amount for these proceeds. None: too far from measured ones."""
        if not self.amounts:
            return None
        after = next(
            (amount for amount, each in zip(self.amounts, self.paid, strict=True) if each >= paid),
            self.largest,
        )
        constant, slope = self._segment(after)
        rest = 1 / paid - constant
        amount = slope / rest if rest > 0 and slope > 0 else float("inf")
        return round(amount) if amount <= _FARTHEST * self.largest else None

    def _segment(self, amount: int) -> tuple[float, float]:
        """Return constant and slope of 1/paid over 1/amount where the amount lies."""
        if len(self.amounts) == 1:
            return 0.0, self.amounts[0] / self.paid[0]
        at = next(at for at, each in enumerate(self.amounts) if each >= amount)
        low, high = max(1, at) - 1, max(1, at)
        rise = 1 / self.paid[low] - 1 / self.paid[high]
        run = 1 / self.amounts[low] - 1 / self.amounts[high]
        slope = rise / run
        constant = 1 / self.paid[high] - slope / self.amounts[high]
        if at == 0 and constant < 0:  # more for each unit of more: only through the origin
            return 0.0, self.amounts[0] / self.paid[0]
        return constant, slope


def best_split(curves: Sequence[ProceedsCurve], amount: int) -> tuple[int, ...] | None:
    """Return the amounts to sell in each pool for the highest proceeds.

    Each of many small parts goes where it adds most, which is optimal where a pool pays less for
    each further part, as all do without the token's interference. None: the amount exceeds the
    measured ones of all pools together.
    """
    if amount > sum(curve.largest for curve in curves) or amount <= 0:
        return None
    taken = [0] * len(curves)
    left = amount
    part = max(1, amount // _SLICES)
    while left:
        step = min(part, left)
        gains = [_gain(curve, sold, step) for curve, sold in zip(curves, taken, strict=True)]
        at = max(range(len(gains)), key=lambda index: gains[index])
        if gains[at] < 0:  # no pool has room for a whole part
            at = max(range(len(curves)), key=lambda index: curves[index].largest - taken[index])
            step = min(step, curves[at].largest - taken[at])
        taken[at] += step
        left -= step
    return tuple(taken)


def _gain(curve: ProceedsCurve, sold: int, step: int) -> float:
    """Return the proceeds of a further part. -1: beyond the measured amounts."""
    if sold + step > curve.largest:
        return -1.0
    return max(0.0, curve.paid_for(sold + step) - curve.paid_for(sold))
