"""Ends of runs, as errors here and as rows for other processes."""

from typing import get_args

from core.errors import InternalError, RefusalCode, TokenRefusedError, UpstreamError
from sql.fleet.analysis_runs import RunState, TokenRunEnd

_CODES: dict[str | None, RefusalCode] = {code: code for code in get_args(RefusalCode)}


class FailedElsewhereError(InternalError):
    """An analysis failed in another process by an internal error, which that process has logged."""


def end_of(error: BaseException) -> TokenRunEnd:
    """Return the end that other processes read of an analysis that raised."""
    match error:
        case TokenRefusedError():
            return TokenRunEnd(outcome="refused", code=error.code, reason=error.reason)
        case UpstreamError():
            return TokenRunEnd(outcome="node_failed", service=error.service, reason=error.reason)
        case _:
            # Without its message, which may contain secrets.
            return TokenRunEnd(outcome="failed", reason=type(error).__name__)


def error_of(state: RunState) -> Exception | None:
    """Return the error of a token's last run, in any process. None: a report."""
    reason = state.reason or ""
    match state.outcome:
        case "settled":
            return None
        case "refused":
            code = _CODES.get(state.code)
            if code is None:  # of a newer release
                return FailedElsewhereError(f"refused as {state.code}: {reason}")
            return TokenRefusedError(code=code, reason=reason, age_s=state.ended_s or 0.0)
        case "node_failed":
            return UpstreamError(service=state.service or "node", reason=reason)
        case _:
            return FailedElsewhereError(f"an analysis failed: {reason}")
