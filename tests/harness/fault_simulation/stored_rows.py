"""Rows of a store, read back plainly, and its holders compared with sums of its transfers."""

import sqlite3
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import msgspec
import psycopg

from config.store_address import PostgresAddress
from core.evm.primitives import Address
from sql.chain.balances import read_holders
from sql.engine.store import Store
from sql.engine.store_files import StoreFiles
from sql.lake.find_place import place_of
from sql.lake.lake_file import Lake, connect_duckdb

Cells = tuple[Any, ...]

_LAKE_MB = 300


class StoredRows(msgspec.Struct, frozen=True, kw_only=True):
    """The contents that depend on the chain. Hashes and addresses are 0x text."""

    blocks: list[Cells]
    """Number, hash, parent's hash."""
    checkpoints: dict[str, tuple[int, str | None]]
    coverage: list[Cells]
    orphans: list[Cells]
    """Table and token number of all rows without a token."""
    tokens: dict[str, Cells]
    """Tokens by address: reason, first block, first block of complete transfers, report, whole
    history, number."""
    pools: dict[str, Cells]
    sides: list[Cells]
    launches: dict[tuple[str, str], Cells]
    transfers: list[Cells]
    """Block, log, token, sender, recipient, amount."""
    undecoded: list[Cells]
    """Block, log, emitter, number of topics."""
    trades: list[Cells]
    """Block, log, pool key, amounts of both tokens."""
    recent: list[Cells]
    """As trades: those that are kept for prices."""
    final_trades: list[Cells]
    hot: int
    """Rows that are not final yet."""
    balances: dict[tuple[str, str], int]
    """Balances of final transfers, by token and owner."""
    final_sums: dict[tuple[str, str], int]
    """The same, added up from the final transfers themselves; zeros are left out in both."""


class _Events(msgspec.Struct):
    transfers: list[Cells]
    undecoded: list[Cells]
    trades: list[Cells]


def read_store(prefix: Path) -> StoredRows:
    """Read all of a store in files. Of batches that the lake has noted, its rows count."""
    files = StoreFiles(prefix=prefix)
    noted, lake = _read_lake(files)
    uri = f"file:{files.serving}?mode=ro"
    with closing(sqlite3.connect(uri, uri=True)) as file:

        def rows(query: str) -> list[Cells]:
            return [tuple(map(_plain, row)) for row in file.execute(query)]

        return _read_rows(rows, _TABLES_OF_TOKENS, noted, lake)


def read_database(url: str) -> StoredRows:
    """Read a whole PostgreSQL store, without a lake, in one snapshot."""
    return _read_tables(url, [], _Events([], [], []))


def read_fleet_store(address: PostgresAddress) -> StoredRows:
    """Read all of a store in PostgreSQL and its lake, while nobody moves rows between them."""
    return _read_tables(address.url.value, *_read_shared_lake(address))


def _read_tables(url: str, noted: list[int], lake: "_Events") -> StoredRows:
    with psycopg.connect(url) as connection:
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ

        def rows(query: str) -> list[Cells]:
            found = connection.execute(query.encode()).fetchall()
            return [tuple(map(_plain, row)) for row in found]

        return _read_rows(rows, _POSTGRES_TABLES_OF_TOKENS, noted, lake)


def _read_rows(
    rows: Callable[[str], list[Cells]], tables_of_tokens: str, noted: list[int], lake: _Events
) -> StoredRows:
    """Run the same queries on either engine. `noted`: batches that the lake has."""
    left_out = ", ".join(map(str, noted)) or "0"
    hot = _Events(*(rows(_EVENTS[name].format(prefix="", where="")) for name in _EVENTS))
    where = f"where f.batch not in ({left_out})"
    waiting = _Events(
        *(rows(_EVENTS[name].format(prefix="final_", where=where)) for name in _EVENTS)
    )
    final = _joined(waiting, lake)
    whole = _joined(hot, final)
    tokens = {row[0]: row[1:] for row in rows(_TOKENS)}
    return StoredRows(
        blocks=rows("select number, hash, parent_hash from block order by number"),
        checkpoints={
            stream: (number, of)
            for stream, number, of in rows("select stream, number, hash from checkpoint")
        },
        coverage=rows("select subject, from_block, to_block from coverage order by 1, 2"),
        orphans=[row for (table,) in rows(tables_of_tokens) for row in rows(_orphans_in(table))],
        tokens=tokens,
        pools={row[0]: row[1:] for row in rows(_POOLS)},
        sides=rows("select token, pool_no, other from pool_side order by 1, 2"),
        launches={
            row[:2]: row[2:]
            for row in rows(
                "select token, slug, emitter, creator, block_number, log_index from launch"
            )
        },
        transfers=_amounts(whole.transfers),
        undecoded=sorted(whole.undecoded),
        trades=sorted(whole.trades),
        recent=sorted(rows(_EVENTS["trades"].format(prefix="recent_", where=""))),
        final_trades=sorted(final.trades),
        hot=len(hot.transfers) + len(hot.undecoded) + len(hot.trades),
        balances=_balances(rows(_BALANCES), tokens),
        final_sums=sums_of(_amounts(final.transfers)),
    )


def sums_of(transfers: Iterable[Cells]) -> dict[tuple[str, str], int]:
    """Sum incoming minus outgoing amounts by token and owner, without zeros."""
    sums: dict[tuple[str, str], int] = {}
    for _, _, token, sender, recipient, amount in transfers:
        sums[token, sender] = sums.get((token, sender), 0) - amount
        sums[token, recipient] = sums.get((token, recipient), 0) + amount
    return {key: value for key, value in sums.items() if value}


_EVENTS = {
    "transfers": "select f.block_number, f.log_index, address, sender, recipient, amount"
    " from {prefix}transfer f left join token using (token_id) {where}",
    "undecoded": "select block_number, log_index, address, topic_count"
    " from {prefix}undecoded f {where}",
    "trades": "select f.block_number, f.log_index, pool_key, amount0, amount1"
    " from {prefix}trade f left join pool using (pool_no) {where}",
}
"""Events of the serving state; prefixes are `final_` and, of trades, `recent_`."""

_TOKENS = """
    select token.address, tracked_because, first_seen_block, transfers_from_block,
        report.token_id is not null, coalesce(is_whole, 0), token.token_id
    from token left join report using (token_id) left join history using (token_id)
"""
_POOLS = """
    select pool_key, kind, pool, factory, token0, token1, block_number, log_index, pool_no from pool
"""
_BALANCES = "select key, value from balance"


def _orphans_in(table: str) -> str:
    return f"select distinct '{table}', token_id from {table} where token_id not in ({_KNOWN})"  # noqa: S608


_KNOWN = "select token_id from token"
_TABLES_OF_TOKENS = """
    select tables.name from sqlite_schema as tables, pragma_table_info(tables.name) as columns
    where tables.type = 'table' and columns.name = 'token_id' and tables.name != 'token_change'
    order by 1
"""
"""Tables of events, which outlive their tokens."""
_POSTGRES_TABLES_OF_TOKENS = """
    select table_name::text from information_schema.columns
    where table_schema = current_schema() and column_name = 'token_id'
        and table_name not in ('token_change', 'report_change')
    order by 1
"""

_LAKE_TRANSFERS = """
    select block_number, log_index, token, sender_high, sender_mid, sender_low, recipient_high,
        recipient_mid, recipient_low, word0, word1, word2, word3
    from lake.transfer
"""


def _read_lake(files: StoreFiles) -> tuple[list[int], _Events]:
    """The batches that the lake has, and its rows."""
    if not files.lake.exists():
        return [], _Events([], [], [])
    with closing(Lake.open(files, sees_serving=False)) as lake:
        return _lake_rows(lake._connection)


def _read_shared_lake(address: PostgresAddress) -> tuple[list[int], _Events]:
    """Read the same of a lake whose catalogue is in PostgreSQL, independently of its writer."""
    place = place_of(address)
    if not place.has_lake():
        return [], _Events([], [], [])
    with closing(connect_duckdb(memory_mb=_LAKE_MB, spill=None, place=place)) as connection:
        connection.execute(place.attach_lake(is_read_only=True))
        return _lake_rows(connection)


def _lake_rows(connection: duckdb.DuckDBPyConnection) -> tuple[list[int], _Events]:
    def rows(query: str) -> list[Cells]:
        return [tuple(row) for row in connection.execute(query).fetchall()]

    return [row[0] for row in rows("select batch from lake.moved")], _Events(
        [
            (
                *row[:3],
                _address(*row[3:6]),
                _address(*row[6:9]),
                sum(word << 64 * at for at, word in enumerate(row[9:])),
            )
            for row in rows(_LAKE_TRANSFERS)
        ],
        rows("select block_number, log_index, address, topic_count from lake.undecoded"),
        rows("select block_number, log_index, pool_key, amount0, amount1 from lake.trade"),
    )


def _address(high: int, mid: int, low: int) -> str:
    return f"0x{high << 128 | mid << 64 | low:040x}"


def _joined(one: _Events, other: _Events) -> _Events:
    return _Events(
        one.transfers + other.transfers,
        one.undecoded + other.undecoded,
        one.trades + other.trades,
    )


def _amounts(rows: Iterable[Cells]) -> list[Cells]:
    """With amounts as numbers, in order."""
    return sorted(
        (*row[:5], row[5] if isinstance(row[5], int) else exact_number(row[5])) for row in rows
    )


def _balances(rows: Iterable[Cells], tokens: dict[str, Cells]) -> dict[tuple[str, str], int]:
    by_number = {f"0x{row[-1]:08x}": address for address, row in tokens.items()}
    found = {
        (by_number.get(key[:10], key[:10]), "0x" + key[10:]): exact_number(value)
        for key, value in rows
    }
    return {key: value for key, value in found.items() if value}


def exact_number(stored: str) -> int:
    """The number that 0x text of a signed big-endian blob is."""
    return int.from_bytes(bytes.fromhex(stored[2:]), "big", signed=True)


def _plain(value: object) -> object:
    return "0x" + value.hex() if isinstance(value, bytes) else value


_ALL = 1_000


def holder_differences(store: Store, stored: StoredRows, *, chain_id: int) -> list[str]:
    """Return the differences of all tokens, as text."""
    by_token: dict[str, list[tuple[int, str]]] = {}
    for (token, owner), value in sums_of(stored.transfers).items():
        if value > 0:
            by_token.setdefault(token, []).append((value, owner))
    found = []
    for token in stored.tokens:
        holders = read_holders(store, chain_id=chain_id, token=Address(token), at_most=_ALL)
        expected = sorted(by_token.get(token, []), key=lambda one: (-one[0], one[1]))
        top_holders = [(int(one.amount_raw), str(one.owner)) for one in holders.top]
        if top_holders != expected or holders.held_raw != sum(value for value, _ in expected):
            found.append(f"holders of {token}: {top_holders} in place of {expected}")
    return found
