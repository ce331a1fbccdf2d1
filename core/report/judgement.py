"""What the summary says of a report, as it is stored beside the report for those who ask in SQL."""

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
    """What judged: release, checks and the settings that the verdict depends on."""
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
    """Of the deepest pool, in percent. None: there is no figure."""
    sell_tax: float | None
    checks: tuple[JudgedCheck, ...]
    """In the order of the catalogue."""
    headline: str | None = None
    """The one sentence that says what is wrong. None: nobody has written it."""
    deadlines: tuple[str, ...] = ()
    """Moments ahead at which code behaves differently: `timestamp` or `block`, `:`, and which."""


Judge = Callable[[Report], Judgement | None]
"""None: the report cannot be judged here, as its chain is not configured."""
