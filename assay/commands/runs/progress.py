"""Progress bars on standard error, only on a terminal.

Without a terminal that takes escape sequences nothing is drawn, and rich is not imported.
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
"""Called with the task, the amount done and the total. None: unknown total."""


def progress_bars() -> AbstractContextManager[Show]:
    """Yield a function that shows a bar for each task, below the previous one."""
    return _bars() if takes_colours(sys.stderr, os.environ) else nullcontext(_show_nothing)


def progress_steps(*, is_kept: bool = True) -> AbstractContextManager[Show]:
    """Yield a function that shows steps of different lengths: one bar with the name of the step.

    With `is_kept` the bar stays on the terminal at the end.
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
