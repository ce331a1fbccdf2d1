"""Progress of long work, on a terminal alone: files and pipes get nothing of it."""

import os
import sys

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from core.terminal import takes_colours


def counting_bar(*, unit: str = "") -> Progress:
    """A bar on standard error for work whose amount is known, with what is left of it."""
    return _progress(BarColumn(), MofNCompleteColumn(), TextColumn(unit), TimeRemainingColumn())


def step_bar() -> Progress:
    """A bar on standard error for steps that take different times, with the time taken."""
    return _progress(SpinnerColumn(), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())


def waiting() -> Progress:
    """A sign on standard error that something runs whose amount nobody knows."""
    return _progress(SpinnerColumn(), TimeElapsedColumn(), is_kept=False)


def _progress(*columns: ProgressColumn, is_kept: bool = True) -> Progress:
    """What is drawn moves the cursor, so it is off wherever escape sequences are."""
    return Progress(
        TextColumn("{task.description}"),
        *columns,
        console=Console(stderr=True),
        transient=not is_kept,
        disable=not takes_colours(sys.stderr, os.environ),
    )
