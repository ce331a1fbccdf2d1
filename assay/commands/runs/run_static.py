"""Work of `assay static`: static analysis of runtime codes, one answer per line."""

import os
import stat
import sys
from collections.abc import Iterable, Iterator
from typing import IO

import click
import msgspec

from analysis.static.analyse_stream import analyse_lines, lines_of
from analysis.static.printers import PRINTERS
from analysis.static.worker_pool import LONGEST_S, run_within
from assay.commands.runs.progress import Show, progress_bars
from core.errors import InternalError


def run_static(file: IO[bytes]) -> None:
    """Write the answer to each line of the file as soon as it is ready."""
    if sys.stdout.isatty():  # the answers show the progress
        _write(analyse_lines(lines_of(file)))
        return
    with progress_bars() as show:
        _write(analyse_lines(_noted(lines_of(file), show, _size_of(file))))


def _write(answers: Iterable[bytes]) -> None:
    for line in answers:
        sys.stdout.buffer.write(line + b"\n")
        sys.stdout.buffer.flush()


def run_printer(file: IO[bytes], printer: str) -> None:
    """Print one view of the code in the first line. Raises BadParameter for anything else, and
    InternalError if its analysis takes too long."""
    code = _one_code(file)
    text = run_within(LONGEST_S, lambda: PRINTERS[printer](code))
    if text is None:
        message = f"the analysis takes more than {LONGEST_S:g} s of processor time"
        raise InternalError(message)
    click.echo(text, nl=False)


def _noted(lines: Iterator[bytes], show: Show, size: int | None) -> Iterator[bytes]:
    """Yield the lines, and show the number of bytes read."""
    taken = 0
    for line in lines:
        yield line
        taken += len(line) + 1
        show("bytes of codes", taken if size is None else min(taken, size), size)


def _size_of(file: IO[bytes]) -> int | None:
    """Return the bytes of the file. None: a pipe, without a size."""
    try:
        about = os.fstat(file.fileno())
    except OSError:
        return None
    return about.st_size if stat.S_ISREG(about.st_mode) else None


def _one_code(file: IO[bytes]) -> bytes:
    line = file.readline().strip()
    try:
        text = line.decode()
        if text.startswith("{"):
            text = str(msgspec.json.decode(line)["runtime"])
        return bytes.fromhex(text.removeprefix("0x"))
    except (ValueError, KeyError, msgspec.DecodeError) as error:
        reason = "neither hex nor a JSON line with `runtime`"
        raise click.BadParameter(reason, param_hint="FILE") from error
