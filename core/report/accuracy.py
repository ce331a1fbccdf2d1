"""Comparison of predictions with real trades: names, tolerance, confidence. Pure."""

import math
from typing import Final, Literal

import msgspec

TOLERANCE_POINTS: Final = 0.5
"""Percentage points by which a tax may differ from the prediction: amounts are rounded, and some
taxes move a little with the amount."""

PredictionFlag = Literal["buy_success", "buy_tax", "sell_success", "sell_tax", "transfer_success"]
"""The field of a report that predicts, as the native format calls it."""

ReportAge = Literal["minute", "hour", "day", "week", "older"]
"""Up to how long before the trade the report's block was."""

Explanation = Literal[
    "time", "owner", "changed", "size", "exempt", "unseen", "own_limits", "bundled", "unexplained"
]
"""Cause of a disagreement, as the next report shows it.

The next report agrees with the observed trade: time, as a moment that the code compares the clock
with lay between report and trade; owner, as the owner called the token or it emitted an event of
its parameters in the meantime (watched tokens only); changed, otherwise. It repeats the prediction:
size, as its sales depend on their size; exempt, as a trade passed that fresh accounts cannot make;
unseen, as the trade's events show less tax than is lost: balances shrink later, or less than was
ordered is sold, or the trader is exempt; own_limits, as a trade failed that may have failed by its
own limits; bundled, as the transaction may hide the true amounts; unexplained, as the prediction
was wrong.
"""

CHANGED: Final = frozenset({"time", "owner", "changed"})
"""Explanations of a token that was another one by the time of the trade."""

EXPLAINED: Final = CHANGED | {"size"}
"""Explanations of a disagreement that is none of the report's own."""

LEAST_OBSERVATIONS: Final = 30
"""Trades below which no confidence interval is published."""

_Z_95: Final = 1.959964
_AGES: Final[tuple[tuple[int, ReportAge], ...]] = (
    (60, "minute"),
    (3_600, "hour"),
    (86_400, "day"),
    (604_800, "week"),
)


class ShareInterval(msgspec.Struct, frozen=True, kw_only=True):
    """Bounds of a share, 0 to 1."""

    low: float
    high: float


def age_of(report_time_s: int, trade_time_s: int) -> ReportAge:
    """Return how old a report was at a trade, by the times of their blocks."""
    passed_s = trade_time_s - report_time_s
    return next((name for most_s, name in _AGES if passed_s <= most_s), "older")


def is_near(first_pct: float, second_pct: float) -> bool:
    """True if two taxes are the same within the tolerance."""
    return abs(first_pct - second_pct) <= TOLERANCE_POINTS


def interval_of(count: int, total: int) -> ShareInterval | None:
    """Return the 95 percent confidence interval of the share `count` of `total`.

    None: there are too few. It takes observations for independent; trades of one token are not.
    Source: Wilson, "Probable inference, the law of succession, and statistical inference" (1927).
    """
    if total < LEAST_OBSERVATIONS:
        return None
    share, square = count / total, _Z_95**2
    scale = 1 + square / total
    middle = (share + square / (2 * total)) / scale
    margin = _Z_95 * math.sqrt(share * (1 - share) / total + square / (4 * total**2)) / scale
    return ShareInterval(low=max(0.0, middle - margin), high=min(1.0, middle + margin))
