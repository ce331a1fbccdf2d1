"""Protects final rows on their way to the lake: none is lost, doubled or changed."""

import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import StoreError
from sql.engine.store_files import StoreFiles
from sql.lake.final_batches import FinalBatches
from sql.lake.lake_file import Lake
from sql.lake.mover import CLOSE_AFTER_S, close_batch, move_closed
from tests.harness.lake.crashes import crash_before
from tests.harness.lake.serving_files import (
    EDGE_AMOUNTS,
    Event,
    Onlooker,
    Serving,
    event_lists,
    events,
    forget,
    many_events,
    write_batch,
    write_hot,
)

STATEMENTS = 18
"""More than a move has."""


class _Noted(msgspec.Struct, frozen=True, kw_only=True):
    transfers: int


def move(batches: FinalBatches, lake: Lake) -> None:
    close_batch(batches, lake, 1, now_s=5, is_forced=True)
    move_closed(batches, lake, now_s=5)


@settings(max_examples=10)
@given(data=event_lists, hot=event_lists, crashes=st.lists(st.integers(0, STATEMENTS), max_size=4))
def test_a_crash_before_any_statement_loses_and_doubles_nothing(
    onlooker: Onlooker,
    serving: Serving,
    lake: Lake,
    batches: FinalBatches,
    data: list[Event],
    hot: list[Event],
    crashes: list[int],
) -> None:
    forget(serving, lake)
    write_batch(serving, data)
    write_hot(serving, hot)
    everything = Counter(data) + Counter(hot)
    for statement in crashes:
        with crash_before(statement):
            move(batches, lake)
        assert onlooker.look() == everything
    move(batches, lake)
    assert onlooker.look() == everything
    assert serving.execute("select count(*) from final_transfer").fetchone() == (0,)
    assert serving.execute("select count(*), sum(is_closed) from batch").fetchone() == (1, 0)


def test_a_crash_before_each_statement_in_turn(
    onlooker: Onlooker, serving: Serving, lake: Lake, batches: FinalBatches
) -> None:
    """Some are before the lake's commit, some between it and the deletion, some within that."""
    seen = set()
    for statement in range(STATEMENTS + 1):
        forget(serving, lake)
        data = many_events(20)
        batch = write_batch(serving, data)
        with crash_before(statement):
            move(batches, lake)
        assert onlooker.look() == Counter(data)
        left = serving.execute("select count(*) from final_transfer").fetchone()[0]
        noted = lake.fetch("find_moved", _Noted, batch=batch)
        seen.add((left, bool(noted)))
        move(batches, lake)
        assert onlooker.look() == Counter(data)
    assert seen == {(20, False), (20, True), (0, True)}


def test_the_numbers_at_the_edges_arrive_as_they_are(
    onlooker: Onlooker, serving: Serving, lake: Lake, batches: FinalBatches
) -> None:
    forget(serving, lake)
    data = [
        Event(
            chain_id=1,
            block_number=2**40,
            log_index=at,
            token_id=1,
            sender=0,
            recipient=2**160 - 1,
            amount=amount,
        )
        for at, amount in enumerate(EDGE_AMOUNTS)
    ]
    write_batch(serving, data)
    move(batches, lake)
    assert onlooker.look() == Counter(data)


@settings(max_examples=5)
@given(data=st.lists(events, min_size=1, unique_by=lambda event: event.log_index))
def test_rows_that_do_not_add_up_stay_where_they_are(
    onlooker: Onlooker,
    serving: Serving,
    lake: Lake,
    batches: FinalBatches,
    data: list[Event],
) -> None:
    """A negative amount is no transfer's; the words of the lake cannot represent it."""
    forget(serving, lake)
    batch = write_batch(serving, data)
    serving.execute(
        "insert into final_transfer values (?, 99, 0, 1, ?, ?, ?, null)",
        [batch, bytes(20), bytes(20), b"\xff"],
    )
    for _ in range(2):
        with pytest.raises(StoreError):
            move(batches, lake)
    kept = serving.execute("select count(*) from final_transfer where batch = ?", [batch])
    assert kept.fetchone() == (len(data) + 1,)
    serving.execute("delete from final_transfer where block_number = 99")
    move(batches, lake)
    assert onlooker.look() == Counter(data)


def test_trades_and_undecoded_logs_go_along(
    serving: Serving, lake: Lake, batches: FinalBatches
) -> None:
    forget(serving, lake)
    batch = write_batch(serving, [])
    serving.execute("begin")
    serving.executemany(
        "insert into final_trade values (?, ?, 3, 2, 77, -1.5e30, ?, x'0e', null)",
        [(batch, at, at / 3) for at in range(5_000)],
    )
    serving.execute(
        "insert into final_undecoded values (?, 8, 1, ?, ?, 2, ?)",
        [batch, b"\0" * 19 + b"\x01", b"\xab" * 32, b"\0\xff"],
    )
    serving.execute("commit")
    move(batches, lake)
    with lake.transaction() as tx:
        trades = tx._connection.execute(
            "select count(*), sum(amount1), min(amount0), any_value(pool_key), any_value(dex),"
            " any_value(kind), any_value(token0), any_value(token1), any_value(pool_no)"
            " from lake.trade"
        ).fetchone()
        undecoded = tx._connection.execute("from lake.undecoded").fetchall()
    assert trades == (
        5_000,
        pytest.approx(sum(range(5_000)) / 3),
        -1.5e30,
        "0x" + "02" * 20,
        "a dex",
        "AmmV2",
        "0x" + "00" * 19 + "01",
        "0x" + "02" * 20,
        2,
    )
    address, topic = "0x" + "00" * 19 + "01", "0x" + "ab" * 32
    assert undecoded == [(batch, 1, 8, 1, address, topic, 2, "0x00ff")]
    assert serving.execute("select count(*) from final_trade").fetchone() == (0,)
    assert serving.execute("select count(*) from final_undecoded").fetchone() == (0,)


def test_a_batch_is_closed_by_age_or_size_and_never_without_rows(
    serving: Serving, lake: Lake, batches: FinalBatches, monkeypatch: pytest.MonkeyPatch
) -> None:
    forget(serving, lake)
    write_batch(serving, [])
    assert close_batch(batches, lake, 1, now_s=1e9, is_forced=True) is None
    assert close_batch(batches, lake, 2, now_s=1e9, is_forced=True) is None
    first = write_batch(serving, many_events(10))
    assert close_batch(batches, lake, 1, now_s=1e9, is_forced=True) == first
    move_closed(batches, lake, now_s=10**9)
    second = write_batch(serving, many_events(10, from_block=1))
    assert second > first
    assert close_batch(batches, lake, 1, now_s=1e9 + CLOSE_AFTER_S - 1, is_forced=False) is None
    monkeypatch.setattr("sql.lake.mover.CLOSE_AT_ROWS", 10)
    assert close_batch(batches, lake, 1, now_s=1e9 + 1, is_forced=False) == second
    third = write_batch(serving, many_events(1, from_block=2))
    assert close_batch(batches, lake, 1, now_s=1e9 + CLOSE_AFTER_S, is_forced=False) == third


def test_what_was_noted_is_compared_again_before_anything_is_deleted(fresh: StoreFiles) -> None:
    """As after a power cut that took back a file of the lake, or the wrong back-up of it."""
    data = many_events(50)
    with (
        closing(sqlite3.connect(fresh.serving, isolation_level=None)) as serving,
        closing(Lake.open(fresh)) as lake,
        closing(FinalBatches.open(fresh)) as batches,
    ):
        batch = write_batch(serving, data)
        close_batch(batches, lake, 1, now_s=5, is_forced=True)
        with lake.transaction() as tx:
            numbers = {"batch": batch, "chain_id": 1, "trades": 0, "undecoded": 0}
            sums = {"amount_sum": "1", "sender_sum": "1", "recipient_sum": "1"}
            tx.execute("insert_moved", **numbers, **sums, transfers=50, moved_at_s=5)
        with pytest.raises(StoreError, match="does not add up"):
            move_closed(batches, lake, now_s=5)
        assert serving.execute("select count(*) from final_transfer").fetchone() == (50,)


def test_a_store_without_a_serving_state_has_nothing_to_move(tmp_path: Path) -> None:
    missing = StoreFiles(prefix=tmp_path / "none")
    with pytest.raises(StoreError, match="no such file"):
        FinalBatches.open(missing)
