"""The work of `assay backup` and `assay restore`."""

import os
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import click

from assay.commands.progress import progress_bars
from config.settings import load_settings
from config.store_address import PostgresAddress, StoreAddress
from core.errors import MissingExtraError
from sql.backup.make_backup import Progress, make_backup
from sql.backup.manifest import Manifest
from sql.backup.restore import restore_backup
from sql.engine.store_files import StoreFiles


def run_backup(folder: Path) -> None:
    """Back the store up. Raises ConfigError, StoreError, MissingExtraError."""
    address = load_settings(os.environ).store
    with progress_bars() as show:
        manifest = _back_up(
            address, folder, lambda what, done, total: show(f"copying the {what}", done, total)
        )
    click.echo(f"{folder}: {len(manifest.files)} files, {manifest.bytes / 1e6:.1f} MB")


def run_restore(folder: Path) -> None:
    """Put a back-up back. Raises ConfigError, StoreError, MissingExtraError."""
    address = load_settings(os.environ).store
    with progress_bars() as show:
        manifest = _restore(address, folder, lambda done, total: show("restoring", done, total))
    made_at = datetime.fromtimestamp(manifest.made_at_s, tz=UTC)
    click.echo(f"{address}: as of {made_at:%Y-%m-%d %H:%M:%S} UTC")


def _back_up(address: StoreAddress, folder: Path, progress: Progress) -> Manifest:
    now_s = time.time()
    if isinstance(address, PostgresAddress):
        try:
            from sql.backup.postgres.dump_store import dump_store  # noqa: PLC0415 - of an extra
        except ImportError as error:
            raise MissingExtraError(extra="fleet", package="psycopg") from error
        return dump_store(address, folder, now_s=now_s, progress=progress)
    files = StoreFiles(prefix=address.path)
    return make_backup(files, address.ledger, folder, now_s=now_s, progress=progress)


def _restore(address: StoreAddress, folder: Path, progress: Callable[[int, int], None]) -> Manifest:
    if isinstance(address, PostgresAddress):
        try:
            from sql.backup.postgres.load_dump import load_dump  # noqa: PLC0415 - of an extra
        except ImportError as error:
            raise MissingExtraError(extra="fleet", package="psycopg") from error
        return load_dump(folder, address, progress=progress)
    files = StoreFiles(prefix=address.path)
    return restore_backup(folder, files, address.ledger, progress=progress)
