"""Made-up serving states, and the combined rows of them and the lake, read back plainly."""

import sqlite3
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import msgspec
import psycopg
from hypothesis import strategies as st
from psycopg.raw_cursor import RawCursor

from config.store_address import PostgresAddress
from core.process.secret import Secret
from sql.engine.postgres.statement_text import number_parameters
from sql.engine.statements import SCHEMA, load_migrations
from sql.engine.store import Store
from sql.engine.store_files import StoreFiles
from sql.lake.find_place import place_of
from sql.lake.lake_file import Lake, connect_duckdb

EDGE_AMOUNTS = (0, 1, 127, 128, 255, 2**64 - 1, 2**64, 2**128, 2**255, 2**256 - 1)
TOKENS = 5
POOLS = 3


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """One transfer, as plain numbers."""

    chain_id: int
    block_number: int
    log_index: int
    token_id: int
    sender: int
    recipient: int
    amount: int
    time_s: int | None = None


def token_address(token_id: int) -> bytes:
    """The first token's address begins with zeros."""
    return token_id.to_bytes(20) if token_id == 1 else bytes([token_id]) * 20


def new_serving(path: Path, *, migrations: int | None = None) -> StoreFiles:
    """Make a serving state that has a few tokens and a few pools of chain 1 and nothing else.

    `migrations`: how many a release had; None: as today.
    """
    files = StoreFiles(prefix=path)
    with closing(sqlite3.connect(files.serving, isolation_level=None)) as serving:
        serving.execute("pragma journal_mode = wal")
        known = load_migrations(SCHEMA)[:migrations]
        for migration in known:
            serving.executescript(migration.text)
        serving.execute(f"pragma user_version = {len(known)}")
        _write_tokens_and_pools(serving)
    return files


class PostgresServing:
    """A serving state in PostgreSQL by the calls of sqlite3 that the tests make."""

    def __init__(self, address: PostgresAddress) -> None:
        self._connection = psycopg.connect(address.url.value, autocommit=True)

    def execute(self, statement: str, values: Sequence[object] = ()) -> Any:
        """Run a statement with plain parameters."""
        numbered = number_parameters(statement).text
        return RawCursor(self._connection).execute(numbered, values, binary=True)

    def executemany(self, statement: str, rows: Iterable[Sequence[object]]) -> None:
        """Run a statement for each row."""
        RawCursor(self._connection).executemany(number_parameters(statement).text, rows)

    def executescript(self, script: str) -> None:
        """Run statements without parameters."""
        self._connection.execute(script.encode())

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


Serving = sqlite3.Connection | PostgresServing


def new_postgres_serving(url: str, *, lake: str, prefix: Path) -> PostgresAddress:
    """Make the same serving state in an empty database."""
    address = PostgresAddress(url=Secret(url), lake=lake, prefix=prefix)
    Store.open(address).close()
    with closing(PostgresServing(address)) as serving:
        _write_tokens_and_pools(serving)
    return address


def connect_serving(owner: StoreFiles | PostgresAddress) -> Serving:
    """A connection to the serving state, each statement a transaction."""
    if isinstance(owner, PostgresAddress):
        return PostgresServing(owner)
    return sqlite3.connect(owner.serving, isolation_level=None)


def _write_tokens_and_pools(serving: Serving) -> None:
    for at in range(1, TOKENS + 1):
        serving.execute(
            "insert into token (chain_id, address, tracked_because, first_seen_block)"
            " values (1, ?, 'pool', 0)",
            [token_address(at)],
        )
    for at in range(1, POOLS + 1):
        serving.execute(
            "insert into pool (chain_id, pool_key, pool, dex, kind, factory, token0, token1,"
            " fee, stable, block_number, log_index)"
            " values (1, ?, ?, 'a dex', 'AmmV2', ?, ?, ?, 30, 1, ?, 0)",
            [*[bytes([at]) * 20] * 2, b"\1", token_address(1), token_address(2), at],
        )


def write_batch(serving: Serving, events: Iterable[Event]) -> int:
    """Put events into the open batch of chain 1, which is made if needed; return its number."""
    found = serving.execute("select batch from batch where chain_id = 1 and is_closed = 0")
    row = found.fetchone()
    if row is None:
        added = serving.execute("insert into batch (chain_id) values (1) returning batch")
        row = added.fetchone()
    batch = int(row[0])
    serving.execute("begin")
    serving.executemany(
        "insert into final_transfer values (?, ?, ?, ?, ?, ?, ?, ?)",
        [(batch, *_stored(event)) for event in events],
    )
    serving.execute("commit")
    return batch


def write_hot(serving: Serving, events: Iterable[Event]) -> None:
    """Put events where those are that are not final yet."""
    serving.executemany(
        "insert into transfer values (1, ?, ?, ?, ?, ?, ?, ?)",
        [_stored(event) for event in events],
    )


def _stored(event: Event) -> tuple[object, ...]:
    amount = event.amount.to_bytes(event.amount.bit_length() // 8 + 1)
    ends = event.sender.to_bytes(20), event.recipient.to_bytes(20)
    return (event.block_number, event.log_index, event.token_id, *ends, amount, event.time_s)


def events_of_lake(lake: duckdb.DuckDBPyConnection) -> Counter[Event]:
    """All transfers in an attached lake, exactly."""
    rows = lake.execute(
        "select chain_id, block_number, log_index, token_id,"
        " [sender_high, sender_mid, sender_low], [recipient_high, recipient_mid, recipient_low],"
        " [word0, word1, word2, word3], time_s, token from lake.transfer"
    ).fetchall()
    found: Counter[Event] = Counter()
    for *head, sender, recipient, words, time_s, token in rows:
        assert token == "0x" + token_address(head[3]).hex()
        found[
            Event(
                chain_id=head[0],
                block_number=head[1],
                log_index=head[2],
                token_id=head[3],
                sender=(sender[0] << 128) + (sender[1] << 64) + sender[2],
                recipient=(recipient[0] << 128) + (recipient[1] << 64) + recipient[2],
                amount=sum(word << 64 * at for at, word in enumerate(words)),
                time_s=time_s,
            )
        ] += 1
    return found


def events_of_serving(serving: Serving, moved: set[int]) -> Counter[Event]:
    """Transfers of the serving state, hot ones included, without those of moved batches."""
    hot = serving.execute("select 0, * from transfer").fetchall()
    waiting = serving.execute(
        "select batch, chain_id, block_number, log_index, token_id, sender, recipient, amount,"
        " time_s from final_transfer join batch using (batch)"
    ).fetchall()
    return Counter(
        Event(
            chain_id=row[1],
            block_number=row[2],
            log_index=row[3],
            token_id=row[4],
            sender=int.from_bytes(row[5]),
            recipient=int.from_bytes(row[6]),
            amount=int.from_bytes(row[7], signed=True),
            time_s=row[8],
        )
        for row in (*hot, *waiting)
        if row[0] not in moved
    )


class Onlooker:
    """Reader of a store, over separate connections."""

    def __init__(self, owner: StoreFiles | PostgresAddress) -> None:
        place = place_of(owner)
        self._serving = connect_serving(owner)
        is_file = isinstance(owner, StoreFiles)
        self._begin = "begin" if is_file else "begin isolation level repeatable read"
        self._lake = connect_duckdb(memory_mb=300, spill=None, place=place)
        self._lake.execute(place.attach_lake(is_read_only=True))

    def close(self) -> None:
        """Close the connections."""
        self._serving.close()
        self._lake.close()

    def look(self) -> Counter[Event]:
        """Return every transfer of the store as a reader must see it: first the serving state."""
        self._serving.execute(self._begin)
        self._serving.execute("select 1 from batch").fetchall()
        self._lake.begin()
        try:
            rows = self._lake.execute("select batch from lake.moved").fetchall()
            moved = {row[0] for row in rows}
            return events_of_lake(self._lake) + events_of_serving(self._serving, moved)
        finally:
            self._lake.rollback()
            self._serving.execute("rollback")


numbers = st.one_of(st.integers(0, 3), st.integers(0, 2**160 - 1), st.just(2**160 - 1))
amounts = st.one_of(st.sampled_from(EDGE_AMOUNTS), st.integers(0, 2**256 - 1))
events = st.builds(
    Event,
    chain_id=st.just(1),
    block_number=st.integers(0, 50),
    log_index=st.integers(0, 50),
    token_id=st.integers(1, TOKENS),
    sender=numbers,
    recipient=numbers,
    amount=amounts,
    time_s=st.none() | st.integers(0, 2**33),
)
event_lists = st.lists(events, unique_by=lambda event: (event.block_number, event.log_index))


def many_events(count: int, *, from_block: int = 0) -> list[Event]:
    """Draw transfers, ten a block, with amounts from the whole range."""
    return [
        Event(
            chain_id=1,
            block_number=from_block + at // 10,
            log_index=at % 10,
            token_id=1 + at % TOKENS,
            sender=at % 7,
            recipient=2**159 + at % 11,
            amount=EDGE_AMOUNTS[at % len(EDGE_AMOUNTS)] // (1 + at % 3),
            time_s=None if at // 10 % 4 == 3 else 1_700_000_000 + 12 * (from_block + at // 10),
        )
        for at in range(count)
    ]


def forget(serving: Serving, lake: Lake) -> None:
    """Empty the store for the next example; batches keep counting."""
    serving.executescript(
        "delete from transfer; delete from final_transfer; delete from final_trade;"
        "delete from final_undecoded; delete from batch"
    )
    with lake.transaction() as tx:
        tx._connection.execute(
            "delete from lake.transfer; delete from lake.trade; delete from lake.undecoded"
        )
