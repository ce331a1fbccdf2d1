"""Verdict of a report, stored next to it for analysts' SQL."""

from collections.abc import Callable

import msgspec

from core.report.report import Report


class JudgedCheck(msgspec.Struct, frozen=True, kw_only=True):
    """One check of the catalogue as it came out."""

    key: str
    label: str
    severity: str
    """Status if the check finds something."""
    status: str
    """danger, warning, info, notice, safe or unknown."""
    value: bool | None
    """None: the check has no answer."""


class Judgement(msgspec.Struct, frozen=True, kw_only=True):
    """Verdict and checks of one report, at the moment the report was made."""

    policy: str
    """Origin of the verdict: release, checks and the settings that it depends on."""
    verdict: str
    """danger, warning, safe or not_tested. safe speaks of what was tested alone."""
    reasons: tuple[str, ...]
    """Every cause that holds, most severe first."""
    has_enough_liquidity: bool | None
    liquidity_usd: float | None
    """USD of all pools. None: no pool was found, or what one holds is not known."""
    can_buy: bool | None
    can_sell: bool | None
    pools: int
    """Pools found."""
    buy_tax: float | None
    """Tax in the deepest pool, in percent. None: there is no figure."""
    sell_tax: float | None
    checks: tuple[JudgedCheck, ...]
    """In the order of the catalogue."""
    headline: str | None = None
    """Sentence that sums the findings up. None: not written yet."""
    deadlines: tuple[str, ...] = ()
    """Moments ahead at which code behaves differently: `timestamp` or `block`, `:`, and which."""


Judge = Callable[[Report], Judgement | None]
"""None: the report cannot be judged here, as its chain is not configured."""
