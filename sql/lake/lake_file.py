"""The lake opened for writing: a DuckDB connection with the serving state attached."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import duckdb
import msgspec

from core.errors import StoreError
from sql.lake.extensions import extension_paths, sql_text
from sql.lake.find_place import LakeOwner, place_of
from sql.lake.lake_place import ALONE, LakeLock, LakePlace
from sql.lake.lake_statements import (
    load_lake_migrations,
    load_lake_statement,
    load_layout,
    load_options,
)
from sql.lake.store_identity import tie_lake

T = TypeVar("T", bound=msgspec.Struct)

_SERVING_ROWS = (
    "create temp macro serving_rows(statement) as table "
    "select * from {engine}_query('serving', statement)"
)
"""Runs a statement in the serving state's engine: DuckDB has one function per engine."""

MEMORY_MB = 300
"""Memory for DuckDB's buffers in MB; larger sorts spill to disk. The process takes 150 more."""


class Lake:
    """The lake of one store, for one thread at a time."""

    def __init__(
        self,
        place: LakePlace,
        connection: duckdb.DuckDBPyConnection,
        *,
        sees_serving: bool,
        lock: LakeLock = ALONE,
    ) -> None:
        self.place = place
        self.files = place.files
        """Files on this machine."""
        self.sees_serving = sees_serving
        """True if `serving` is attached."""
        self._connection = connection
        self._fence = lock.fence
        self._turn = threading.Lock()

    @classmethod
    def open(
        cls,
        owner: LakeOwner,
        *,
        memory_mb: int = MEMORY_MB,
        spill: Path | None = None,
        preserve_order: bool = False,
        sees_serving: bool = True,
        lock: LakeLock = ALONE,
    ) -> "Lake":
        """Open the lake of a store, creating it if needed.

        spill: folder for sorts that exceed the memory. None: the one that all writers share.
        preserve_order: insert rows in the given order.
        sees_serving: attach the serving state read-only, if there is one. Not for a process that
        also writes it: DuckDB bundles another SQLite, and when that one closes a file, this process
        loses its locks on it. lock: lock that the caller holds. Raises StoreError, also for a lake
        that a newer release wrote, or of another store.
        """
        place = place_of(owner)
        serving_id = place.read_serving_id()
        with _translated(place):
            place.prepare()
            connection = connect_duckdb(
                memory_mb=memory_mb,
                spill=str(spill or place.files.lake_spill),
                preserve_order=preserve_order,
                place=place,
            )
            try:
                sees_serving = sees_serving and place.has_serving()
                if sees_serving:
                    connection.execute(place.attach_serving())
                    connection.execute(_SERVING_ROWS.format(engine=place.engine))
                # Two processes that create the catalogue concurrently would both try to fill it.
                with place.alone() as first:
                    is_new = not place.has_lake()
                    connection.execute(place.attach_lake(is_read_only=False))
                    place.protect()
                    _migrate(connection, place, first, is_new=is_new)
                    with _transaction(connection, first.fence):
                        tie_lake(connection, place, serving_id)
            except BaseException:
                connection.close()
                raise
        return cls(place, connection, sees_serving=sees_serving, lock=lock)

    def close(self) -> None:
        """Close the lake; a second call does nothing."""
        with self._turn:
            self._connection.close()

    @contextmanager
    def transaction(self) -> Iterator["LakeTransaction"]:
        """Yield a transaction: committed at the end of the block, rolled back on any exception.

        Raises StoreError, also for any DuckDB error in the block.
        """
        with (
            self._turn,
            _translated(self.place),
            _transaction(self._connection, self._fence),
        ):
            yield LakeTransaction(self._connection)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other processes from appending to the lake in a block, which commits under the lock.

        Blocks until no other process appends. Raises StoreError.
        """
        with self.place.alone() as lock:
            before = self._fence
            self._fence = lock.fence
            try:
                yield
            finally:
                self._fence = before

    def fetch(self, query: str, row: type[T], /, **params: object) -> list[T]:
        """Return all rows of a statement as structs. Raises StoreError."""
        with self.transaction() as tx:
            return tx.fetch(query, row, **params)

    def stream(
        self, query: str, /, *, at_once: int, **params: object
    ) -> Iterator[list[tuple[Any, ...]]]:
        """Yield the rows of a statement in chunks of `at_once`, without blocking other users.

        All chunks see the state at the first one. Raises StoreError.
        """
        with _translated(self.place), closing(self._connection.cursor()) as cursor:
            result = cursor.execute(load_lake_statement(query), params or None)
            while rows := result.fetchmany(at_once):
                yield rows

    def execute(self, query: str, /, **params: object) -> None:
        """Run a statement that writes, in a separate transaction. Raises StoreError."""
        with self.transaction() as tx:
            tx.execute(query, **params)


class LakeTransaction:
    """Statements on one open transaction."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection

    def fetch(self, query: str, row: type[T], /, **params: object) -> list[T]:
        """Return all rows of statement `verb_noun` as structs, matching columns by name."""
        result = self._connection.execute(load_lake_statement(query), params or None)
        names = [column[0] for column in result.description or ()]
        return [
            msgspec.convert(dict(zip(names, values, strict=True)), row)
            for values in result.fetchall()
        ]

    def execute(self, query: str, /, **params: object) -> None:
        """Run a statement that writes."""
        self._connection.execute(load_lake_statement(query), params or None)

    def insert(self, query: str, /, **params: object) -> int:
        """Run a statement that inserts; return the number of rows."""
        found = self._connection.execute(load_lake_statement(query), params or None).fetchone()
        return int(found[0]) if found else 0

    @contextmanager
    def frames(self, frames: Mapping[str, object]) -> Iterator[None]:
        """Register dicts of numpy columns under these names for the statements in the block."""
        for name, frame in frames.items():
            self._connection.register(name, frame)
        try:
            yield
        finally:
            for name in frames:
                self._connection.unregister(name)


def connect_duckdb(
    *,
    memory_mb: int,
    spill: str | None,
    preserve_order: bool = True,
    place: LakePlace | None = None,
) -> duckdb.DuckDBPyConnection:
    """Return a database in memory with one thread and fixed extensions.

    spill: folder for sorts that exceed the memory. None: they fail. place: store to attach later.
    None: one in files.
    """
    config: dict[str, str | bool | int | float | list[str]] = {
        "threads": "1",
        "memory_limit": f"{memory_mb}MB",
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        # Their packages are hashed in the lock file; hashing 70 MB at each start takes 0.2 s.
        "allow_unsigned_extensions": "true",
        "python_enable_replacements": "false",
        "temp_directory": spill or "",
        "preserve_insertion_order": str(preserve_order).lower(),
    }
    connection = duckdb.connect(":memory:", config=config)
    try:
        connection.execute("set enable_progress_bar = false")  # not an option of the database
        connection.execute("set timezone = 'UTC'")
        for path in extension_paths() if place is None else place.list_extensions():
            connection.execute(f"load {sql_text(path)}")
        for secret in () if place is None else place.list_secrets():
            connection.execute(secret)
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def _transaction(connection: duckdb.DuckDBPyConnection, fence: str | None = None) -> Iterator[None]:
    connection.begin()
    try:
        if fence is not None:
            connection.execute(load_lake_statement("name_lease"), {"lease": fence})
        yield
        connection.commit()
    except BaseException:
        # After a failed commit there is no transaction left to roll back.
        with suppress(duckdb.Error):
            connection.rollback()
        raise


def _migrate(
    connection: duckdb.DuckDBPyConnection, place: LakePlace, lock: LakeLock, *, is_new: bool
) -> None:
    known = load_lake_migrations()
    version = 0 if is_new else _read_version(connection)
    if version > len(known):
        reason = f"a newer release wrote it (schema {version}; this one knows {len(known)})"
        raise StoreError(path=place.name, reason=reason)
    if version == len(known):
        return
    # Options cannot be set in the transaction that creates their table. If a process ends before
    # the version is written, the next one repeats everything, which changes nothing. One at a time,
    # each of the forty statements would be a commit to the catalogue, and read all of it again.
    with _transaction(connection, lock.fence):
        for migration in known[version:]:
            connection.execute(migration.text)
        connection.execute(load_layout())
    with _transaction(connection, lock.fence):
        connection.execute(load_options())
        connection.execute(load_lake_statement("write_version"), {"version": len(known)})


def _read_version(connection: duckdb.DuckDBPyConnection) -> int:
    """Return the schema version of the attached lake; 0 if it is empty, or if its creation was
    interrupted."""
    tables = connection.execute(load_lake_statement("list_tables")).fetchall()
    if ("lake_version",) not in tables:
        return 0
    found = connection.execute(load_lake_statement("read_version")).fetchone()
    return int(found[0]) if found and found[0] is not None else 0


@contextmanager
def _translated(place: LakePlace) -> Iterator[None]:
    try:
        yield
    except (duckdb.Error, OSError) as error:
        shown = place.masked(str(error))
        # The message of the first error may have a password.
        cause = error if shown == str(error) else None
        raise StoreError(path=place.name, reason=shown) from cause
