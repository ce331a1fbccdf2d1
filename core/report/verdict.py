"""Verdict of a report, stored next to it for analysts' SQL."""

from collections.abc import Callable

import msgspec

from core.report.report import Report


class VerdictCheck(msgspec.Struct, frozen=True, kw_only=True):
    """One check of the catalogue, with its outcome."""

    key: str
    label: str
    severity: str
    """Status when the check finds something."""
    status: str
    """danger, warning, info, notice, safe or unknown."""
    value: bool | None
    """None: the check has no answer."""


class ReportVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """Verdict and checks of one report, at the moment the report was made."""

    policy: str
    """Origin of the verdict: release, checks and the settings that it depends on."""
    verdict: str
    """danger, warning, safe or not_tested. safe covers tested properties only."""
    reasons: tuple[str, ...]
    """All reasons, most severe first."""
    has_enough_liquidity: bool | None
    liquidity_usd: float | None
    """USD of all pools. None: no pool was found, or the value of one is unknown."""
    can_buy: bool | None
    can_sell: bool | None
    pools: int
    """Pools found."""
    buy_tax: float | None
    """Tax in the deepest pool, in percent. None: unknown."""
    sell_tax: float | None
    checks: tuple[VerdictCheck, ...]
    """In the order of the catalogue."""
    headline: str | None = None
    """Sentence that sums the findings up. None: not written yet."""
    deadlines: tuple[str, ...] = ()
    """Moments ahead at which code behaves differently: `timestamp` or `block`, `:`, and which."""


FindVerdict = Callable[[Report], ReportVerdict | None]
"""Computes the verdict of a report. None: its chain is not configured here."""
