"""Back-up of a store in PostgreSQL that is in use: database and Parquet files of one moment.

One snapshot of the database has serving state, ledger and catalogue of that moment, and pg_dump
reads it while other processes write. The files in the catalogue never change, and only compaction
deletes any, so compaction alone waits.
"""

from collections.abc import Iterator
from pathlib import Path

from config.store_address import PostgresAddress
from core.errors import StoreError
from sql.backup.backup_folder import finish_folder, unfinished_folder
from sql.backup.file_copies import open_copies
from sql.backup.make_backup import COMPACTION_WITHIN_S, Progress
from sql.backup.manifest import (
    DATABASE_LAYOUT,
    DUMP,
    LAKE_DATA,
    BackedUpFile,
    DumpedDatabase,
    Manifest,
    sha256_of,
)
from sql.backup.postgres.server_programs import check_program, quoted_pattern, run_program
from sql.backup.postgres.snapshot import LakeFile, Snapshot, keep_snapshot
from sql.engine.postgres.migrations import MOVE_NOTE
from sql.lake.postgres.lake_catalogue import find_catalogue
from sql.lake.postgres.lake_in_postgres import DatabasePlace

_LEASES = "lease"
"""Table of leases: their processes do not exist for a restored store."""

_DELETED_LATER = "ducklake_files_scheduled_for_deletion"
"""Table of files that no snapshot refers to, which a back-up leaves out."""


def dump_store(
    address: PostgresAddress,
    into: Path,
    *,
    now_s: float,
    progress: Progress = lambda *_: None,
    within_s: float = COMPACTION_WITHIN_S,
) -> Manifest:
    """Copy a store to a new folder; the folder appears once the back-up is complete.

    `within_s`: seconds to wait for a running compaction. Raises StoreError, also if pg_dump is not
    installed or older than the server.
    """
    url, place = address.url.value, DatabasePlace(address)
    if not place.has_serving():
        raise StoreError(path=place.serving_name, reason="there is no such store")
    server = check_program("pg_dump", url)
    with (
        unfinished_folder(into) as unfinished,
        place.compacting(within_s=within_s),
        keep_snapshot(url) as snapshot,
    ):
        if snapshot.has_table(MOVE_NOTE):
            reason = "a store is being moved into it; run `assay move-store` to its end first"
            raise StoreError(path=place.serving_name, reason=reason)
        catalogue = find_catalogue(url)
        database = DumpedDatabase(
            schema=catalogue.serving,
            lake_schema=catalogue.lake if catalogue.has_lake else None,
            server=server,
        )
        progress("database", 0, 1)
        _dump(url, snapshot, database, unfinished / DUMP)
        progress("database", 1, 1)
        if database.lake_schema is not None:
            files = snapshot.list_files(database.lake_schema)
            _copy_files(place, files, unfinished / LAKE_DATA, progress)
        manifest = Manifest(
            layout=DATABASE_LAYOUT,
            made_at_s=int(now_s),
            files=tuple(_hashed(unfinished)),
            database=database,
        )
        finish_folder(unfinished, into, manifest)
    return manifest


def _dump(url: str, snapshot: Snapshot, database: DumpedDatabase, target: Path) -> None:
    target.touch(mode=0o600)
    options = _of_schema(database.schema, but=_LEASES)
    if database.lake_schema is not None:
        options += _of_schema(database.lake_schema, but=_DELETED_LATER)
    run_program(
        "pg_dump",
        url,
        [
            *("--format=custom", "--compress=1", "--no-owner", "--no-privileges"),
            # Not behind a migration: all later statements would wait behind this one.
            *("--lock-wait-timeout=10s", f"--snapshot={snapshot.exported}", f"--file={target}"),
            *options,
        ],
    )


def _of_schema(schema: str, *, but: str) -> list[str]:
    """Return the options to dump a schema without the rows of one table."""
    name = quoted_pattern(schema)
    return [f"--schema={name}", f"--exclude-table-data={name}.{quoted_pattern(but)}"]


def _copy_files(
    place: DatabasePlace, files: list[LakeFile], into: Path, progress: Progress
) -> None:
    total, done = sum(file.size for file in files), 0
    with open_copies(place) as copies:
        for file in files:
            target = into / file.name
            if not target.resolve().is_relative_to(into.resolve()):
                reason = f"its catalogue names a file elsewhere: {file.name}"
                raise StoreError(path=place.name, reason=reason)
            copies.fetch_file(file.name, target)
            found = target.stat().st_size
            if found != file.size:
                reason = f"{file.name} has {found} bytes, and {file.size} by the catalogue"
                raise StoreError(path=place.name, reason=reason)
            done += file.size
            progress("final events", done, total)


def _hashed(folder: Path) -> Iterator[BackedUpFile]:
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            name = path.relative_to(folder).as_posix()
            yield BackedUpFile(path=name, bytes=path.stat().st_size, sha256=sha256_of(path))
