"""Protects the rows against crashes: whatever ends the process, checkpoint and rows agree."""

from pathlib import Path

import msgspec
import polars as pl
import pytest

from core.errors import StoreError
from sql.blocks import list_checkpoints
from sql.query import Bounds, run_query
from sql.store import Store
from tests.sql.children import ROWS
from tests.sql.processes import read_line, start

REQUEST = pl.DataFrame({"chain_id": [1], "address": ["0x"], "block_number": [1]})


class Held(msgspec.Struct, frozen=True, kw_only=True):
    """What a file holds."""

    checkpoint: int
    blocks: dict[int, int]
    """Rows by block."""


def look(path: Path) -> Held:
    store = Store.open(path)
    checkpoints = list_checkpoints(store, chain_id=1)
    query = "select block_number, count(*) from undecoded group by all order by all"
    blocks = {row[0]: row[1] for row in run_query(store, query, Bounds()).rows}
    store.close()
    return Held(
        checkpoint=checkpoints[0].number if checkpoints else -1,
        blocks=msgspec.convert(blocks, dict[int, int]),
    )


def assert_agrees(held: Held) -> None:
    """Every block up to the checkpoint is there once and whole, and none after it."""
    assert held.blocks == dict.fromkeys(range(held.checkpoint + 1), ROWS)


def test_a_transaction_under_way_leaves_nothing_behind(path: Path) -> None:
    with start("stop_inside_a_transaction", path) as child:
        assert read_line(child) == "inside"
        child.kill()
    held = look(path)
    assert held.checkpoint == 0
    assert_agrees(held)


def test_killed_at_any_moment_and_started_again(path: Path) -> None:
    for blocks in (1, 7, 3):
        with start("ingest_for_ever", path) as child:
            told = [int(read_line(child)) for _ in range(blocks)]
            child.kill()
        held = look(path)
        assert_agrees(held)
        assert held.checkpoint >= told[-1]


@pytest.mark.parametrize("room", [100_000, 3_000_000, 12_000_000])
def test_a_full_disk_is_an_error_and_then_forgotten(path: Path, room: int) -> None:
    """Little room: the log of a commit does not fit. More: a later checkpoint of the file."""
    with start("run_out_of_disk", path, room) as child:
        full, after = int(read_line(child)), int(read_line(child))
        assert child.wait() == 0
    assert after == full + 1
    held = look(path)
    assert_agrees(held)
    assert held.checkpoint == after - 1


def test_a_failed_block_is_undone(store: Store) -> None:
    class StopError(Exception):
        pass

    query = "select count(*) from request"
    with pytest.raises(StopError), store.transaction() as tx:
        tx.insert_frame("request", REQUEST)
        raise StopError
    assert run_query(store, query, Bounds()).rows == [(0,)]
    with (
        pytest.raises(StoreError, match="writing already"),
        store.transaction(),
        store.transaction(),
    ):
        pass
    with store.transaction() as tx:
        tx.insert_frame("request", REQUEST)
    assert run_query(store, query, Bounds()).rows == [(1,)]
