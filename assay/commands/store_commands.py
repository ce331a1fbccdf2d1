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
    help="List the views, or the columns of one, with their meanings.",
)
@click.option("--limit", type=click.IntRange(min=0), help="Most rows.  [default: sql.max_rows]")
@click.option(
    "--output",
    type=click.Choice(["table", "json", "csv", "parquet"]),
    help="Format of the rows.  [default: table on a terminal, else json]",
)
@click.option(
    "--to",
    "path",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File to write, complete or not at all; required for parquet.",
)
def sql_command(
    statement: str | None,
    view: str | None,
    limit: int | None,
    output: Literal["table", "json", "csv", "parquet"] | None,
    path: Path | None,
) -> None:
    """Run read-only SQL on the store, also while another process serves from it.

    STATEMENT is one SELECT; - reads it from standard input. Rows are streamed. json is one array
    with the column names, then one per row.

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
    """Export views as Parquet files; each call adds new rows.

    Transfers and trades are written by run, chain and million blocks, once they are final and in
    the lake; files of other views are replaced. After an interruption the next call resumes.

    Example: assay export --views v_transfers,v_verdicts export
    """
    with loading():
        from assay.commands.runs.run_export import run_export  # noqa: PLC0415 - not for help and completion

    run_export(target, None if views is None else views.split(","))


@click.command("status")
def status_command() -> None:
    """Show head, tip, lag, rows, queue, size and growth of each chain.

    Exits with 1 if a chain is stale.

    Example: assay status
    """
    with loading():
        from assay.commands.runs.run_status import run_status  # noqa: PLC0415 - not for help and completion

    run_status()


@click.command("compact")
@click.argument("chain", type=CHAIN, required=False)
def compact_command(chain: str | None) -> None:
    """Move final rows to the lake now, and clean it up. The service does so every hour.

    Without CHAIN: of every chain. Resumes where it stopped.

    Example: assay compact ethereum
    """
    with loading():
        from assay.commands.runs.run_upkeep import run_compact  # noqa: PLC0415 - not for help and completion

    run_compact(chain)


@click.command("backup")
@click.argument("folder", type=click.Path(path_type=Path))
def backup_command(folder: Path) -> None:
    """Copy the store to a new FOLDER, also while the service runs.

    Serving state, final events and ledger are of one moment. Final events are hard-linked if FOLDER
    is on the same file system.

    Example: assay backup /backups/assay-2026-11-23
    """
    with loading():
        from assay.commands.runs.run_upkeep import run_backup  # noqa: PLC0415 - not for help and completion

    run_backup(folder)


@click.command("restore")
@click.argument("folder", type=click.Path(path_type=Path))
def restore_command(folder: Path) -> None:
    """Restore the back-up in FOLDER to the store that ASSAY_STORE names.

    The store must not exist yet: nothing is overwritten.

    Example: ASSAY_STORE=/var/lib/assay/assay.duckdb assay restore /backups/assay-2026-11-23
    """
    with loading():
        from assay.commands.runs.run_upkeep import run_restore  # noqa: PLC0415 - not for help and completion

    run_restore(folder)


@click.command("move-store")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--without-lake", is_flag=True, help="Leave the lake at its place.")
def move_store_command(path: Path, without_lake: bool) -> None:
    """Move the store in files at PATH to the PostgreSQL database of ASSAY_STORE.

    The database has to be empty. Stop the service first. After an interruption the same command
    resumes; the files are not changed.

    Example: ASSAY_STORE=postgresql://... ASSAY_LAKE=lake assay move-store assay.duckdb
    """
    with loading():
        from assay.commands.runs.run_upkeep import run_move_store  # noqa: PLC0415 - not for help and completion

    run_move_store(path, with_lake=not without_lake)
