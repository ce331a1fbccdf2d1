"""Place of a lake with its catalogue in PostgreSQL, and its files in a folder or object store."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import duckdb_extension_httpfs
import duckdb_extension_postgres_scanner
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from config.store_address import PostgresAddress
from sql.engine.database_layout import DatabaseLayout
from sql.engine.fleet_database import make_local_folder
from sql.engine.postgres.connection_limits import ConnectionLimits
from sql.engine.postgres.fenced_database import FencedDatabase
from sql.engine.postgres.leases import LeaseTerm, hold_lease
from sql.engine.postgres.postgres_database import PostgresDatabase
from sql.engine.postgres.postgres_url import shown_url
from sql.engine.statements import Engine, Queries
from sql.engine.store import SERVING, Store
from sql.lake.durable import put_on_disk
from sql.lake.extensions import ducklake_path, extension_path, sql_text
from sql.lake.lake_place import LakeLock, LakePlace, StreamingDatabase
from sql.lake.postgres.lake_catalogue import (
    LakeCatalogue,
    fence_catalogue,
    find_catalogue,
    make_schema,
)

COMPACTION: Final = "lake compaction"
"""Lease of the process that moves, merges and deletes."""

APPENDING: Final = "lake append"
"""Lease of the process that appends a back-filled range, or creates the lake."""

_APPENDER_WAIT_S: Final = 60.0
_CONNECT_S: Final = 5
_LONGEST_STATEMENT_S: Final = 600
_SILENCE_S: Final = 10
_MASK: Final = "***"


class DatabasePlace(LakePlace):
    """A store in PostgreSQL."""

    engine: Engine = "postgres"

    def __init__(self, address: PostgresAddress) -> None:
        """Read the parts of an address. Raises StoreError for an invalid URL."""
        super().__init__(address)
        self._at = address
        self._url = address.url.value
        self._name = shown_url(self._url)
        self._dsn = _connection_text(self._url)
        self._found: LakeCatalogue | None = None

    @property
    def name(self) -> str:
        """Return host, port and database, and the place of the files."""
        return f"{self._name}, lake {self._at.lake}"

    @property
    def serving_name(self) -> str:
        """Return host, port and database."""
        return self._name

    def masked(self, text: str) -> str:
        """Return the text without connection string, password and keys, which errors repeat."""
        password = str(conninfo_to_dict(self._url).get("password") or "")
        keys = self._at.objects
        hidden = (self._dsn, self._url, password, keys.secret.value if keys else "")
        for secret in filter(None, hidden):
            text = text.replace(sql_text(secret)[1:-1], _MASK).replace(secret, _MASK)
        return text

    def list_extensions(self) -> tuple[Path, ...]:
        """Return the files of postgres_scanner and ducklake, and of httpfs for an object store."""
        first = extension_path(duckdb_extension_postgres_scanner, "postgres_scanner")
        if not self._is_remote:
            return (first, ducklake_path())
        return (first, ducklake_path(), extension_path(duckdb_extension_httpfs, "httpfs"))

    def list_secrets(self) -> tuple[str, ...]:
        """Return the statement with the keys of the bucket, if there are any."""
        keys = self._at.objects
        if keys is None or not self._is_remote:
            return ()
        values = [
            ("key_id", sql_text(keys.key_id)),
            ("secret", sql_text(keys.secret.value)),
            ("scope", sql_text(f"s3://{urlsplit(self._at.lake).netloc}")),
        ]
        if keys.region:
            values.append(("region", sql_text(keys.region)))
        if keys.endpoint:
            parts = urlsplit(keys.endpoint)
            values += [
                ("endpoint", sql_text(parts.netloc or keys.endpoint)),
                ("url_style", "'path'"),
                ("use_ssl", str(parts.scheme != "http").lower()),
            ]
        options = ", ".join(f"{name} {value}" for name, value in values)
        return (f"create secret lake_files (type s3, {options})",)

    def has_serving(self) -> bool:
        """True if the database has its tables. Raises StoreError."""
        return self._catalogue().has_serving

    def has_lake(self) -> bool:
        """True if the database has a catalogue. Raises StoreError."""
        return self._catalogue(again=True).has_lake

    def prepare(self) -> None:
        """Create the catalogue's schema and the folder of the files. Raises StoreError, OSError."""
        make_local_folder(self._at)
        make_schema(self._url, self._catalogue())
        if not self._is_remote:
            Path(self._at.lake).mkdir(parents=True, exist_ok=True)

    def protect(self) -> None:
        """Create the trigger that rejects commits without a lease. Raises StoreError."""
        fence_catalogue(self._url, self._catalogue())

    def read_serving_id(self) -> str | None:
        """Return the id of the serving state. Raises StoreError."""
        return self._catalogue().store_id

    def attach_serving(self) -> str:
        """Return the statement that attaches the schema of the serving state."""
        schema = sql_text(self._catalogue().serving)
        return (
            f"attach {sql_text(self._dsn)} as serving (type postgres, read_only, schema {schema})"
        )

    def attach_lake(self, *, is_read_only: bool) -> str:
        """Return the statement that attaches the catalogue."""
        url = sql_text(f"ducklake:postgres:{self._dsn}")
        options = [
            *(["read_only"] if is_read_only else []),
            f"data_path {sql_text(self.data_folder())}, override_data_path true",
            f"meta_schema {sql_text(self._catalogue().lake)}",
        ]
        return f"attach {url} as lake ({', '.join(options)})"

    def attach_catalogue(self) -> str:
        """Return the statement that attaches the catalogue's tables, for writing."""
        schema = sql_text(self._catalogue().lake)
        return f"attach {sql_text(self._dsn)} as catalogue (type postgres, schema {schema})"

    def data_folder(self) -> str:
        """Return the folder, or the prefix in the bucket."""
        at = self._at.lake if self._is_remote else str(Path(self._at.lake).resolve())
        return f"{at.rstrip('/')}/"

    @contextmanager
    def alone(self) -> Iterator[LakeLock]:
        """Hold the lease for appending, after a wait for another holder. Raises StoreError."""
        with self._leased(APPENDING, "appends to the lake", _APPENDER_WAIT_S) as lock:
            yield lock

    @contextmanager
    def compacting(self, *, within_s: float = 0.0) -> Iterator[LakeLock]:
        """Hold the lease for compaction. Raises StoreError, also if another process holds it."""
        make_local_folder(self._at)
        with self._leased(COMPACTION, "is compacting it", within_s) as lock:
            yield lock

    def put_on_disk(self, names: Iterable[str]) -> None:
        """Sync the files of a folder; an object store does so before it responds. Raises
        OSError."""
        if not self._is_remote:
            put_on_disk(map(Path, names))

    def open_batches(self, queries: Queries, lock: LakeLock) -> StreamingDatabase:
        """Connect, and write under the lease if there is one. Raises StoreError."""
        layout = DatabaseLayout(
            schema=SERVING.schema,
            queries=queries,
            versions=SERVING.versions,
            lock_table=SERVING.lock_table,
        )
        return self._connect(layout, lock)

    def open_store(self, lock: LakeLock) -> Store:
        """Connect, and write under the lease. Raises StoreError."""
        return Store(self._at, self._connect(SERVING, lock))

    def _connect(self, layout: DatabaseLayout, lock: LakeLock) -> PostgresDatabase:
        if lock.lease is None:
            limits = ConnectionLimits(connections=2)
            return PostgresDatabase(self._url, layout, limits=limits, must_exist=True)
        name, holder, token = lock.lease
        return FencedDatabase(self._url, LeaseTerm(name=name, holder=holder, token=token), layout)

    @contextmanager
    def _leased(self, name: str, doing: str, within_s: float) -> Iterator[LakeLock]:
        with hold_lease(self._url, name, doing=doing, within_s=within_s) as term:
            yield LakeLock(
                fence=f"{term.name}:{term.token}", lease=(term.name, term.holder, term.token)
            )

    def _catalogue(self, *, again: bool = False) -> LakeCatalogue:
        if self._found is None or again:
            self._found = find_catalogue(self._url)
        return self._found

    @property
    def _is_remote(self) -> bool:
        return "://" in self._at.lake


def _connection_text(url: str) -> str:
    """Return libpq's connection string of a URL, with limits on DuckDB's waits."""
    given = conninfo_to_dict(url)
    limits = (
        f"-c statement_timeout={_LONGEST_STATEMENT_S}s"
        f" -c idle_in_transaction_session_timeout={_LONGEST_STATEMENT_S}s"
        " -c client_connection_check_interval=1s"
    )
    options = " ".join(filter(None, [str(given.get("options") or ""), limits]))
    return make_conninfo(
        url,
        options=options,
        connect_timeout=_CONNECT_S,
        application_name=f"assay lake {os.getpid()}",
        keepalives_idle=2,
        keepalives_interval=1,
        keepalives_count=2,
        tcp_user_timeout=1_000 * _SILENCE_S,
    )
