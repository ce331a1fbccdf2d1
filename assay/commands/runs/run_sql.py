"""Work of `assay sql`: runs a statement and writes its result row by row."""

import csv
import itertools
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import IO, Final, Literal

import click
import msgspec

from assay.commands.runs.progress import progress_steps
from config.load_settings import load_settings
from config.settings import SqlSettings
from core.process.terminal import printable
from sql.analyst.bounds import Bounds
from sql.analyst.query_runner import OpenResult, open_result

Output = Literal["table", "json", "csv", "parquet"]


def run_sql(
    *,
    statement: str | None,
    view: str | None,
    limit: int | None,
    output: Output | None,
    path: Path | None,
) -> None:
    """Run a statement (`-`: from standard input), or describe a view (empty: list all views).

    Streams the result to the path, or to standard output. Raises QueryError, StoreError,
    ConfigError and click.FileError; a file is then unchanged.
    """
    settings = load_settings(os.environ)
    chosen: Output = output or ("table" if path is None and sys.stdout.isatty() else "json")
    text = _statement_of(statement, view)
    bounds = _bounds(settings.sql, limit)
    with (
        nullcontext() if path is None else _unfinished(path) as file,
        open_result(
            settings.store, text, bounds, parquet=file if chosen == "parquet" else None
        ) as result,
    ):
        with progress_steps(is_kept=False) as show:
            show(f"running, at most {bounds.time_limit_s:g} s", 0, None)
            result.start()
            if chosen == "parquet":
                result.finish()
        if file is None:
            write_text(result, sys.stdout, chosen)
        elif chosen != "parquet":
            _write_file(result, file, chosen)
    if result.truncated:
        click.echo(f"only the first {bounds.max_rows} rows are shown", err=True)


def _statement_of(statement: str | None, view: str | None) -> str:
    if statement is None:
        from sql.analyst.descriptions import LIST_VIEWS, describe_view  # noqa: PLC0415 - imports DuckDB

        return describe_view(view) if view else LIST_VIEWS
    return sys.stdin.read() if statement == "-" else statement


def _bounds(settings: SqlSettings, limit: int | None) -> Bounds:
    return Bounds(
        max_rows=settings.max_rows or None if limit is None else limit,
        time_limit_s=settings.time_limit_s,
        memory_mb=settings.memory_mb,
        max_bytes=settings.max_bytes or None,
    )


@contextmanager
def _unfinished(path: Path) -> Iterator[Path]:
    try:
        with replaced_when_whole(path) as file:
            yield file
    except OSError as error:
        raise click.FileError(str(path), hint=str(error.strerror)) from error


def _write_file(result: OpenResult, file: Path, output: Output) -> None:
    out: IO[str]
    with file.open("w", encoding="utf-8", newline="") as out:
        write_text(result, out, output)


_TABLE_ROWS = 500
"""Rows of one table, whose widths need all of them. Longer results are several tables."""


def write_tables(result: OpenResult, out: IO[str]) -> None:
    """Write tables of at most `_TABLE_ROWS` rows."""
    from rich.table import Column, Table  # noqa: PLC0415 - only tables need it

    from assay.commands.runs.tables import cell_text, make_console  # noqa: PLC0415 - as above

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
    """Write a JSON array per line: the column names, then the rows."""
    for line in itertools.chain([result.columns], result.rows()):
        out.write(printable(msgspec.json.encode(line).decode()) + "\n")


def write_csv(result: OpenResult, out: IO[str]) -> None:
    """Write a header and the rows; None is empty."""
    from assay.commands.runs.csv_row import csv_cell  # noqa: PLC0415 - only CSV needs it

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
    """Write a result as text in any format."""
    _WRITERS[output](result, out)


@contextmanager
def replaced_when_whole(path: Path) -> Iterator[Path]:
    """Yield the path of a temporary file, which replaces `path` at the end of the block.

    After an exception it is deleted.
    """
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.unfinished")
    try:
        # An unwritable folder is detected before the statement runs. The file is deleted again:
        # DuckDB would first move an existing file, which its process may not.
        unfinished.touch()
        unfinished.unlink()
        yield unfinished
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
