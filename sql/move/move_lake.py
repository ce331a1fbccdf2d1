"""Moves the lake of a store in files: Parquet files as they are, and the catalogue to PostgreSQL.

Stopped anywhere, the next run goes on: a file with the same content stays, and the catalogue is
made anew. The lake that is moved stays as it is; a copy of its catalogue is worked on.
"""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import msgspec

from config.store_address import FileAddress, PostgresAddress
from core.errors import StoreError
from sql.backup.file_copies import opened_copies
from sql.backup.sqlite_copy import copy_sqlite
from sql.engine.fleet_database import make_local_folder
from sql.engine.store_files import StoreFiles
from sql.lake.find_place import place_of
from sql.lake.lake_file import Lake
from sql.lake.lake_place import FilePlace
from sql.lake.postgres.lake_in_postgres import DatabasePlace
from sql.move.lake_sums import check_lakes
from sql.move.staged_catalogue import StagedCatalogue, write_inlined
from sql.move.target_catalogue import fill_catalogue

ShowMove = Callable[[str, int, int], None]
"""Receives what is being done, and how much of how much of it is done."""

_STAGED: Final = "move"


class LakeMove(msgspec.Struct, frozen=True, kw_only=True):
    """What was moved."""

    files: int
    """Parquet files."""
    rows: int
    """Of all tables."""


NOTHING_MOVED: Final = LakeMove(files=0, rows=0)


def need_empty_place(source: FileAddress, target: PostgresAddress) -> None:
    """Check that there are no files where a lake is to be moved, if there is one.

    They would be deleted there as nobody's. Raises StoreError.
    """
    if not FilePlace(source).has_lake():
        return
    goal = DatabasePlace(target)
    with opened_copies(goal) as copies:
        others = copies.list_files()
    if others:
        reason = f"has files of another lake ({min(others)}); name an empty place"
        raise StoreError(path=goal.data_folder(), reason=reason)


def move_lake(source: FileAddress, target: PostgresAddress, show: ShowMove) -> LakeMove:
    """Bring the lake's files to the target's place, and its catalogue to the database.

    The database has the serving state already, and does not open as a store before its move ends.
    Nobody appends to the lake or compacts it meanwhile. Raises StoreError, also where both lakes
    differ in the end.
    """
    place = FilePlace(source)
    if not place.has_lake():
        return NOTHING_MOVED
    Lake.open(place, sees_serving=False).close()  # brings an older one to the newest schema
    goal = DatabasePlace(target)
    goal.prepare()
    with place.compacting(), place.alone(), _staged(place, target) as staged:
        files = _put_files(place, goal, staged, show)
        show("making the catalogue", 0, 1)
        fill_catalogue(goal, target.url.value, staged.path)
        show("making the catalogue", 1, 1)
        Lake.open(place_of(target), sees_serving=False).close()  # fences it, and compares ids
        rows = check_lakes(place, goal, show)
    return LakeMove(files=files, rows=rows)


@contextmanager
def _staged(place: FilePlace, target: PostgresAddress) -> Iterator[StagedCatalogue]:
    """Yield a copy of the catalogue all of whose rows are in files."""
    make_local_folder(target)
    folder = StoreFiles(prefix=target.prefix).folder / _STAGED
    shutil.rmtree(folder, ignore_errors=True)  # of a run that was ended
    try:
        folder.mkdir()
        staged = StagedCatalogue(path=folder / "lake.sqlite", data=folder / "data")
        copy_sqlite(place.files.lake, staged.path)
        staged.data.mkdir()
        write_inlined(staged)
        yield staged
    except OSError as error:
        raise StoreError(path=place.name, reason=str(error)) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _put_files(
    place: FilePlace,
    goal: DatabasePlace,
    staged: StagedCatalogue,
    show: ShowMove,
) -> int:
    files = staged.list_files()
    total, done = sum(file.size for file in files), 0
    with opened_copies(goal) as copies:
        for file in files:
            path = _path_of(file.name, staged.data, place.files.lake_data)
            if path.stat().st_size != file.size:
                raise StoreError(path=str(path), reason=f"has not the {file.size} bytes it had")
            copies.put_file(path, file.name)
            done += file.size
            show("moving the lake's files", done, total)
    return len(files)


def _path_of(name: str, *folders: Path) -> Path:
    """Return where a file is. Raises StoreError where it is in none of the folders."""
    for folder in folders:
        path = (folder / name).resolve()
        if path.is_relative_to(folder.resolve()) and path.exists():
            return path
    raise StoreError(path=name, reason="the lake's catalogue names this file, and it is not there")
