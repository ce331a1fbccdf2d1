"""Progress bars of commands: on a terminal, where somebody looks."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Show = Callable[[str, int, int], None]
"""Takes what is being done, and how much of how much of it is done."""


@contextmanager
def progress_bars() -> Iterator[Show]:
    """Yield what shows progress on stderr: a bar for each thing that is being done, below the last.

    Where stderr is no terminal nothing is shown, and nothing loaded for it.
    """
    if not sys.stderr.isatty():
        yield _show_nothing
        return
    with _bars() as show:
        yield show


@contextmanager
def _bars() -> Iterator[Show]:
    from rich.console import Console  # noqa: PLC0415 - see above
    from rich.progress import (  # noqa: PLC0415
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TaskID,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        tasks: dict[str, TaskID] = {}

        def show(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(what, total=total)
            bar.update(tasks[what], completed=done, total=total)

        yield show


def _show_nothing(_: str, __: int, ___: int) -> None:
    pass
