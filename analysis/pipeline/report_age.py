"""Age limits of stored reports that answer a request."""

from analysis.scenarios.trade import transfer
from config.settings import AnalysisSettings
from core.report.report import Report


def is_recent(report: Report, settings: AnalysisSettings, *, now_s: float) -> bool:
    """True if a request gets the report and starts no analysis."""
    token = report.token
    checked_at_s = token.transfer_checked_at_s
    is_recheck_due = (
        token.transfer_success is None
        and checked_at_s is not None
        and transfer.is_due(checked_at_s, now_s=now_s)
    )
    is_young = now_s - token.scanned_at_s < settings.refresh_after_s
    return token.is_settled and is_young and not is_recheck_due


def is_servable(report: Report, settings: AnalysisSettings, *, now_s: float) -> bool:
    """True if the report may be served while there is no newer one."""
    return now_s - report.token.scanned_at_s < settings.serve_stale_s
