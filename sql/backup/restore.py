"""Restoring of a store from a back-up."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from core.errors import StoreError
from sql.backup.file_copies import link_or_copy
from sql.backup.manifest import (
    LAKE,
    LAKE_DATA,
    LEDGER,
    SERVING,
    Manifest,
    read_manifest,
)
from sql.engine.store_files import StoreFiles
from sql.lake.durable import put_on_disk

_UNFINISHED = ".restoring"
_AT_ONCE = 1 << 20


def restore_backup(
    folder: Path,
    files: StoreFiles,
    ledger: Path,
    *,
    progress: Callable[[int, int], None] = lambda *_: None,
) -> Manifest:
    """Create a store from a back-up; `progress` receives copied and total bytes.

    Overwrites nothing. The serving state is restored last, so an incomplete store cannot be opened.
    The back-up is not changed. Raises StoreError.
    """
    manifest = read_manifest(folder)
    if manifest.database is not None:
        reason = "is of a store in PostgreSQL; name an empty database by ASSAY_STORE"
        raise StoreError(path=str(folder), reason=reason)
    places = {LAKE: files.lake, LEDGER: ledger, SERVING: files.serving}
    for path in (*places.values(), files.lake_data):
        if path.exists():
            reason = "exists already; restore to another ASSAY_STORE, or move it away"
            raise StoreError(path=str(path), reason=reason)
    done = 0
    try:
        files.folder.mkdir(parents=True, exist_ok=True)
        for file in sorted(manifest.files, key=lambda file: _order(file.path)):
            if file.path in places:
                _copy(folder / file.path, places[file.path])
            else:
                inside = Path(file.path).relative_to(LAKE_DATA)
                placed = files.lake_data / inside
                link_or_copy(folder / file.path, placed)
                put_on_disk((placed,))
            done += file.bytes
            progress(done, manifest.bytes)
    except (OSError, ValueError) as error:
        raise StoreError(path=str(files.prefix), reason=str(error)) from error
    return manifest


def _order(path: str) -> tuple[int, str]:
    last = (LAKE, LEDGER, SERVING)
    return (last.index(path) + 1 if path in last else 0, path)


def _copy(source: Path, target: Path) -> None:
    """Copy a SQLite file, for its owner only; it appears once it is complete."""
    unfinished = target.with_name(target.name + _UNFINISHED)
    descriptor = os.open(unfinished, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600)
    with source.open("rb") as reader, os.fdopen(descriptor, "wb") as writer:
        shutil.copyfileobj(reader, writer, _AT_ONCE)
    put_on_disk((unfinished,))
    unfinished.replace(target)
    put_on_disk((target,))
