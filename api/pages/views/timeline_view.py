"""Dates in a token's code on a line, with today and the end of the simulated month."""

from typing import Final

import msgspec

from api.formats.prose.prose import day
from api.formats.prose.rendered_report import RenderedReport
from api.formats.prose.time_clauses import far_dates

_MONTH_S: Final = 30 * 86_400
_MOST_DATES: Final = 6


class DateShown(msgspec.Struct, frozen=True, kw_only=True):
    """One date on the line."""

    day: str
    text: str
    at: float
    """Place on the line, 0 to 1. Dates stand in order at equal distances, as they may lie decades
    apart."""
    is_ahead: bool


def view_dates(rendered: RenderedReport) -> tuple[DateShown, ...]:
    """Return the dates in order. Empty: the code has none that is known."""
    now_s = rendered.report.token.block_time_s
    told = {each.estimated_unix_time for each in rendered.native.timebomb_deadlines}
    found = [(time_s, _words(time_s, now_s)) for time_s in {*told, *far_dates(rendered)}]
    if not found:
        return ()
    found = sorted(found)[:_MOST_DATES]
    found += [(now_s, "this analysis"), (now_s + _MONTH_S, "end of the simulated month")]
    found.sort()
    return tuple(
        DateShown(
            day=day(time_s),
            text=text,
            at=(place + 0.5) / len(found),
            is_ahead=time_s > now_s,
        )
        for place, (time_s, text) in enumerate(found)
    )


def _words(time_s: int, now_s: int) -> str:
    return "a date in the code" if time_s > now_s else "a date in the code, passed"
