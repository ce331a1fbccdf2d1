"""What receipts and balances say of the buyers of a launch, without the service."""

from collections.abc import Mapping
from typing import Final

import msgspec

from core.primitives import Address
from tests.redteam.life import Deal
from tests.redteam.truth import RUINOUS_PCT

SPANS_S: Final[Mapping[str, int]] = {"hour": 3_600, "day": 86_400, "week": 604_800}


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """One trade that somebody tried."""

    time_s: int
    """Of its block, Unix seconds."""
    person: Address
    is_buy: bool
    deal: Deal

    @property
    def hurts(self) -> bool:
        """A purchase that is refused costs nobody more than gas."""
        if self.is_buy and not self.deal.mined:
            return False
        return not self.deal.went or self.deal.tax >= RUINOUS_PCT


class LaunchTruth(msgspec.Struct, frozen=True, kw_only=True):
    """One launch and what became of its buyers."""

    token: Address
    label: str
    axis: str
    is_honest: bool
    """What its maker says. Nothing is counted by it."""
    attempts: tuple[Attempt, ...]
    """In order of the chain."""
    stolen_s: int | None = None
    """When a holder's tokens were taken. None: they were not."""

    @property
    def first_s(self) -> int:
        """Time of the first purchase that was mined."""
        times = [one.time_s for one in self.attempts if one.is_buy and one.deal.mined]
        return min(times, default=0)

    def has_trapped(self, span: str) -> bool:
        """Whether a buyer lost most of what a trade was worth, or all of what was held, in time."""
        end_s = self.first_s + SPANS_S[span]
        if self.stolen_s is not None and self.stolen_s <= end_s:
            return True
        return any(one.hurts for one in self.attempts if one.time_s <= end_s)

    @property
    def words(self) -> str:
        """The attempts, in a line."""
        told = [
            f"{'buy' if one.is_buy else 'sale'} at {one.time_s - self.first_s} s: "
            + (f"{one.deal.tax:.0f} %" if one.deal.went else "nothing")
            for one in self.attempts
        ]
        return "; ".join(told + ["stolen"] * (self.stolen_s is not None))
