"""Back-up of a store that is in use: serving state, lake and ledger of one moment.

Compaction waits for the whole back-up, because it deletes Parquet files. Back-fills wait while the
two SQLite files are copied, so that lake and serving state agree. The follower and the API go on.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

from core.errors import StoreError
from sql.backup.backup_folder import finish_folder, unfinished_folder
from sql.backup.file_copies import link_or_copy
from sql.backup.manifest import (
    LAKE,
    LAKE_DATA,
    LAYOUT,
    LEDGER,
    SERVING,
    BackedUpFile,
    Manifest,
    sha256_of,
)
from sql.backup.sqlite_copy import copy_sqlite
from sql.engine.store_files import StoreFiles
from sql.engine.store_marks import check_files_are_there
from sql.lake.find_place import place_of, without_compaction
from sql.lake.lake_files import check_lake_files

COMPACTION_WITHIN_S = 600.0
"""Seconds to wait for a round of compaction."""

Progress = Callable[[str, int, int], None]
"""Receives the current part, and its copied and total bytes."""


def make_backup(
    files: StoreFiles,
    ledger: Path,
    into: Path,
    *,
    now_s: float,
    progress: Progress = lambda *_: None,
    within_s: float = COMPACTION_WITHIN_S,
) -> Manifest:
    """Copy a store to a new folder; the folder appears once the back-up is complete.

    Parquet files, which never change, are linked if the folder is on the same file system.
    `within_s`: seconds to wait for a running compaction. Raises StoreError, also for a store that
    lacks a file or has a damaged one.
    """
    if not files.serving.exists():
        raise StoreError(path=str(files.serving), reason="there is no such store")
    check_files_are_there(files, ledger)
    with unfinished_folder(into) as unfinished:
        with without_compaction(files, within_s=within_s):
            _copy_all(files, ledger, unfinished, progress)
        manifest = Manifest(layout=LAYOUT, made_at_s=int(now_s), files=tuple(_listed(unfinished)))
        finish_folder(unfinished, into, manifest)
    return manifest


def _copy_all(files: StoreFiles, ledger: Path, into: Path, progress: Progress) -> None:
    parquet: list[Path] = []
    with place_of(files).alone():
        if files.lake.exists():
            copy_sqlite(files.lake, into / LAKE, progress=_named(progress, "lake's catalogue"))
            check_lake_files(files)
            parquet = sorted(files.lake_data.rglob("*.parquet"))
        copy_sqlite(files.serving, into / SERVING, progress=_named(progress, "serving state"))
    if ledger.exists():
        copy_sqlite(ledger, into / LEDGER, progress=_named(progress, "ledger"))
    total, done = sum(path.stat().st_size for path in parquet), 0
    for path in parquet:
        link_or_copy(path, into / LAKE_DATA / path.relative_to(files.lake_data))
        done += path.stat().st_size
        progress("final events", done, total)


def _named(progress: Progress, what: str) -> Callable[[int, int], None]:
    return lambda done, total: progress(what, done, total)


def _listed(folder: Path) -> Iterator[BackedUpFile]:
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield BackedUpFile(
                path=path.relative_to(folder).as_posix(),
                bytes=path.stat().st_size,
                sha256=sha256_of(path) if path.suffix == ".sqlite" else None,
            )
