"""Work of `assay sql`."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import IO

import click

from assay.commands.progress import progress_steps
from assay.commands.sql_output import Output, replaced_when_whole, write_text
from config.settings import load_settings
from config.settings_model import SqlSettings
from sql.analyst.bounds import Bounds
from sql.analyst.query_runner import OpenResult, open_result


def run_sql(
    *,
    statement: str | None,
    view: str | None,
    limit: int | None,
    output: Output | None,
    path: Path | None,
) -> None:
    """Run a statement (`-`: the one on standard input), or describe a view (empty text: list them),
    and write the result as it comes, to standard output where no path is given.

    Raises QueryError, StoreError, ConfigError and click.FileError; a file is then left as it was.
    """
    settings = load_settings(os.environ)
    chosen: Output = output or ("table" if path is None and sys.stdout.isatty() else "json")
    asked = _statement_of(statement, view)
    bounds = _bounds(settings.sql, limit)
    with (
        nullcontext() if path is None else _unfinished(path) as file,
        open_result(
            settings.store, asked, bounds, parquet=file if chosen == "parquet" else None
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
        from sql.analyst.descriptions import LIST_VIEWS, describe_view  # noqa: PLC0415 - and DuckDB

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
