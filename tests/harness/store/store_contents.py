"""Rows of a store, read back plainly by SQL of the tests, final or not."""

import sqlite3
from collections.abc import Iterable
from contextlib import closing

import msgspec
import psycopg
from psycopg.raw_cursor import RawCursor

from core.evm.primitives import Address
from sql.engine.postgres.postgres_database import PostgresDatabase
from sql.engine.postgres.statement_text import number_parameters
from sql.engine.store import Store
from sql.engine.store_files import StoreFiles
from tests.harness.parts.empty_databases import connect_store

Cells = tuple[object, ...]

OF_ONE_ENGINE = frozenset(
    {
        *("analysis_run", "chain_writer", "lease", "ledger_writer", "ledger_version"),
        *("report_change", "schema_version", "fleet_chain", "inquiry"),
        "sqlite_sequence",
    }
)
OF_LEDGER = frozenset(
    {"account", "account_key", "api_key", "attempt", "key_revision", "session", "trial", "usage"}
)
"""Tables of the ledger: in PostgreSQL next to those of the store."""

_TRANSFERS = """
    select token_id, block_number, log_index, sender, recipient, amount from transfer
    union all
    select token_id, block_number, log_index, sender, recipient, amount from final_transfer
"""
_UNDECODED = """
    select chain_id, block_number, log_index, address, topic0, topic_count, data from undecoded
    union all
    select chain_id, block_number, log_index, address, topic0, topic_count, data
    from final_undecoded join batch using (batch)
"""
_TRADES = """
    select chain_id, block_number, log_index, pool_no, time_s, amount0, amount1 from trade
    union all
    select chain_id, block_number, log_index, pool_no, time_s, amount0, amount1
    from final_trade join batch using (batch)
"""


class Transfer(msgspec.Struct, frozen=True, kw_only=True):
    """One stored transfer."""

    chain_id: int
    block_number: int
    log_index: int
    token: Address
    sender: Address
    recipient: Address
    amount_raw: int


def reopened(store: Store) -> Store:
    """The same store, opened once more."""
    if isinstance(store._database, PostgresDatabase):
        return connect_store(store._database._pool._url, path=store.path)
    return Store.open(store.path)


def read_rows(store: Store, query: str, *parameters: object) -> list[Cells]:
    """Read committed rows of any SELECT; blobs are 0x text."""
    return [tuple(map(_plain, row)) for row in read_stored(store, query, *parameters)]


def read_stored(store: Store, query: str, *parameters: object) -> list[Cells]:
    """The same with blobs as bytes."""
    if isinstance(store._database, PostgresDatabase):
        numbered = number_parameters(query).text
        with store._database._pool.lent() as connection:
            return RawCursor(connection).execute(numbered, parameters, binary=True).fetchall()
    uri = f"file:{StoreFiles(prefix=store.path).serving}?mode=ro"
    with closing(sqlite3.connect(uri, uri=True)) as file:
        return file.execute(query, parameters).fetchall()


def write_rows(store: Store, statement: str, rows: Iterable[Cells] = ((),)) -> None:
    """Run a statement of the tests' own for each row of its parameters, and commit."""
    if isinstance(store._database, PostgresDatabase):
        numbered = number_parameters(statement).text
        with psycopg.connect(store._database._pool._url) as connection:
            RawCursor(connection).executemany(numbered, rows)
        return
    with closing(sqlite3.connect(StoreFiles(prefix=store.path).serving)) as file, file:
        file.execute("pragma foreign_keys = on")
        file.executemany(statement, rows)


def table_names(store: Store, *, but: frozenset[str] = OF_ONE_ENGINE | OF_LEDGER) -> list[str]:
    """The tables of a serving state that both engines have, or all `but` some."""
    if isinstance(store._database, PostgresDatabase):
        query = "select tablename::text from pg_tables where schemaname = 'public'"
    else:
        query = "select name from sqlite_master where type = 'table'"
    return sorted({str(name) for (name,) in read_rows(store, query)} - but)


class StoredColumn(msgspec.Struct, frozen=True, kw_only=True):
    """A column of a table as the database has it."""

    name: str
    sql_type: str
    """In SQLite's words."""
    is_nullable: bool


_SQLITE_TYPES = {
    "bigint": "INTEGER",
    "bytea": "BLOB",
    "text": "TEXT",
    "double precision": "REAL",
    "timestamp with time zone": "TEXT",
    "boolean": "BOOLEAN",
}


def described_table(store: Store, table: str) -> list[StoredColumn]:
    """The columns of a table in order."""
    if isinstance(store._database, PostgresDatabase):
        query = (
            "select column_name::text, data_type::text, is_nullable = 'YES'"
            " from information_schema.columns where table_name = ? order by ordinal_position"
        )
        return [
            StoredColumn(name=str(name), sql_type=_SQLITE_TYPES[str(kind)], is_nullable=bool(empty))
            for name, kind, empty in read_rows(store, query, table)
        ]
    query = 'select name, type, "notnull", pk from pragma_table_info(?) order by cid'
    return [
        StoredColumn(name=str(name), sql_type=str(kind), is_nullable=not is_filled and not key)
        for name, kind, is_filled, key in read_rows(store, query, table)
    ]


def column_names(store: Store, table: str) -> list[str]:
    """The columns of a table in order."""
    return [column.name for column in described_table(store, table)]


def read_transfers(store: Store) -> list[Transfer]:
    """All of all tokens, in chain order."""
    rows = read_rows(
        store,
        "select token.chain_id, block_number, log_index, token.address, sender, recipient, amount"  # noqa: S608
        f" from ({_TRANSFERS}) t join token using (token_id) order by 1, 2, 3",
    )
    fields = Transfer.__struct_fields__
    exact = [(*row[:6], exact_number(str(row[6]))) for row in rows]
    return [msgspec.convert(dict(zip(fields, row, strict=True)), Transfer) for row in exact]


def transfers_of(store: Store, token: Address) -> list[Transfer]:
    """All of a token, in chain order."""
    return [row for row in read_transfers(store) if row.token == token]


def undecoded_in(store: Store) -> list[Cells]:
    """All undecoded logs, in chain order."""
    return read_rows(store, f"select * from ({_UNDECODED}) t order by 1, 2, 3")  # noqa: S608


def trades_in(store: Store) -> list[Cells]:
    """All trades in chain order: pool key, block, log, Unix seconds, amounts of both tokens."""
    return read_rows(
        store,
        "select pool_key, t.block_number, t.log_index, time_s, amount0, amount1"  # noqa: S608
        f" from ({_TRADES}) t join pool using (pool_no) order by t.chain_id, 2, 3",
    )


def exact_number(stored: str) -> int:
    """The number that 0x text of a signed big-endian blob is."""
    return int.from_bytes(bytes.fromhex(stored[2:]), "big", signed=True)


def _plain(value: object) -> object:
    return "0x" + value.hex() if isinstance(value, bytes) else value


def all_tables(store: Store) -> dict[str, list[Cells]]:
    """Each table of the file, as it is."""
    return {
        name: sorted(read_rows(store, f"select * from {name}"), key=repr)  # noqa: S608
        for name in table_names(store)
        if name != "store_identity"
    }
