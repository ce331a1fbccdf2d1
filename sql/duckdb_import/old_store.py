"""The DuckDB file that was the store up to release 0.4: brought to its last schema, then read."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

import duckdb
import msgspec

from core.errors import StoreError
from core.fields.scan_findings import ScanFindings
from core.fields.static_findings import StaticFindings
from core.report import (
    ClockLimitRow,
    EvidenceRow,
    HolderRow,
    PoolResultRow,
    Report,
    ReportRow,
)
from sql.finding_rows import from_rows
from sql.rows import FindingRow
from sql.statements import load_migrations, load_statement

OLD_SCHEMA: Final = Path(__file__).parent / "schema"
OLD_QUERIES: Final = Path(__file__).parent / "queries"

T = TypeVar("T", bound=msgspec.Struct)

Cells = tuple[Any, ...]


class OldStore:
    """One open file. Not for concurrent use."""

    def __init__(self, path: Path) -> None:
        """Open the file and bring it to the last schema of its kind.

        Raises StoreError, also when another process has it open, and for a file that is no store.
        """
        self._path = path
        with self._translated():
            self._connection = duckdb.connect(str(path), config={"memory_limit": "2GB"})
            try:
                self._migrate()
            except BaseException:
                self._connection.close()
                raise

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def last_rowid(self, table: str) -> int:
        """Return the highest row number of a table; -1 if it is empty. Raises StoreError."""
        with self._translated():
            statement = f"select coalesce(max(rowid), -1) from {table}"  # noqa: S608 - our own names
            row = self._connection.execute(statement).fetchone()
            return -1 if row is None else int(row[0])

    def rows(self, query: str, *, above: int, up_to: int) -> list[Cells]:
        """Return the rows of a table with a number above `above` and up to `up_to`, in order; the
        number comes first. Raises StoreError."""
        with self._translated():
            found = self._connection.execute(
                load_statement(query, OLD_QUERIES), {"above": above, "up_to": up_to}
            )
            return found.fetchall()

    def final_blocks(self) -> dict[int, int]:
        """Return, by chain id, the block up to which rows cannot be reorganised away."""
        with self._translated():
            text = load_statement("list_final_blocks", OLD_QUERIES)
            return dict(self._connection.execute(text).fetchall())

    def report(self, token_id: int) -> Report | None:
        """Return the report on a token. None: it cannot be told whether the tables hold all of its
        pools. Raises StoreError."""
        (head,) = self._structs("report/find_head", ReportRow, token_id)
        findings = self._structs("report/list_findings", FindingRow, token_id)
        pools = self._structs("report/list_pools", PoolResultRow, token_id)
        if len(pools) >= _MOST_POOLS:
            return None
        with self._translated():
            resolved = self._connection.execute(
                load_statement("report/find_pools_resolved", OLD_QUERIES), {"token_id": token_id}
            ).fetchone()
        return Report(
            token=head,
            static=from_rows(findings, StaticFindings),
            scan=from_rows(findings, ScanFindings),
            pools=tuple(pools) if resolved and resolved[0] else None,
            holders=tuple(self._structs("report/list_holders", HolderRow, token_id)),
            clock_limits=tuple(self._structs("report/list_clock_limits", ClockLimitRow, token_id)),
            evidence=tuple(self._structs("report/list_evidence", EvidenceRow, token_id)),
        )

    def _structs(self, query: str, row: type[T], token_id: int) -> list[T]:
        with self._translated():
            found = self._connection.execute(
                load_statement(query, OLD_QUERIES), {"token_id": token_id}
            )
            names = [column[0] for column in found.description or ()]
            values = found.fetchall()
        return [_struct(dict(zip(names, cells, strict=True)), row) for cells in values]

    def _migrate(self) -> None:
        tables = {name for (name,) in self._connection.execute("show tables").fetchall()}
        if "schema_version" not in tables:
            reason = "it is a DuckDB file, but not one of ours"
            raise StoreError(path=str(self._path), reason=reason)
        found = self._connection.execute("select max(version) from schema_version").fetchone()
        version = int(found[0]) if found and found[0] is not None else 0
        migrations = load_migrations(OLD_SCHEMA)[version:]
        if migrations:
            self._drop_indexes()
        for migration in migrations:
            self._connection.begin()
            self._connection.execute(migration.text)
            self._connection.execute(
                "insert into schema_version values (?, ?)", [migration.version, migration.name]
            )
            self._connection.commit()

    def _drop_indexes(self) -> None:
        """Drop all indexes: DuckDB cannot delete rows that a write-ahead log has brought back from
        an index, and they are for speed only."""
        text = "select index_name from duckdb_indexes()"
        for (name,) in self._connection.execute(text).fetchall():
            self._connection.execute(f"drop index {name}")
        self._connection.execute("checkpoint")

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except duckdb.Error as error:
            raise StoreError(path=str(self._path), reason=str(error)) from error


_MOST_POOLS: Final = 1_000
"""Pools of a report that its tables held at most."""

_AMOUNTS: Final = frozenset(
    {"supply_raw", "burned_raw", "creator_balance_raw", "others_raw", "amount_raw"}
)
"""Fields that were stored as decimal text."""


def _struct(fields: dict[str, Any], row: type[T]) -> T:
    for name in _AMOUNTS & fields.keys():
        if fields[name] is not None:
            fields[name] = int(fields[name])
    if row is ClockLimitRow and fields["value"] is not None:
        fields["value"] = int(fields["value"])
    return msgspec.convert(fields, row)
