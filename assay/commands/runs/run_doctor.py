"""Work of `assay doctor`: examines each chain's endpoints and prints the report."""

import asyncio
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Literal

import click
import msgspec
from rich.console import Console
from rich.table import Table

from assay.commands.runs.nodes import find_chain
from assay.commands.runs.progress import progress_steps
from assay.commands.runs.tables import cell_text, make_console
from assay.doctor.check import CheckResult, CheckStatus
from assay.doctor.cost import CostEstimate
from assay.doctor.examine_chain import ChainExamination, ExaminationBounds
from assay.doctor.report import WORST_FIRST, DoctorReport
from config.facts.chain import Chain
from config.facts.load_chains import choose_enabled, load_chains
from config.load_settings import load_settings
from config.settings import Settings
from core.errors import ConfigError
from core.evm.primitives import Address, parse_address
from core.process.stop_signals import stop_on_signals
from core.process.terminal import printable

DoctorOutput = Literal["table", "json"]

_FILE_WIDTH = 2000
"""Columns of a table in a file or pipe: a result stays on its line, for grep and less."""

_EXIT_FAILED = 1
_EXIT_INTERRUPTED = 130


def run_doctor(
    name: str | None,
    *,
    output: DoctorOutput | None,
    token: str | None,
    is_costed: bool,
    most_calls: int,
    deadline_s: float,
    shows_all: bool,
) -> None:
    """Examine the chain of that name, or every chain with a node, and print the reports.

    Exits with 1 unless every report is good, with 130 after Ctrl-C. Raises BadParameter,
    ConfigError, InvalidAddressError.
    """
    settings = load_settings(os.environ)
    address = None if token is None else parse_address(token)
    chains = _choose(settings, name)
    bounds = ExaminationBounds(most_calls=most_calls, deadline_s=deadline_s)
    is_table = output == "table" or (output is None and sys.stdout.isatty())
    is_good, is_stopped = True, False
    for chain in chains:
        report, is_stopped = asyncio.run(
            _examine(chain, settings, bounds, address, is_costed=is_costed)
        )
        is_good &= report.verdict == "good"
        if is_table:
            print_report(report, shows_all=shows_all)
        else:
            click.echo(printable(msgspec.json.encode(report).decode()))
        if is_stopped:
            break
    if is_stopped:
        sys.exit(_EXIT_INTERRUPTED)
    if not is_good:
        sys.exit(_EXIT_FAILED)


def _choose(settings: Settings, name: str | None) -> tuple[Chain, ...]:
    if name is not None:
        return (find_chain(settings, name),)
    chains = choose_enabled(load_chains(settings.overlay), settings)
    if not chains:
        reason = "not set, and there is nothing to check without a node"
        raise ConfigError(source="environment", key="ASSAY_RPC_<chain id>", reason=reason)
    return chains


async def _examine(
    chain: Chain,
    settings: Settings,
    bounds: ExaminationBounds,
    token: Address | None,
    *,
    is_costed: bool,
) -> tuple[DoctorReport, bool]:
    """Return the report, and True if a signal interrupted it."""
    stop = asyncio.Event()
    stop_on_signals(stop)
    examination = ChainExamination(chain, settings, bounds)
    with progress_steps(is_kept=False) as show:
        running = asyncio.create_task(examination.run(show, token=token, is_costed=is_costed))
        stopped = asyncio.create_task(stop.wait())
        await asyncio.wait((running, stopped), return_when=asyncio.FIRST_COMPLETED)
        for task in (running, stopped):
            task.cancel()
        await asyncio.gather(running, stopped, return_exceptions=True)
    if not running.cancelled():
        running.result()
    return examination.report(), stop.is_set()


_STYLES: dict[CheckStatus, str] = {
    "failed": "bold red",
    "degraded": "yellow",
    "unknown": "cyan",
    "skipped": "dim",
    "ok": "green",
}


def print_report(report: DoctorReport, *, shows_all: bool) -> None:
    """Print a table of each endpoint, worst first, then the comparison and the cost.

    Without `shows_all` good results are only counted.
    """
    out = make_console(None if sys.stdout.isatty() else _FILE_WIDTH, soft_wrap=False)
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
    table = Table("check", "about", "status", "seen", "effect, and how to fix it")
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
