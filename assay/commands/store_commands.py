"""Commands about the store: sql, export, status, compact, backup, restore, move-store."""

from pathlib import Path
from typing import Literal

import click

from assay.commands.chain_argument import CHAIN
from assay.commands.loading import loading


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
    from assay.commands.runs.run_sql import run_sql  # noqa: PLC0415 - not for help and completion

    run_sql(statement=statement, view=view, limit=limit, output=output, path=path)


@click.command("export")
@click.argument("target", type=click.Path(file_okay=False, path_type=Path))
@click.option("--views", help="Names of views, separated by commas.  [default: all of them]")
def export_command(target: Path, views: str | None) -> None:
    """Parquet files of the views, of which each call adds what is new.

    Transfers and trades come by run, chain and million blocks, once they are final and in the lake;
    other views are files that are written anew. Stopped anywhere, the next call goes on.

    Example: assay export --views v_transfers,v_verdicts export
    """
    with loading():
        from assay.commands.runs.run_export import run_export  # noqa: PLC0415 - not for help and completion

    run_export(target, None if views is None else views.split(","))


@click.command("status")
def status_command() -> None:
    """Per chain: head, tip, lag, rows, queue, size, growth. Ends with 1 when a chain is stale.

    Example: assay status
    """
    with loading():
        from assay.commands.runs.run_status import run_status  # noqa: PLC0415 - not for help and completion

    run_status()


@click.command("compact")
@click.argument("chain", type=CHAIN, required=False)
def compact_command(chain: str | None) -> None:
    """Move final rows to the lake now, and tidy it up. The service does it by itself every hour.

    Without CHAIN: of every chain. Goes on where it was left.

    Example: assay compact ethereum
    """
    with loading():
        from assay.commands.runs.run_upkeep import run_compact  # noqa: PLC0415 - not for help and completion

    run_compact(chain)


@click.command("backup")
@click.argument("folder", type=click.Path(path_type=Path))
def backup_command(folder: Path) -> None:
    """Copy the store to a new FOLDER, also while the service runs.

    Serving state, final events and ledger are of one moment. Final events are linked where FOLDER
    is on the same file system.

    Example: assay backup /backups/assay-2026-11-23
    """
    with loading():
        from assay.commands.runs.run_upkeep import run_backup  # noqa: PLC0415 - not for help and completion

    run_backup(folder)


@click.command("restore")
@click.argument("folder", type=click.Path(path_type=Path))
def restore_command(folder: Path) -> None:
    """Make the store that ASSAY_STORE names of the back-up in FOLDER.

    Nothing is overwritten: it must not be there yet.

    Example: ASSAY_STORE=/var/lib/assay/assay.duckdb assay restore /backups/assay-2026-11-23
    """
    with loading():
        from assay.commands.runs.run_upkeep import run_restore  # noqa: PLC0415 - not for help and completion

    run_restore(folder)


@click.command("move-store")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--without-lake", is_flag=True, help="Leave the lake where it is.")
def move_store_command(path: Path, without_lake: bool) -> None:
    """Move the store in files at PATH to the PostgreSQL database of ASSAY_STORE.

    It has to be empty. End the service first. Stopped anywhere, the same command goes on; the
    files stay as they are.

    Example: ASSAY_STORE=postgresql://... ASSAY_LAKE=lake assay move-store assay.duckdb
    """
    with loading():
        from assay.commands.runs.run_upkeep import run_move_store  # noqa: PLC0415 - not for help and completion

    run_move_store(path, with_lake=not without_lake)
