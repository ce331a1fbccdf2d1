"""Export of views to Parquet, for other tools and for archives.

Final events are exported in runs: each has the rows of further batches of the lake, in a folder
that appears complete. All other views are rewritten each time, one file each. An interrupted
process leaves only an unfinished folder, which the next one removes.
"""

import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

import duckdb
import msgspec

from core.errors import StoreError
from sql.engine.process_lock import hold_lock
from sql.lake.durable import put_on_disk
from sql.lake.extensions import sql_text
from sql.lake.find_place import LakeOwner, place_of
from sql.lake.lake_file import connect_duckdb
from sql.lake.lake_place import LakePlace
from sql.lake.open_store import attach_store, load_views

FORMAT: Final = 1
_NAME: Final = "manifest.json"
_RUN: Final = "run="
_DIGITS: Final = 6

BatchRange = tuple[int, int]
"""First and last number of batches of the lake, both included."""


class ExportedFile(msgspec.Struct, frozen=True, kw_only=True):
    """One Parquet file."""

    path: str
    """Path below the folder of the run."""
    bytes: int


class ExportManifest(msgspec.Struct, frozen=True, kw_only=True):
    """One run of one view, with the batches of all runs up to it."""

    format: int = FORMAT
    run: int
    """Number of the run, from 1."""
    store_id: str | None
    """Id of the exported store. None: an earlier release wrote the run."""
    made_at_s: int
    rows: int
    files: tuple[ExportedFile, ...]
    batches: tuple[BatchRange, ...]
    """Batches of the lake that are complete in this run and those before it."""


def run_folder(view: Path, run: int) -> Path:
    """Return the folder of a run."""
    return view / f"{_RUN}{run:0{_DIGITS}}"


def read_last_manifest(view: Path, *, store_id: str | None) -> ExportManifest | None:
    """Return the manifest of the last run of a view. None: there was none.

    Raises StoreError if it cannot be read, or belongs to another store.
    """
    runs = sorted(view.glob(f"{_RUN}*"))
    if not runs:
        return None
    path = runs[-1] / _NAME
    try:
        manifest = msgspec.json.decode(path.read_bytes(), type=ExportManifest)
    except (OSError, msgspec.DecodeError) as error:
        raise StoreError(path=str(path), reason=str(error)) from error
    if manifest.format != FORMAT:
        reason = f"another release wrote it (format {manifest.format}; this one knows {FORMAT})"
        raise StoreError(path=str(path), reason=reason)
    if manifest.store_id != store_id:
        reason = f"it is an export of store {manifest.store_id}; export {store_id} somewhere else"
        raise StoreError(path=str(path), reason=reason)
    return manifest


def write_manifest(folder: Path, manifest: ExportManifest) -> Path:
    """Write the manifest of a run into its folder; return its path. Raises OSError."""
    path = folder / _NAME
    path.write_bytes(msgspec.json.format(msgspec.json.encode(manifest)))
    return path


def to_ranges(batches: Iterable[int]) -> tuple[BatchRange, ...]:
    """Return the ranges of numbers, in order."""
    ranges: list[BatchRange] = []
    for batch in sorted(set(batches)):
        if ranges and ranges[-1][1] == batch - 1:
            ranges[-1] = (ranges[-1][0], batch)
        else:
            ranges.append((batch, batch))
    return tuple(ranges)


def from_ranges(ranges: Iterable[BatchRange]) -> set[int]:
    """Return the numbers in ranges."""
    return {batch for first, last in ranges for batch in range(first, last + 1)}


EVENT_VIEWS: Final = {"v_transfers": "symbol, amount", "v_trades": ""}
"""Views of final events, with the columns left out because later reports change them."""

ROWS_AT_ONCE: Final = 5_000_000
"""Rows of one run, unless a single batch has more."""

BLOCKS_IN_A_PART: Final = 1_000_000

_MEMORY_MB: Final = 500
_COPY = "format parquet, compression zstd"

TellRows = Callable[[str, int], None]
"""Receives a view and the number of its written rows."""


class Exported(msgspec.Struct, frozen=True, kw_only=True):
    """Rows that one call wrote, by view."""

    rows: dict[str, int]


class _Batch(msgspec.Struct, frozen=True, kw_only=True):
    batch: int
    rows: int


def export_views(
    owner: LakeOwner,
    target: Path,
    views: Sequence[str],
    *,
    rows_at_once: int = ROWS_AT_ONCE,
    report: TellRows = lambda _, __: None,
) -> Exported:
    """Write the missing rows of these views to `target`. Blocks.

    Raises StoreError for an unknown view, an export of another store, a running export, and files
    that cannot be read or written.
    """
    place = place_of(owner)
    for view in views:
        if view not in load_views():
            raise StoreError(path=view, reason="there is no such view")
    rows: dict[str, int] = {}
    lock = target / ".lock"
    with (
        hold_lock(lock, store=target, doing="exports there"),
        _translated(place, target),
        _opened(place, target) as connection,
    ):
        store_id = place.read_serving_id()
        for view in views:
            made = (
                _export_events(connection, target / view, store_id, rows_at_once)
                if view in EVENT_VIEWS
                else iter([_export_whole(connection, target, view)])
            )
            rows[view] = 0
            for written in made:
                rows[view] += written
                report(view, rows[view])
    return Exported(rows=rows)


def _export_events(
    connection: duckdb.DuckDBPyConnection, folder: Path, store_id: str | None, at_once: int
) -> Iterator[int]:
    """Export the view of the folder's name until no batch is left; yield the rows of each run."""
    while True:
        last = read_last_manifest(folder, store_id=store_id)
        done = set() if last is None else from_ranges(last.batches)
        chosen = _choose_batches(connection, folder.name, done, at_once)
        if not chosen:
            return
        run = 1 if last is None else last.run + 1
        unfinished = _empty_folder(folder / ".unfinished")
        rows = _copy_events(connection, folder.name, chosen, unfinished)
        manifest = ExportManifest(
            run=run,
            store_id=store_id,
            made_at_s=int(time.time()),
            rows=rows,
            files=tuple(_files_in(unfinished)),
            batches=to_ranges(done | set(chosen)),
        )
        written = [write_manifest(unfinished, manifest)]
        put_on_disk([*(unfinished / file.path for file in manifest.files), *written])
        unfinished.rename(run_folder(folder, run))
        put_on_disk([folder])
        yield rows


def _choose_batches(
    connection: duckdb.DuckDBPyConnection, view: str, done: set[int], at_once: int
) -> list[int]:
    """Return the numbers of batches in the lake that are not yet exported, oldest first."""
    count = "transfers" if view == "v_transfers" else "trades"
    bulk_rows = "rows" if view == "v_transfers" else "0"
    found = connection.execute(
        f"select batch, {count}, abs(batch) as age from lake.moved union all"  # noqa: S608 - ours
        f" select -batch, {bulk_rows}, abs(batch) as age from lake.bulk order by age, batch"
    ).fetchall()
    chosen: list[int] = []
    left = at_once
    for number, rows, _ in found:
        if number in done:
            continue
        left -= rows
        if chosen and left < 0:
            break
        chosen.append(number)
    return chosen


def _copy_events(
    connection: duckdb.DuckDBPyConnection, view: str, batches: list[int], folder: Path
) -> int:
    """Write the rows of some batches, by chain and range of blocks; return their number."""
    left_out = EVENT_VIEWS[view]
    columns = f"* exclude ({left_out})" if left_out else "*"
    connection.execute(
        "create or replace temp table chosen as select unnest($1::integer[]) as batch", [batches]
    )
    source = (
        f"select {columns}, block_number // {BLOCKS_IN_A_PART} as million from {view}"  # noqa: S608 - fixed names
        " where batch in (select batch from chosen)"
    )
    parts = f"{_COPY}, partition_by (chain, million)"
    return _copied(connection, f"copy ({source}) to {sql_text(folder)} ({parts})")


def _export_whole(connection: duckdb.DuckDBPyConnection, target: Path, view: str) -> int:
    """Write the current rows of a view, replacing its file; return their number."""
    unfinished = target / f".{view}.unfinished"
    rows = _copied(connection, f"copy (from {view}) to {sql_text(unfinished)} ({_COPY})")
    put_on_disk([unfinished])
    unfinished.replace(target / f"{view}.parquet")
    put_on_disk([target])
    return rows


def _copied(connection: duckdb.DuckDBPyConnection, statement: str) -> int:
    (rows,) = connection.execute(statement).fetchone() or (0,)
    return int(rows)


@contextmanager
def _opened(place: LakePlace, target: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield the store opened for reading, in a transaction that sees one state of it."""
    spill = _empty_folder(target / ".spill")
    with closing(
        connect_duckdb(memory_mb=_MEMORY_MB, spill=str(spill), preserve_order=False, place=place)
    ) as connection:
        attach_store(connection, place)
        yield connection
    shutil.rmtree(spill)


@contextmanager
def _translated(place: LakePlace, target: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, duckdb.Error) as error:
        raise StoreError(path=str(target), reason=place.masked(str(error))) from None


def _files_in(folder: Path) -> Iterator[ExportedFile]:
    for path in sorted(folder.rglob("*.parquet")):
        yield ExportedFile(path=str(path.relative_to(folder)), bytes=path.stat().st_size)


def _empty_folder(path: Path) -> Path:
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    return path
