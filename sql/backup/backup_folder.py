"""Folder of a back-up, under a temporary name until all of it is on disk."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from core.errors import StoreError
from sql.backup.manifest import MANIFEST, Manifest
from sql.lake.durable import put_on_disk

_UNFINISHED = ".unfinished"


@contextmanager
def unfinished_folder(into: Path) -> Iterator[Path]:
    """Yield a temporary folder for the files of the back-up `into`.

    An interrupted back-up is removed. Raises StoreError if `into` exists, and for an OSError in the
    block.
    """
    if into.exists():
        raise StoreError(path=str(into), reason="exists already; name a new folder")
    unfinished = into.with_name(into.name + _UNFINISHED)
    try:
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True, mode=0o700)
        yield unfinished
    except OSError as error:
        raise StoreError(path=str(into), reason=str(error)) from error


def finish_folder(unfinished: Path, into: Path, manifest: Manifest) -> None:
    """Write the manifest, sync all files to disk, and rename the folder. Raises OSError."""
    written = unfinished / MANIFEST
    written.write_bytes(msgspec.json.format(msgspec.json.encode(manifest)))
    put_on_disk((written, *(unfinished / file.path for file in manifest.files)))
    unfinished.rename(into)
    put_on_disk((into,))
