"""The work of `assay backup` and `assay restore`."""

import os
import time
from datetime import UTC, datetime
from pathlib import Path

import click

from commands.progress import progress_bars
from config.settings import load_settings
from config.store_address import need_files
from sql.backup.make_backup import make_backup
from sql.backup.restore import restore_backup
from sql.store_files import StoreFiles


def run_backup(folder: Path) -> None:
    """Back the store up. Raises ConfigError, StoreError."""
    files = need_files(load_settings(os.environ).store, what="assay backup")
    with progress_bars() as show:
        manifest = make_backup(
            StoreFiles(prefix=files.path),
            files.ledger,
            folder,
            now_s=time.time(),
            progress=lambda what, done, total: show(f"copying the {what}", done, total),
        )
    click.echo(f"{folder}: {len(manifest.files)} files, {manifest.bytes / 1e6:.1f} MB")


def run_restore(folder: Path) -> None:
    """Put a back-up back. Raises ConfigError, StoreError."""
    files = need_files(load_settings(os.environ).store, what="assay restore")
    with progress_bars() as show:
        manifest = restore_backup(
            folder,
            StoreFiles(prefix=files.path),
            files.ledger,
            progress=lambda done, total: show("restoring", done, total),
        )
    made_at = datetime.fromtimestamp(manifest.made_at_s, tz=UTC)
    click.echo(f"{files}: as of {made_at:%Y-%m-%d %H:%M:%S} UTC")
