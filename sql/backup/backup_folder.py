"""The folder of a back-up: under another name until all of it is on disk."""

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
    """Yield a new folder for the files of a back-up that is to be `into`.

    Of a back-up that was ended nothing is left. Raises StoreError where `into` is there already,
    and for an OSError in the block.
    """
    if into.exists():
        raise StoreError(path=str(into), reason="is there already; name a folder that is not")
    unfinished = into.with_name(into.name + _UNFINISHED)
    try:
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True, mode=0o700)
        yield unfinished
    except OSError as error:
        raise StoreError(path=str(into), reason=str(error)) from error


def finish_folder(unfinished: Path, into: Path, manifest: Manifest) -> None:
    """Write the manifest, put all files on disk, give the folder its name. Raises OSError."""
    written = unfinished / MANIFEST
    written.write_bytes(msgspec.json.format(msgspec.json.encode(manifest)))
    put_on_disk((written, *(unfinished / file.path for file in manifest.files)))
    unfinished.rename(into)
    put_on_disk((into,))
