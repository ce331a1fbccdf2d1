"""Check of a lake's Parquet files against its catalogue: present, whole, and with a footer.

For a lake in a folder of this machine.
"""

import os
import random
import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Final

import msgspec

from core.errors import StoreError
from sql.engine.store_files import StoreFiles

_MAGIC: Final = b"PAR1"
_END_BYTES: Final = 8
"""Length of the footer, 4 bytes, and the magic."""

SAMPLE: Final = 64
"""Footers that a start reads: the newest half of them, and others by chance."""

_LISTED: Final = (
    "select path, file_size_bytes from ducklake_data_file where end_snapshot is null "
    "order by data_file_id desc"
)


class ListedFile(msgspec.Struct, frozen=True, kw_only=True):
    """One Parquet file as the catalogue has it."""

    name: str
    bytes: int


def check_lake_files(files: StoreFiles, *, sample: int | None = None) -> int:
    """Check the files of a lake; return how many there are.

    `sample`: number of footers to read. None: all. Presence and size of every file are checked in
    any case. Raises StoreError, which names the first bad file.
    """
    if not files.lake.exists():
        return 0
    listed = _list_files(files.lake)
    found = {path.name: path for path in files.lake_data.rglob("*.parquet")}
    for one in listed:
        _check_size(one, found, files)
    for one in _chosen(listed, sample):
        _check_footer(found[one.name])
    return len(listed)


def _chosen(listed: list[ListedFile], sample: int | None) -> Iterable[ListedFile]:
    if sample is None or len(listed) <= sample:
        return listed
    newest = sample // 2
    others = random.sample(listed[newest:], sample - newest)
    return [*listed[:newest], *others]


def _list_files(catalogue: Path) -> list[ListedFile]:
    """Return the files of the newest snapshot, the newest first."""
    try:
        with closing(sqlite3.connect(f"{catalogue.absolute().as_uri()}?mode=ro", uri=True)) as file:
            rows = file.execute(_LISTED).fetchall()
    except sqlite3.Error as error:
        raise StoreError(path=str(catalogue), reason=str(error)) from error
    return [ListedFile(name=Path(path).name, bytes=int(size)) for path, size in rows]


def _check_size(one: ListedFile, found: Mapping[str, Path], files: StoreFiles) -> None:
    path = found.get(one.name)
    if path is None:
        reason = "is missing, although the lake's catalogue has it; restore a back-up"
        raise StoreError(path=str(files.lake_data / one.name), reason=reason)
    size = path.stat().st_size
    if size != one.bytes:
        reason = f"has {size} bytes instead of {one.bytes}; restore a back-up"
        raise StoreError(path=str(path), reason=reason)


def _check_footer(path: Path) -> None:
    """Check the magic at both ends and the length of the footer between."""
    try:
        with path.open("rb") as file:
            begin = file.read(len(_MAGIC))
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _END_BYTES))
            end = file.read()
    except OSError as error:
        raise StoreError(path=str(path), reason=str(error)) from error
    footer = int.from_bytes(end[:4], "little")
    if begin != _MAGIC or end[4:] != _MAGIC or footer > size - _END_BYTES - len(_MAGIC):
        raise StoreError(path=str(path), reason="is no whole Parquet file; restore a back-up")
