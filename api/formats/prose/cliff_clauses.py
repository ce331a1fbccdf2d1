"""Clauses on liquidity cliffs. Pure."""

from api.formats.prose.prose import day, percent
from api.formats.prose.rendered_report import RenderedReport


def cliff_words(left_pct: float, source: str) -> str:
    """Return a withdrawal above half of a pool's tokens in words."""
    return f"one withdrawal took {percent(left_pct)} of the tokens in its {source} pool"


def cliff_clause(rendered: RenderedReport) -> str | None:
    """Build the clause on a recent liquidity cliff. None: none is known."""
    record = rendered.report.track_record
    cliff = None if record is None else record.cliff
    if cliff is None:
        return None
    return f"on {day(cliff.time_s)} {cliff_words(cliff.left_pct, cliff.source)}"
