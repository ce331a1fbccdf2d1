"""Copies of a lake's Parquet files, from and to a folder or an object store.

A lake's files never change, so a file with the same content is the same.
"""

import os
import shutil
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

import duckdb

from core.errors import StoreError
from sql.backup.manifest import sha256_of
from sql.lake.durable import put_on_disk
from sql.lake.extensions import sql_text
from sql.lake.lake_file import connect_duckdb
from sql.lake.lake_place import LakePlace

_UNFINISHED: Final = ".unfinished"
_MEMORY_MB: Final = 1_000
"""A file of about 160 MB may be in memory twice."""


def link_or_copy(source: Path, target: Path) -> None:
    """Link or copy a file that never changes. Raises OSError."""
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(source, target)
    except OSError:  # another file system, or one without links
        shutil.copyfile(source, target)


class LakeCopies(ABC):
    """The files of one lake by their names below its place, with slashes."""

    @abstractmethod
    def list_files(self) -> set[str]:
        """Return the names of all Parquet files. Raises StoreError, OSError."""

    @abstractmethod
    def fetch_file(self, name: str, into: Path) -> None:
        """Copy a file to a new path. Raises StoreError, OSError."""

    @abstractmethod
    def put_file(self, source: Path, name: str) -> None:
        """Copy a file to the lake's place, and sync it to disk.

        A file with the same content stays. Raises StoreError if there is another one, and OSError.
        """


class FolderCopies(LakeCopies):
    """Files of a lake in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def list_files(self) -> set[str]:
        """Return the names of all Parquet files."""
        found = self._folder.rglob("*.parquet")
        return {path.relative_to(self._folder).as_posix() for path in found}

    def fetch_file(self, name: str, into: Path) -> None:
        """Link a file, or copy it. Raises OSError."""
        link_or_copy(self._folder / name, into)

    def put_file(self, source: Path, name: str) -> None:
        """Link a file, or copy it; it gets its name once it is complete."""
        target = self._folder / name
        if target.exists():
            if sha256_of(target) != sha256_of(source):
                raise StoreError(path=str(target), reason="another file has this name")
            return
        unfinished = target.with_name(target.name + _UNFINISHED)
        unfinished.unlink(missing_ok=True)
        link_or_copy(source, unfinished)
        put_on_disk((unfinished,))
        unfinished.replace(target)
        put_on_disk((target,))


class BucketCopies(LakeCopies):
    """Files of a lake in an object store, through DuckDB, which has the keys."""

    def __init__(self, place: LakePlace, connection: duckdb.DuckDBPyConnection) -> None:
        self._place = place
        self._connection = connection
        self._there = self.list_files()

    def list_files(self) -> set[str]:
        """Return the names of all Parquet files."""
        folder = self._place.data_folder()
        pattern = sql_text(f"{folder}**/*.parquet")
        rows = self._run(f"select file from glob({pattern})")  # noqa: S608 - a literal
        return {str(file).removeprefix(folder) for (file,) in rows}

    def fetch_file(self, name: str, into: Path) -> None:
        """Download a file."""
        into.parent.mkdir(parents=True, exist_ok=True)
        self._copy(self._url(name), str(into))

    def put_file(self, source: Path, name: str) -> None:
        """Upload a file; an object appears once it is complete."""
        url = self._url(name)
        if name in self._there:
            query = f"select sha256(content) from read_blob({sql_text(url)})"  # noqa: S608 - a literal
            if self._run(query) != [(sha256_of(source),)]:
                raise StoreError(path=url, reason="another object has this name")
            return
        self._copy(str(source), url)

    def _copy(self, source: str, target: str) -> None:
        select = f"select content from read_blob({sql_text(source)})"  # noqa: S608 - a literal
        self._run(f"copy ({select}) to {sql_text(target)} (format blob)")

    def _url(self, name: str) -> str:
        return f"{self._place.data_folder()}{name}"

    def _run(self, statement: str) -> list[tuple[object, ...]]:
        try:
            return self._connection.execute(statement).fetchall()
        except duckdb.Error as error:
            # The original message may repeat a key.
            reason = self._place.masked(str(error))
            raise StoreError(path=self._place.name, reason=reason) from None


@contextmanager
def open_copies(place: LakePlace) -> Iterator[LakeCopies]:
    """Yield the files of a lake. Raises StoreError."""
    if "://" not in place.data_folder():
        yield FolderCopies(Path(place.data_folder()))
        return
    with closing(connect_duckdb(memory_mb=_MEMORY_MB, spill=None, place=place)) as connection:
        yield BucketCopies(place, connection)
