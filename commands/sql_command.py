"""assay sql: read-only SQL on the store."""

import os

import click
import msgspec
from rich.table import Column, Table

from commands.progress import progress_steps
from commands.tables import OUT, cell_text
from config.settings import load_settings
from core.terminal import printable
from sql.analyst.bounds import Bounds
from sql.analyst.query_runner import run_sql


@click.command("sql")
@click.argument("statement")
def sql_command(statement: str) -> None:
    """Read-only SQL on the store, also while another process serves from it.

    A table on a terminal, else one JSON array a row after one with the column names.

    Example: assay sql "select * from v_pools limit 5"
    """
    settings = load_settings(os.environ)
    bounds = Bounds(
        max_rows=settings.sql.max_rows,
        time_limit_s=settings.sql.time_limit_s,
        memory_mb=settings.sql.memory_mb,
        max_bytes=settings.sql.max_bytes,
    )
    with progress_steps(is_kept=False) as show:
        show(f"running, at most {settings.sql.time_limit_s:g} s", 0, None)
        answer = run_sql(settings.store, statement, bounds)
    if OUT.is_terminal:
        table = Table(*(Column(cell_text(name)) for name in answer.columns))
        for row in answer.rows:
            table.add_row(*map(cell_text, row))
        OUT.print(table)
    else:
        for line in (answer.columns, *answer.rows):
            click.echo(printable(msgspec.json.encode(line).decode()))
    if answer.truncated:
        click.echo(f"only the first {len(answer.rows)} rows are shown", err=True)
