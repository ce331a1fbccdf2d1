"""Protects finalization: after any interruption every row is hot or final, once.

The balances are those of the final transfers.
"""

import itertools
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import StoreError
from core.evm.primitives import Address, HexBytes, RawAmount
from sql.chain.blocks import FINAL, read_checkpoint
from sql.chain.finalization import finalize_rows
from sql.chain.pool_tables import insert_pools
from sql.chain.trade_tables import insert_trades, list_newest_trades
from sql.chain.transfer_tables import insert_transfers, insert_undecoded
from sql.engine.columns import blob
from sql.engine.database import Transaction
from sql.engine.postgres.postgres_database import PostgresTransaction
from sql.engine.sqlite_file import SqliteTransaction
from sql.engine.store import FileStore, Store
from sql.engine.table_rows import SwapRow, TransferRow, UndecodedRow
from sql.tokens.tokens import track_tokens
from tests.harness.examples import one_in
from tests.harness.store.empty_files import NewStore
from tests.harness.store.sample_rows import address, hash32, pool
from tests.harness.store.store_contents import (
    Cells,
    all_tables,
    exact_number,
    read_rows,
    read_transfers,
    trades_in,
    undecoded_in,
    write_rows,
)

TOKEN, QUOTE = address(0xA), address(2)
POOLS = [address(0x500), address(0x501)]
TABLES = ("transfer", "trade", "undecoded")


class Rows(msgspec.Struct, frozen=True):
    """Rows of one block."""

    transfers: int
    trades: tuple[int, ...]
    """A pool for each."""
    undecoded: int


blocks = st.builds(
    Rows, st.integers(0, 3), st.lists(st.integers(0, 1), max_size=3).map(tuple), st.integers(0, 2)
)


def store_block(tx: Transaction, number: int, rows: Rows) -> None:
    (token,) = track_tokens(tx, chain_id=1, seen={TOKEN: 0}, because="pool")
    insert_pools(
        tx,
        [
            msgspec.structs.replace(
                pool(0x500 + at, TOKEN, block_number=0, quote=QUOTE), log_index=at
            )
            for at in range(len(POOLS))
        ],
    )
    transfers = [
        TransferRow(
            block_number=number,
            log_index=at,
            token_id=token.token_id,
            sender=blob(address(number % 3)),
            recipient=blob(address(at + 1)),
            amount_raw=RawAmount(10 * number + at),
        )
        for at in range(rows.transfers)
    ]
    trades = [swap(number, 10 + at, POOLS[which]) for at, which in enumerate(rows.trades)]
    insert_transfers(tx, transfers, chain_id=1)
    assert insert_trades(tx, trades, chain_id=1, anchors=[QUOTE]) == len(trades)
    insert_undecoded(tx, [undecoded(number, 20 + at) for at in range(rows.undecoded)])


def swap(number: int, log_index: int, emitter: Address) -> SwapRow:
    return SwapRow(
        block_number=number,
        log_index=log_index,
        time_s=1_000 + number,
        emitter=emitter,
        pool_key=HexBytes(emitter),
        kinds=("AmmV2",),
        amount0=float(number),
        amount1=-1.0,
    )


def undecoded(number: int, log_index: int) -> UndecodedRow:
    return UndecodedRow(
        chain_id=1,
        block_number=number,
        log_index=log_index,
        address=address(3),
        topic0=hash32(3),
        topic_count=1,
        data=HexBytes("0x12"),
    )


def grown(store: Store, history: Sequence[Rows]) -> None:
    with store.transaction() as tx:
        for number, rows in enumerate(history):
            store_block(tx, number, rows)


def everything(store: Store) -> tuple[object, ...]:
    """All rows, wherever they are."""
    return read_transfers(store), trades_in(store), undecoded_in(store)


def without_batch_numbers(tables: dict[str, list[Cells]]) -> dict[str, list[Cells]]:
    """PostgreSQL does not give out again the number of a batch that was rolled back."""
    return {
        name: sorted(
            (row[1:] if name == "batch" or name.startswith("final_") else row for row in rows),
            key=repr,
        )
        for name, rows in tables.items()
    }


def assert_balances_are_final(store: Store) -> None:
    sums: Counter[object] = Counter()
    for sender, recipient, amount in read_rows(
        store, "select sender, recipient, amount from final_transfer"
    ):
        sums[sender] -= exact_number(str(amount))
        sums[recipient] += exact_number(str(amount))
    kept = {
        owner: exact_number(str(value))
        for owner, value in read_rows(store, "select substr(key, 5), value from balance")
    }
    assert kept == {owner: value for owner, value in sums.items() if value}


@settings(max_examples=one_in(2))
@given(history=st.lists(blocks, min_size=1, max_size=8), data=st.data())
def test_rows_move_in_order_and_none_is_lost_or_doubled(
    temporary_store: NewStore, history: list[Rows], data: st.DataObject
) -> None:
    with temporary_store() as store:
        grown(store, history)
        before = everything(store)
        final = -1
        for _ in range(data.draw(st.integers(1, 4))):
            final = max(final, data.draw(st.integers(0, len(history))))
            at_most = data.draw(st.integers(1, 5))
            while finalize_rows(store, chain_id=1, final=final, at_most=at_most):
                assert everything(store) == before
            found = read_checkpoint(store, chain_id=1, stream=FINAL)
            assert found is not None
            assert found.number == final
            for table in TABLES:
                waiting = f"select count(*) from {table} where block_number <= ?"  # noqa: S608
                done = f"select count(*) from final_{table} where block_number > ?"  # noqa: S608
                assert read_rows(store, waiting, final) == [(0,)]
                assert read_rows(store, done, final) == [(0,)]
        assert_balances_are_final(store)


@contextmanager
def stopped_after(writes: int) -> Iterator[None]:
    """The process ends before the writing statement of a transaction that has this number."""
    done = itertools.count()

    def counting(real: Callable[..., int]) -> Callable[..., int]:
        def write(*args: object, **more: object) -> int:
            if next(done) == writes:
                raise KeyboardInterrupt
            return real(*args, **more)

        return write

    with pytest.MonkeyPatch.context() as patch:
        for kind in (SqliteTransaction, PostgresTransaction):
            for name in ("execute", "execute_many", "insert"):
                patch.setattr(kind, name, counting(getattr(kind, name)))
        yield


HISTORY = [Rows(3, (0, 1, 1), 2) for _ in range(12)]


def test_stopped_between_any_two_statements_it_has_done_the_step_or_nothing(
    temporary_store: NewStore,
) -> None:
    with temporary_store() as store:
        grown(store, HISTORY)
        before, stops = all_tables(store), 0
        while True:
            try:
                with stopped_after(stops):
                    finalize_rows(store, chain_id=1, final=8, at_most=7)
                break
            except KeyboardInterrupt:
                assert all_tables(store) == before
                stops += 1
        assert stops > 10
        assert_balances_are_final(store)
        while finalize_rows(store, chain_id=1, final=8, at_most=7):
            pass
        finalized = without_batch_numbers(all_tables(store))
    with temporary_store() as store:
        grown(store, HISTORY)
        while finalize_rows(store, chain_id=1, final=8, at_most=7):
            pass
        assert without_batch_numbers(all_tables(store)) == finalized


def test_a_commit_that_fails_finalizes_nothing(
    file_store: FileStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect = sqlite3.connect

    class Full(sqlite3.Connection):
        def execute(self, statement: str, /, *parameters: object) -> sqlite3.Cursor:
            if statement == "commit":
                message = "database or disk is full"
                raise sqlite3.OperationalError(message)
            return super().execute(statement, *parameters)  # type: ignore[arg-type]  # as given

    grown(file_store, HISTORY)
    before = all_tables(file_store)
    other = FileStore(file_store.path)
    with monkeypatch.context() as patch:
        patch.setattr(
            sqlite3, "connect", lambda *args, **more: connect(*args, factory=Full, **more)
        )
        other.file._drop_writer()
        with pytest.raises(StoreError, match="full"):
            finalize_rows(other, chain_id=1, final=8)
    assert all_tables(file_store) == before
    assert finalize_rows(file_store, chain_id=1, final=8) > 0
    other.close()


@settings(max_examples=one_in(2))
@given(
    waves=st.lists(
        st.lists(st.tuples(st.integers(1, 60), st.integers(0, 1)), max_size=30), max_size=6
    ),
    data=st.data(),
)
def test_the_newest_trades_of_a_pool_are_kept_for_prices(
    temporary_store: NewStore, waves: list[list[tuple[int, int]]], data: st.DataObject
) -> None:
    """Kept in any order of back-fill and following; block 0 has the pools' events."""
    with temporary_store() as store:
        grown(store, [Rows(0, (), 0)])
        trades: dict[tuple[int, int], int] = {}
        for wave, places in enumerate(waves):
            swaps = {(number, wave * 100 + at): which for at, (number, which) in enumerate(places)}
            trades |= swaps
            with store.transaction() as tx:
                rows = [swap(*place, POOLS[which]) for place, which in swaps.items()]
                insert_trades(tx, rows, chain_id=1, anchors=[QUOTE])
            final = data.draw(st.integers(0, 60))
            while finalize_rows(store, chain_id=1, final=final, at_most=11):
                pass
            for which, key in enumerate(POOLS):
                own = sorted((place for place, one in trades.items() if one == which), reverse=True)
                found = list_newest_trades(
                    store,
                    chain_id=1,
                    token=TOKEN,
                    pool_keys=[HexBytes(key)],
                    from_block=0,
                    at_most=16,
                )
                assert [(row.block_number, row.log_index) for row in found] == own[:16]
        kept = read_rows(store, "select count(*) from recent_trade group by pool_no")
        assert all(row <= (16,) for row in kept)


def test_chains_have_batches_of_their_own_and_a_closed_one_gets_no_more(store: Store) -> None:
    grown(store, HISTORY)
    with store.transaction() as tx:
        insert_undecoded(tx, [msgspec.structs.replace(undecoded(1, 1), chain_id=56)])
    assert finalize_rows(store, chain_id=1, final=2, at_most=2)
    assert finalize_rows(store, chain_id=56, final=2)
    assert finalize_rows(store, chain_id=1, final=2, at_most=2)
    batches = "select batch, chain_id, is_closed from batch order by batch"
    assert read_rows(store, batches) == [(1, 1, 0), (2, 56, 0)]
    write_rows(store, "update batch set is_closed = 1 where batch = 1")
    batch_rows = read_rows(store, "select count(*) from final_transfer where batch = 1")
    assert finalize_rows(store, chain_id=1, final=2, at_most=2)
    assert read_rows(store, "select count(*) from final_transfer where batch = 1") == batch_rows
    assert read_rows(store, batches) == [(1, 1, 1), (2, 56, 0), (3, 1, 0)]


def test_nothing_to_finalize_opens_no_batch(store: Store) -> None:
    assert finalize_rows(store, chain_id=1, final=5) == 0
    assert read_rows(store, "select * from batch") == []


def test_the_final_block_never_moves_back(store: Store) -> None:
    for final in (5, 3):
        finalize_rows(store, chain_id=1, final=final)
        found = read_checkpoint(store, chain_id=1, stream=FINAL)
        assert found is not None
        assert found.number == 5


def test_a_range_that_is_filled_twice_does_not_stop_finalization(store: Store) -> None:
    """Nothing is summed of trades and undecoded logs, so a repeated one is left out."""
    again = Rows(0, (0, 1, 1), 2)
    grown(store, [again])
    before = everything(store)
    for _ in range(2):
        finalize_rows(store, chain_id=1, final=0)
        with store.transaction() as tx:
            store_block(tx, 0, again)
    finalize_rows(store, chain_id=1, final=0)
    assert everything(store) == before
