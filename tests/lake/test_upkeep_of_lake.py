"""Protects the lake's rows while files are merged and dropped: none goes but the oldest."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sql.engine.store_files import StoreFiles
from sql.lake.bulk_append import BulkRange, append_transfers
from sql.lake.final_batches import FinalBatches
from sql.lake.lake_file import Lake
from sql.lake.lake_size import measure_lake
from sql.lake.lake_upkeep import (
    DataFile,
    apply_budget,
    clean,
    drop_old_trades,
    last_block_to_drop,
    list_files,
    merge_small_files,
)
from sql.lake.mover import close_batch, copy_facts, move_closed
from tests.harness.lake.bulk_frames import tokens, transfers_of
from tests.harness.lake.serving_files import Event, Onlooker, many_events, write_batch

PIECES = 10
DAY_S = 86_400


class StopError(Exception):
    """Ends the work there."""


def piece(at: int, chain_id: int = 1) -> list[Event]:
    return [
        Event(
            chain_id=chain_id,
            block_number=event.block_number,
            log_index=event.log_index,
            token_id=event.token_id,
            sender=event.sender,
            recipient=event.recipient,
            amount=event.amount,
        )
        for event in many_events(100, from_block=100 * at)
    ]


@pytest.fixture
def filled(fresh: StoreFiles) -> Iterator[Lake]:
    """Ten small files of chain 1 and two of chain 2."""
    with closing(Lake.open(fresh)) as lake:
        for chain_id, pieces in ((1, PIECES), (2, 2)):
            for at in range(pieces):
                bulk = BulkRange(
                    chain_id=chain_id, stream="s", from_block=100 * at, to_block=100 * at + 99
                )
                rows = transfers_of(piece(at, chain_id))
                append_transfers(lake, bulk, transfers=rows, tokens=tokens(), stored=None)
        yield lake


def parquet_files(lake: Lake) -> list[Path]:
    return sorted(lake.files.lake_data.rglob("*.parquet"))


def test_small_files_become_one_with_the_same_rows_in_order(filled: Lake) -> None:
    with closing(Onlooker(filled.files)) as onlooker:
        before = onlooker.look()
        assert merge_small_files(filled) >= PIECES
        assert onlooker.look() == before
        (merged,) = list_files(filled, "transfer", 1)
        assert (merged.rows, merged.first_block, merged.last_block) == (1_000, 0, 909)
        assert merge_small_files(filled) == 0
        # A reader that began before still finds the files of then; later they go.
        clean(filled, now_s=time.time())
        assert len(parquet_files(filled)) > 2
        clean(filled, now_s=time.time() + 2 * DAY_S)
        clean(filled, now_s=time.time() + 2 * DAY_S)
        assert len(parquet_files(filled)) <= 3
        assert onlooker.look() == before
    with filled.transaction() as tx:
        found = tx._connection.execute(
            "select token, block_number, log_index"
            " from read_parquet($1, hive_partitioning = false)",
            [[str(path) for path in parquet_files(filled) if "chain_id=1" in str(path)]],
        ).fetchall()
    assert found == sorted(found)


def test_a_merge_that_ends_in_the_middle_is_none(filled: Lake) -> None:
    with closing(Onlooker(filled.files)) as onlooker:
        before = onlooker.look()

        def stop() -> None:
            raise StopError

        with pytest.raises(StopError):
            merge_small_files(filled, step=stop)
        assert onlooker.look() == before
        merge_small_files(filled)
        assert onlooker.look() == before


def test_a_budget_takes_the_oldest_of_one_chain(filled: Lake) -> None:
    sizes = [file.bytes for file in list_files(filled, "transfer", 1)]
    with closing(Onlooker(filled.files)) as onlooker:
        before = onlooker.look()
        assert apply_budget(filled, 1, max_bytes=sum(sizes)) is None
        assert apply_budget(filled, 1, max_bytes=sum(sizes) - sizes[0] - 1) == 109
        kept = {
            event: count
            for event, count in before.items()
            if event.chain_id == 2 or event.block_number > 109
        }
        assert dict(onlooker.look()) == kept
        assert sum(file.bytes for file in list_files(filled, "transfer", 1)) < sum(sizes)
        assert apply_budget(filled, 1, max_bytes=0) == 909
        assert {event.chain_id for event in onlooker.look()} == {2}


sizes = st.integers(1, 100)
data_files = st.builds(
    DataFile,
    chain_id=st.just(1),
    rows=sizes,
    bytes=sizes,
    first_block=st.just(0),
    last_block=st.integers(0, 20),
    last_time_s=st.none(),
)


@given(files=st.lists(data_files), excess=st.integers(-10, 500))
def test_no_more_is_dropped_than_must_be(files: list[DataFile], excess: int) -> None:
    to_block = last_block_to_drop(files, excess_bytes=excess)
    if excess <= 0 or not files:
        assert to_block is None
        return
    assert to_block is not None
    ends = [file.last_block or 0 for file in files]
    total = sum(file.bytes for file in files)
    dropped = sum(file.bytes for file, end in zip(files, ends, strict=True) if end <= to_block)
    older = sum(file.bytes for file, end in zip(files, ends, strict=True) if end < to_block)
    assert dropped >= min(excess, total)
    assert older < excess


def test_trades_go_by_age_in_whole_files(
    fresh: StoreFiles,
) -> None:
    with (
        closing(sqlite3.connect(fresh.serving, isolation_level=None)) as serving,
        closing(Lake.open(fresh)) as lake,
        closing(FinalBatches.open(fresh)) as batches,
    ):
        for start_s in (100, 200, 300):
            batch = write_batch(serving, [])
            serving.executemany(
                "insert into final_trade values (?, ?, 0, 1, ?, 1.0, 2.0, null, null)",
                [(batch, start_s + at, start_s + at) for at in range(20)],
            )
            close_batch(batches, lake, 1, now_s=5, is_forced=True)
            move_closed(batches, lake, now_s=5)
        assert drop_old_trades(lake, 1, before_s=119) is None
        assert drop_old_trades(lake, 1, before_s=225) == 219
        assert [file.rows for file in list_files(lake, "trade", 1)] == [20]


def test_final_pools_and_launches_are_copied_once(fresh: StoreFiles) -> None:
    with (
        closing(sqlite3.connect(fresh.serving, isolation_level=None)) as serving,
        closing(Lake.open(fresh)) as lake,
        closing(FinalBatches.open(fresh)) as batches,
    ):
        launch = "insert into launch values (1, ?, 'a-pad', x'01', null, x'02', ?, 0)"
        serving.execute("insert into block values (1, 3, x'00', x'00', 1, null)")
        serving.execute(launch, [b"\x01", 2])
        serving.execute(launch, [b"\x02", 3])

        def copied() -> tuple[list[tuple[object, ...]], list[tuple[object, ...]]]:
            for _ in range(2):
                copy_facts(batches, lake, 1)
            with lake.transaction() as tx:
                run = tx._connection.execute
                pools = run("select pool_no, stable, hooks, fee from lake.pool order by 1")
                facts = pools.fetchall()
                launches = run("select token, creator, tx_hash from lake.launch order by 1")
                return facts, launches.fetchall()

        # The third pool and the second launch may still be reorganised away.
        pools, launches = copied()
        assert pools == [(1, True, None, 30), (2, True, None, 30)]
        assert launches == [("0x01", None, "0x02")]
        serving.execute("update block set number = 9")
        serving.execute(launch, [b"\x00", 1])  # of a back-fill: older than what is there
        pools, launches = copied()
        assert [row[0] for row in pools] == [1, 2, 3]
        assert [row[0] for row in launches] == ["0x00", "0x01", "0x02"]


def test_the_size_is_told_by_table_and_chain(filled: Lake) -> None:
    files = filled.files
    found = measure_lake(files, now_s=1e9)
    assert [(each.chain_id, each.table, each.files, each.rows) for each in found.tables] == [
        (1, "transfer", PIECES, 1_000),
        (2, "transfer", 2, 200),
    ]
    on_disk = sum(path.stat().st_size for path in parquet_files(filled))
    assert found.bytes_of(1) + found.bytes_of(2) == on_disk
    assert found.bytes_per_day(1) == 0
    with (
        closing(sqlite3.connect(files.serving, isolation_level=None)) as serving,
        closing(FinalBatches.open(files)) as batches,
    ):
        write_batch(serving, many_events(100, from_block=5_000))
        close_batch(batches, filled, 1, now_s=1e9, is_forced=True)
        move_closed(batches, filled, now_s=10**9)
    found = measure_lake(files, now_s=1e9 + 5)
    assert found.bytes_per_day(1) == 100 * found.bytes_of(1) // 1_100
    assert measure_lake(files, now_s=1e9 + 100_000).bytes_per_day(1) == 0
