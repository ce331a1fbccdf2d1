"""Progress of long work on standard error: on a terminal, where somebody looks.

What is drawn moves the cursor, so nothing is, nor loaded for it, where escape sequences are not
wanted.
"""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING

from core.process.terminal import takes_colours

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn, TaskID

Show = Callable[[str, int, int | None], None]
"""Takes what is being done, and how much of how much of it is done. None: nobody knows."""


def progress_bars() -> AbstractContextManager[Show]:
    """Yield what shows progress: a bar for each thing that is being done, below the last."""
    return _bars() if takes_colours(sys.stderr, os.environ) else nullcontext(_show_nothing)


def progress_steps(*, is_kept: bool = True) -> AbstractContextManager[Show]:
    """Yield what shows steps that take different times: one bar with the name of the step.

    With `is_kept` the bar stays on the terminal when all is done.
    """
    if not takes_colours(sys.stderr, os.environ):
        return nullcontext(_show_nothing)
    return _steps(is_kept=is_kept)


@contextmanager
def _bars() -> Iterator[Show]:
    from rich.progress import MofNCompleteColumn, TimeRemainingColumn  # noqa: PLC0415 - as above

    with _progress(MofNCompleteColumn(), TimeRemainingColumn()) as bar:
        tasks: dict[str, TaskID] = {}

        def show(what: str, done: int, total: int | None) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(what, total=total)
            bar.update(tasks[what], completed=done, total=total)

        yield show


@contextmanager
def _steps(*, is_kept: bool) -> Iterator[Show]:
    from rich.progress import MofNCompleteColumn, TimeElapsedColumn  # noqa: PLC0415 - as above

    columns = (MofNCompleteColumn(), TimeElapsedColumn()) if is_kept else (TimeElapsedColumn(),)
    with _progress(*columns, is_kept=is_kept) as bar:
        task = bar.add_task("starting", total=None)

        def show(what: str, done: int, total: int | None) -> None:
            bar.update(task, description=what, completed=done, total=total)
            if done == total:
                bar.stop()

        yield show


def _progress(*columns: "ProgressColumn", is_kept: bool = True) -> "Progress":
    from rich.console import Console  # noqa: PLC0415 - as above
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn  # noqa: PLC0415

    shown = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), *columns)
    return Progress(*shown, console=Console(stderr=True), transient=not is_kept)


def _show_nothing(_: str, __: int, ___: int | None) -> None:
    pass
