"""assay sql: read-only SQL on the store."""

from pathlib import Path
from typing import Literal

import click


@click.command("sql")
@click.argument("statement", required=False)
@click.option(
    "--describe",
    "view",
    metavar="[VIEW]",
    is_flag=False,
    flag_value="",
    help="List the views, or the columns of one, and what they mean.",
)
@click.option("--limit", type=click.IntRange(min=0), help="Most rows.  [default: sql.max_rows]")
@click.option(
    "--output",
    type=click.Choice(["table", "json", "csv", "parquet"]),
    help="How rows are written.  [default: table on a terminal, else json]",
)
@click.option(
    "--to",
    "path",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File to write, whole or not at all; parquet needs one.",
)
def sql_command(
    statement: str | None,
    view: str | None,
    limit: int | None,
    output: Literal["table", "json", "csv", "parquet"] | None,
    path: Path | None,
) -> None:
    """Read-only SQL on the store, also while another process serves from it.

    STATEMENT is one SELECT; - reads it from standard input. Rows are written as they come. json is
    one array a row after one with the column names.

    Example: assay sql --output csv "select * from v_verdicts where verdict = 'danger'"
    """
    if (statement is None) == (view is None):
        message = "Give one SELECT, - or --describe."
        raise click.UsageError(message)
    if output == "parquet" and path is None:
        message = "parquet needs a file: --to FILE."
        raise click.UsageError(message)
    from assay.commands.run_sql import run_sql  # noqa: PLC0415 - help and completion need none of it

    run_sql(statement=statement, view=view, limit=limit, output=output, path=path)
