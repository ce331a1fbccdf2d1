"""Clauses on changes with time, size and dates in the code. Pure."""

from api.formats.prose.proofs import LaterSeen, MomentSeen, SoldSeen
from api.formats.prose.prose import LAST_DATE_S, day, percent
from api.formats.prose.rendered_report import RenderedReport
from api.formats.prose.trade_clauses import HEAVY_TAX_PCT
from core.report.report import ClockLimitRow


def later_refusal_clause(rendered: RenderedReport) -> str | None:
    for moment in _moments(rendered):
        if moment.sale.is_refused and moment.when != "next block":
            base = f"you can sell it right away, but not {_after(moment.when)}"
            deadline = next((limit for limit in deadlines_ahead(rendered)), None)
            return f"{base}: its code has a deadline on {deadline}" if deadline else base
    return None


def later_tax_clause(rendered: RenderedReport) -> str | None:
    for moment in _moments(rendered):
        tax = moment.sale.tax
        if tax is not None and tax >= HEAVY_TAX_PCT and moment.when != "next block":
            return f"{_after(moment.when)}, sales are taxed {percent(tax)}"
    return None


def _moments(rendered: RenderedReport) -> list[MomentSeen]:
    keys = rendered.proofs.keys_under("sell_later")
    found = [rendered.proofs.outcome(key, LaterSeen) for key in keys]
    return [moment for each in found if each is not None for moment in each.moments]


def _after(when: str) -> str:
    """Return a moment of the simulation in words: `+1 day` is "after 1 day"."""
    words = {"+1 hour": "after an hour", "+1 day": "after a day"}
    return words.get(when, when.replace("+", "after "))


def _later(when: str) -> str:
    """Return a moment of the simulation in words: `+1 day` is "1 day later"."""
    return f"{when.removeprefix('+')} later" if when.startswith("+") else f"in the {when}"


def size_clause(rendered: RenderedReport) -> str | None:
    for key in rendered.proofs.keys_under("sell"):
        sold = rendered.proofs.outcome(key, SoldSeen)
        if sold is None or not sold.sizes:
            continue
        largest, smallest = sold.sizes[0].outcome, sold.sizes[-1].outcome
        if largest.is_refused and not smallest.is_refused:
            return "small buyers can sell it, but larger ones can't"
        if smallest.is_refused and not largest.is_refused:
            return "large buyers can sell it, but smaller ones can't"
    return None


def cooldown_clause(rendered: RenderedReport) -> str | None:
    moments = _moments(rendered)
    passed = next((moment for moment in moments if moment.sale.reason is None), None)
    if rendered.summary.can_sell is not True or passed is None or not moments[0].sale.is_refused:
        return None
    return f"you can't sell right after buying. A sale {_later(passed.when)} works"


def deadline_clause(rendered: RenderedReport) -> str | None:
    deadline = next(iter(deadlines_ahead(rendered)), None)
    return None if deadline is None else f"its code has a deadline on {deadline}"


def deadlines_ahead(rendered: RenderedReport) -> list[str]:
    """Return the deadlines still ahead, as dates."""
    ahead = [each for each in rendered.native.timebomb_deadlines if not each.passed]
    return [day(each.estimated_unix_time) for each in ahead]


def far_date(rendered: RenderedReport) -> str | None:
    """Return the first date in the code that is still ahead, however far. None: there is none."""
    dates = far_dates(rendered)
    return day(min(dates)) if dates else None


def far_dates(rendered: RenderedReport) -> list[int]:
    """Return the times in the code that are still ahead, however far, in Unix seconds."""
    now_s = rendered.report.token.block_time_s
    limits = rendered.report.clock_limits
    return [limit.value for limit in limits if _is_date(limit, now_s) and limit.value is not None]


def _is_date(limit: ClockLimitRow, now_s: int) -> bool:
    is_time = limit.compared_with != "block" and limit.source != "stamp"
    return is_time and limit.value is not None and now_s < limit.value <= LAST_DATE_S
