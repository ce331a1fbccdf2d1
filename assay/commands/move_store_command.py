"""assay move-store: a store in files, moved to PostgreSQL."""

from pathlib import Path

import click

from assay.commands.loading import loading


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
        from assay.commands.run_move_store import run_move_store  # noqa: PLC0415 - not for help

    run_move_store(path, with_lake=not without_lake)
