"""Time and priority of a token's next background analysis.

The money at stake decides: a token with empty pools is analysed rarely, and after all others.
"""

import math
from typing import Final

from assay.service.record_report import NextRefresh
from config.settings import AnalysisSettings
from core.report.report import Report
from sql.tokens.task_queue import NEW_WORTH

_UNSETTLED_WORTH: Final = NEW_WORTH // 2
"""Priority of a report with missing parts: before all complete ones."""

_WORTH_PER_DECADE: Final = 10_000
"""Added priority of ten times the money."""

_IDLE_FACTOR: Final = 7.0
"""Factor on the wait of a token without liquid pools, or of an address that is no token."""


def next_refresh(report: Report, settings: AnalysisSettings) -> NextRefresh:
    """Return the next analysis of a token after this report of it."""
    scanned_at_s = report.token.scanned_at_s
    if not report.token.is_settled:
        due_s = scanned_at_s + math.ceil(settings.refresh_after_s)
        return NextRefresh(worth=_UNSETTLED_WORTH, due_s=due_s)
    at_stake_usd = sum(pool.quote_side_usd for pool in report.pools or ())
    is_idle = at_stake_usd <= settings.min_liquidity_usd
    wait_s = settings.background_refresh_s * (_IDLE_FACTOR if is_idle else 1.0)
    worth = int(_WORTH_PER_DECADE * math.log10(1.0 + max(at_stake_usd, 0.0)))
    return NextRefresh(
        worth=min(worth, _UNSETTLED_WORTH - 1), due_s=scanned_at_s + math.ceil(wait_s)
    )


def refresh_of_refused(refused_at_s: int, settings: AnalysisSettings) -> NextRefresh:
    """Return the next analysis of an address that was refused as no token."""
    wait_s = settings.background_refresh_s * _IDLE_FACTOR
    return NextRefresh(worth=0, due_s=refused_at_s + math.ceil(wait_s))
