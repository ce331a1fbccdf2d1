"""Manifest of a back-up: written last, so a folder without it is no back-up."""

import hashlib
from pathlib import Path

import msgspec

from core.errors import StoreError

MANIFEST = "manifest.json"
LAYOUT = 1
"""Version of the layout of a store in files."""

DATABASE_LAYOUT = 2
"""Version of the layout of a store in PostgreSQL."""

SERVING, LAKE, LAKE_DATA, LEDGER = "serving.sqlite", "lake.sqlite", "lake", "ledger.sqlite"
"""Names in a back-up."""

DUMP = "database.dump"
"""Name of pg_dump's output, in its custom format."""

_AT_ONCE = 1 << 20


class BackedUpFile(msgspec.Struct, frozen=True, kw_only=True):
    """One file of a back-up."""

    path: str
    """Path below the back-up's folder, with slashes."""
    bytes: int
    sha256: str | None = None
    """None: not computed, as for Parquet files of a store in files, which may be links."""


class DumpedDatabase(msgspec.Struct, frozen=True, kw_only=True):
    """The database of a back-up."""

    schema: str
    """Schema of the tables of serving state and ledger."""
    lake_schema: str | None
    """Schema of the lake's catalogue. None: there was no lake."""
    server: str
    """Version of the server."""


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """A complete back-up."""

    layout: int
    made_at_s: int
    """Unix seconds."""
    files: tuple[BackedUpFile, ...]
    database: DumpedDatabase | None = None
    """None: the store is in files."""

    @property
    def bytes(self) -> int:
        """Return the total size of all files."""
        return sum(file.bytes for file in self.files)


def sha256_of(path: Path) -> str:
    """Return the digest of a file's content in hex. Raises OSError."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while part := file.read(_AT_ONCE):
            digest.update(part)
    return digest.hexdigest()


def read_manifest(folder: Path) -> Manifest:
    """Return the manifest of a back-up after a check of its files' presence and sizes.

    Raises StoreError if a file is missing, truncated or changed.
    """
    try:
        manifest = msgspec.json.decode((folder / MANIFEST).read_bytes(), type=Manifest)
    except FileNotFoundError as error:
        raise StoreError(path=str(folder), reason="is no complete back-up") from error
    except (OSError, msgspec.MsgspecError) as error:
        raise StoreError(path=str(folder / MANIFEST), reason=str(error)) from error
    known = LAYOUT if manifest.database is None else DATABASE_LAYOUT
    if manifest.layout != known:
        reason = f"has layout {manifest.layout}; this release knows {known}"
        raise StoreError(path=str(folder), reason=reason)
    for file in manifest.files:
        _check(folder, file)
    return manifest


def _check(folder: Path, file: BackedUpFile) -> None:
    path = folder / file.path
    if not path.resolve().is_relative_to(folder.resolve()):
        raise StoreError(path=str(path), reason="is not in the back-up")
    try:
        found = path.stat().st_size
        is_same = found == file.bytes and file.sha256 in (None, sha256_of(path))
    except OSError as error:
        raise StoreError(path=str(path), reason=str(error)) from error
    if not is_same:
        reason = f"is not what was backed up ({found} bytes now, {file.bytes} then)"
        raise StoreError(path=str(path), reason=reason)
