"""Budget of the background's analyses: node requests and processor time per chain and hour.

A token bucket for each: unused budget accumulates to one hour's worth, and a deficit is made up
before another analysis begins.
"""

from collections.abc import Callable, Iterable

import msgspec

from config.settings import AnalysisSettings

_HOUR_S = 3_600.0


class AnalysisCost(msgspec.Struct, frozen=True, kw_only=True):
    """Cost of analyses."""

    requests: int
    """Requests sent to nodes."""
    cpu_s: float
    """Processor time of this process in that time, other work included: a busy API slows the
    background down."""


class RefreshBudget:
    """Remaining budget of one chain's background analyses."""

    def __init__(
        self, *, requests_per_hour: float, cpu_s_per_hour: float, now_s: Callable[[], float]
    ) -> None:
        """Start with a full hour's budget. `now_s`: seconds of any clock."""
        self._hourly = (requests_per_hour, cpu_s_per_hour)
        self._left = list(self._hourly)
        self._now_s = now_s
        self._filled_at_s = now_s()

    @property
    def is_left(self) -> bool:
        """True if another analysis may begin."""
        self._fill()
        return all(left > 0 for left in self._left)

    def spend(self, cost: AnalysisCost) -> None:
        """Deduct a cost; the budget may become negative."""
        self._fill()
        self._left[0] -= cost.requests
        self._left[1] -= cost.cpu_s

    def _fill(self) -> None:
        now_s = self._now_s()
        share = max(0.0, now_s - self._filled_at_s) / _HOUR_S
        self._filled_at_s = now_s
        self._left = [
            min(hourly, left + share * hourly)
            for left, hourly in zip(self._left, self._hourly, strict=True)
        ]


def budgets_of(
    slugs: Iterable[str], settings: AnalysisSettings, now_s: Callable[[], float]
) -> dict[str, RefreshBudget]:
    """Return a full budget for each chain."""
    return {
        slug: RefreshBudget(
            requests_per_hour=settings.background_requests_per_hour,
            cpu_s_per_hour=settings.background_cpu_s_per_hour,
            now_s=now_s,
        )
        for slug in slugs
    }
