"""The work of `assay move-store`."""

import os
from pathlib import Path

import click

from assay.commands.progress import progress_bars
from config.settings import load_settings
from config.store_address import STORE_VARIABLE, FileAddress, PostgresAddress
from core.errors import ConfigError, MissingExtraError


def run_move_store(path: Path, *, with_lake: bool) -> None:
    """Move the store at a path to the database of the settings. Raises ConfigError, StoreError,
    MissingExtraError."""
    target = load_settings(os.environ).store
    if not isinstance(target, PostgresAddress):
        reason = "names no PostgreSQL database to move the store to"
        raise ConfigError(source="environment", key=STORE_VARIABLE, reason=reason)
    try:
        from sql.move.move_store import move_store  # noqa: PLC0415 - of an extra
    except ImportError as error:
        raise MissingExtraError(extra="fleet", package="psycopg") from error
    with progress_bars() as show:
        moved = move_store(FileAddress(path), target, show, with_lake=with_lake)
    click.echo(f"{target}: {moved.rows} rows of {moved.tables} tables, counts and sums agree")
    if moved.lake.files:
        lake = f"{moved.lake.rows} rows in {moved.lake.files} files"
        click.echo(f"{target.lake}: {lake}, counts and sums agree")
