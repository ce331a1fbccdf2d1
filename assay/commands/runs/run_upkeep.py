"""Work of `assay backup`, `restore`, `compact` and `move-store`."""

import os
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import click

from assay.commands.runs.nodes import choose_chain
from assay.commands.runs.progress import progress_bars
from config.facts.load_chains import load_chains
from config.load_settings import load_settings
from config.store_address import STORE_VARIABLE, FileAddress, PostgresAddress, StoreAddress
from core.errors import ConfigError, MissingExtraError
from sql.backup.make_backup import Progress, make_backup
from sql.backup.manifest import Manifest
from sql.backup.restore import restore_backup
from sql.engine.store_files import StoreFiles
from sql.lake.compaction import CompactionProgress, CompactionRequest, bounds_of
from sql.lake.compaction_runner import run_compaction


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


def run_compact(name: str | None) -> None:
    """Compact the chain of that name; None: every chain. Needs no node.

    Raises BadParameter, ConfigError, StoreError.
    """
    settings = load_settings(os.environ)
    known = load_chains(settings.overlay)
    chains = known if name is None else (choose_chain(known, name),)
    request = CompactionRequest(
        chains=tuple(bounds_of(each.id, settings.indexer) for each in chains), is_forced=True
    )
    with progress_bars() as show:

        def report(progress: CompactionProgress) -> None:
            show("moving final rows to the lake", progress.done, progress.total)

        result = run_compaction(settings.store, request, progress=report, niceness=0)
    if result is None:
        return
    click.echo(f"{result.moved_rows} rows moved, {result.merged_files} files merged")
    for chain_id, to_block in sorted(result.dropped.items()):
        click.echo(f"chain {chain_id}: transfers up to block {to_block} dropped")


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
