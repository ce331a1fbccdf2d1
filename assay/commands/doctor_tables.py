"""A report of `assay doctor` as tables for people."""

from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.table import Table

from assay.commands.tables import cell_text, make_console
from assay.doctor.check import CheckResult, CheckStatus
from assay.doctor.cost import CostEstimate
from assay.doctor.report import WORST_FIRST, DoctorReport

_STYLES: dict[CheckStatus, str] = {
    "failed": "bold red",
    "degraded": "yellow",
    "unknown": "cyan",
    "skipped": "dim",
    "ok": "green",
}


def print_report(report: DoctorReport, *, shows_all: bool) -> None:
    """Print a table of each endpoint, worst first, then what to do, then the cost.

    Without `shows_all` what is well is counted only.
    """
    out = make_console(soft_wrap=False)
    for endpoint in report.endpoints:
        client = f", {endpoint.client}" if endpoint.client else ""
        head = "no head" if endpoint.head is None else f"block {endpoint.head}"
        out.print(
            cell_text(
                f"{report.chain} at {endpoint.endpoint}{client}, {head}: "
                f"{endpoint.calls} calls in {endpoint.seconds:.1f} s"
            )
        )
        _print_results(out, endpoint.results, shows_all=shows_all)
    if report.comparison:
        out.print("endpoints compared")
        _print_results(out, report.comparison, shows_all=True)
    if report.cost is not None:
        _print_cost(out, report.cost)
    else:
        out.print(cell_text(f"no cost estimate: {report.cost_missing}"))
    counted = ", ".join(f"{count} {status}" for status, count in report.counts.items())
    out.print(cell_text(f"{report.chain}: {report.verdict} ({counted})"))


def _print_results(out: Console, results: Sequence[CheckResult], *, shows_all: bool) -> None:
    shown = [
        result
        for status in WORST_FIRST
        for result in results
        if result.status == status and (shows_all or status not in ("ok", "skipped"))
    ]
    if not shown:
        return
    table = Table("check", "about", "status", "seen", "what it costs, and how to mend it")
    for result in shown:
        advice = " | ".join(filter(None, (result.costs, result.mend)))
        table.add_row(
            cell_text(result.check),
            cell_text(result.subject),
            f"[{_STYLES[result.status]}]{result.status}[/]",
            cell_text(result.seen),
            cell_text(advice),
        )
    out.print(table)


def _print_cost(out: Console, cost: CostEstimate) -> None:
    table = Table("calls", "total", "by method")
    for name, calls in (
        ("first analysis", cost.scan),
        ("analysis", cost.next_scan),
        ("followed block", cost.block),
        ("day of following", cost.following_day),
    ):
        table.add_row(cell_text(name), cell_text(f"{sum(calls.values()):,.0f}"), _by_method(calls))
    background = f"{cost.most_background_day:,}"
    table.add_row(*map(cell_text, ("day of background analyses", background, "at most; a setting")))
    out.print(table)
    for one in cost.providers:
        missing = f"; not counted: {', '.join(one.not_counted)}" if one.not_counted else ""
        text = (
            f"{one.provider}: {one.scan:,.0f} {one.unit} an analysis, {one.block:,.0f} a block, "
            f"{one.following_day:,.0f} a day of following ({one.source}{missing})"
        )
        out.print(cell_text(text))


def _by_method(calls: Mapping[str, float]) -> str:
    return ", ".join(f"{method} {round(count, 1):,g}" for method, count in calls.items())
