"""The work of `assay doctor`: each chain's endpoints are examined, and the report is printed."""

import asyncio
import os
import sys
from typing import Literal

import click
import msgspec

from assay.commands.doctor_tables import print_report
from assay.commands.nodes import find_chain
from assay.commands.progress import progress_steps
from assay.doctor.examine_chain import ChainExamination, ExaminationBounds
from assay.doctor.report import DoctorReport
from config.chains import Chain
from config.load import choose_enabled, load_chains
from config.settings import load_settings
from config.settings_model import Settings
from core.errors import ConfigError
from core.evm.primitives import Address, parse_address
from core.process.stop_signals import stop_on_signals
from core.process.terminal import printable

DoctorOutput = Literal["table", "json"]

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
    """Examine the chain of that name, or every chain with a node, and print what was found.

    Ends with 1 unless every report is good, with 130 after Ctrl-C. Raises BadParameter,
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
    """Return what was found, and whether a signal cut it short."""
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
