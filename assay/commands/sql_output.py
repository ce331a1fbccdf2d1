"""Writers of a result as it comes: tables, JSON lines, CSV. Parquet is written where the statement
runs."""

import csv
import itertools
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final, Literal

import msgspec

from core.process.terminal import printable
from sql.analyst.query_runner import OpenResult

Output = Literal["table", "json", "csv", "parquet"]

_TABLE_ROWS = 500
"""Rows of one table: its widths are known once it is whole. Longer results are several tables."""


def write_tables(result: OpenResult, out: IO[str]) -> None:
    """Write tables of some hundred rows each."""
    from rich.table import Column, Table  # noqa: PLC0415 - only tables need it

    from assay.commands.tables import cell_text, make_console  # noqa: PLC0415 - as above

    console = make_console()
    console.file = out
    rows = result.rows()
    some = list(itertools.islice(rows, _TABLE_ROWS))
    while True:
        table = Table(*(Column(cell_text(name)) for name in result.columns))
        for row in some:
            table.add_row(*map(cell_text, row))
        console.print(table)
        some = list(itertools.islice(rows, _TABLE_ROWS))
        if not some:
            return


def write_json(result: OpenResult, out: IO[str]) -> None:
    """Write one JSON array a line: the names of the columns, then the rows."""
    for line in itertools.chain([result.columns], result.rows()):
        out.write(printable(msgspec.json.encode(line).decode()) + "\n")


def write_csv(result: OpenResult, out: IO[str]) -> None:
    """Write a header and the rows; None is empty."""
    from assay.commands.csv_row import csv_cell  # noqa: PLC0415 - only CSV needs it

    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(map(csv_cell, result.columns))
    for row in result.rows():
        writer.writerow(map(csv_cell, row))


_WRITERS: Final[dict[Output, Callable[[OpenResult, IO[str]], None]]] = {
    "table": write_tables,
    "json": write_json,
    "csv": write_csv,
}


def write_text(result: OpenResult, out: IO[str], output: Output) -> None:
    """Write a result as text of any kind."""
    _WRITERS[output](result, out)


@contextmanager
def replaced_when_whole(path: Path) -> Iterator[Path]:
    """Yield the path of an unfinished file, which takes the place of `path` at the end of the
    block, or goes with an exception."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.unfinished")
    try:
        # That it cannot be made is known before a statement runs. It goes again: DuckDB writes what
        # is there under another name first, which its process may not.
        unfinished.touch()
        unfinished.unlink()
        yield unfinished
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
