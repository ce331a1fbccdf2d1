"""Outcomes of the buyers of a launch by receipts and balances, without the service."""

from collections.abc import Mapping
from typing import Final

import msgspec

from core.evm.primitives import Address
from tests.harness.redteam.ordinary_trades import Deal
from tests.harness.redteam.real_outcomes import RUINOUS_PCT

_WORTHLESS: Final = 0.25
"""Share of the cost below which a sale is a loss that no honest launch here has."""

SPANS_S: Final[Mapping[str, int]] = {"hour": 3_600, "day": 86_400, "week": 604_800}


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """One attempted trade."""

    time_s: int
    """Time of its block, Unix seconds."""
    person: Address
    is_buy: bool
    deal: Deal
    paid_share: float = 1.0
    """Proceeds of a sale as a share of the cost. 1 for a purchase."""

    @property
    def hurts(self) -> bool:
        """A purchase that is refused costs nobody more than gas."""
        if self.is_buy and not self.deal.mined:
            return False
        is_worthless = self.paid_share < _WORTHLESS
        return not self.deal.went or self.deal.tax >= RUINOUS_PCT or is_worthless


class LaunchTruth(msgspec.Struct, frozen=True, kw_only=True):
    """One launch and the outcome of its buyers."""

    token: Address
    label: str
    axis: str
    is_honest: bool
    """Declaration of its maker, for reference only."""
    attempts: tuple[Attempt, ...]
    """In order of the chain."""
    stolen_s: int | None = None
    """Time at which a holder's tokens were taken. None: they were not."""

    @property
    def first_s(self) -> int:
        """Time of the first purchase that was mined."""
        times = [one.time_s for one in self.attempts if one.is_buy and one.deal.mined]
        return min(times, default=0)

    def has_trapped(self, span: str) -> bool:
        """True if a buyer lost most of a trade's worth, or was robbed, in time."""
        end_s = self.first_s + SPANS_S[span]
        is_stolen = self.stolen_s is not None and self.stolen_s <= end_s
        return is_stolen or self.has_bad_trade(span)

    def has_bad_trade(self, span: str) -> bool:
        """As `has_trapped`, without robberies, which no trade shows."""
        end_s = self.first_s + SPANS_S[span]
        return any(one.hurts for one in self.attempts if one.time_s <= end_s)

    @property
    def words(self) -> str:
        """Describe the damage in a line."""
        clauses = [
            f"{'buy' if one.is_buy else 'sale'} at {one.time_s - self.first_s} s: "
            + (f"{one.deal.tax:.0f} % lost" if one.deal.went else "nothing came")
            + (f", {one.paid_share:.0%} of the cost" if one.paid_share < _WORTHLESS else "")
            for one in self.attempts
            if one.hurts
        ]
        return "; ".join(clauses[:3] + ["stolen"] * (self.stolen_s is not None)) or "nothing hurt"
