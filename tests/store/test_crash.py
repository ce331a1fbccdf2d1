"""Protects the rows against crashes: checkpoint and rows agree after any end of the process."""

import sqlite3
from pathlib import Path

import msgspec
import pytest

from core.errors import StoreError
from sql.chain.blocks import list_blocks, list_checkpoints
from sql.engine.sqlite_file import SqliteReader
from sql.engine.store import FileStore, Store
from tests.harness.store.child_functions import ROWS, read_line, start
from tests.harness.store.sample_rows import block
from tests.harness.store.store_contents import read_rows

pytestmark = pytest.mark.process


class Held(msgspec.Struct, frozen=True, kw_only=True):
    """Contents of a file."""

    checkpoint: int
    blocks: dict[int, int]
    """Rows by block."""


def look(path: Path) -> Held:
    store = Store.open(path)
    checkpoints = list_checkpoints(store, chain_id=1)
    query = "select block_number, count(*) from undecoded group by 1 order by 1"
    blocks = read_rows(store, query)
    store.close()
    return Held(
        checkpoint=checkpoints[0].number if checkpoints else -1,
        blocks=dict(msgspec.convert(blocks, list[tuple[int, int]])),
    )


def assert_agrees(stored: Held) -> None:
    """Every block up to the checkpoint is there once and whole, and none after it."""
    assert stored.blocks == dict.fromkeys(range(stored.checkpoint + 1), ROWS)


def test_a_transaction_under_way_leaves_nothing_behind(path: Path) -> None:
    with start("stop_inside_a_transaction", path) as child:
        assert read_line(child) == "inside"
        child.kill()
    stored = look(path)
    assert stored.checkpoint == 0
    assert_agrees(stored)


def test_killed_at_any_moment_and_started_again(path: Path) -> None:
    for blocks in (1, 7, 3):
        with start("ingest_for_ever", path) as child:
            committed = [int(read_line(child)) for _ in range(blocks)]
            child.kill()
        stored = look(path)
        assert_agrees(stored)
        assert stored.checkpoint >= committed[-1]


@pytest.mark.parametrize("room", [100_000, 3_000_000, 12_000_000])
def test_a_full_disk_is_an_error_and_then_forgotten(path: Path, room: int) -> None:
    """Little room: the log of a commit does not fit. More: a later checkpoint of the file."""
    with start("run_out_of_disk", path, room) as child:
        full, after = int(read_line(child)), int(read_line(child))
        assert child.wait() == 0
    assert after == full + 1
    stored = look(path)
    assert_agrees(stored)
    assert stored.checkpoint == after - 1


def test_a_failed_block_is_undone(store: Store) -> None:
    class StopError(Exception):
        pass

    with pytest.raises(StopError), store.transaction() as tx:
        tx.insert("block", [block(1)])
        raise StopError
    assert list_blocks(store, chain_id=1) == []
    with (
        pytest.raises(StoreError, match="writing already"),
        store.transaction(),
        store.transaction(),
    ):
        pass
    with store.transaction() as tx:
        tx.insert("block", [block(1)])
    assert list_blocks(store, chain_id=1) == [block(1)]


def test_a_connection_whose_rollback_fails_is_never_used_again(
    file_store: FileStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its transaction would go on, and the next commit would take it along."""
    connect = sqlite3.connect

    class Failing(sqlite3.Connection):
        def execute(self, statement: str, /, *parameters: object) -> sqlite3.Cursor:
            if statement == "rollback":
                raise sqlite3.OperationalError(statement)
            return super().execute(statement, *parameters)  # type: ignore[arg-type]  # as given

    with monkeypatch.context() as patch:
        patch.setattr(
            sqlite3, "connect", lambda *args, **more: connect(*args, factory=Failing, **more)
        )
        failing = Store.open(file_store.path)
        with pytest.raises(ZeroDivisionError), failing.transaction() as tx:
            tx.insert("block", [block(1)])
            raise ZeroDivisionError
    with failing.transaction() as tx:  # by a connection that is not made to fail
        tx.insert("block", [block(2)])
    assert list_blocks(file_store, chain_id=1) == [block(2)]
    failing.close()


def test_a_snapshot_whose_end_fails_hands_its_connection_to_nobody(file_store: FileStore) -> None:
    with pytest.raises(StoreError), file_store.snapshot() as reader:
        list_blocks(reader, chain_id=1)
        assert isinstance(reader, SqliteReader)
        reader._connection.execute("rollback")  # so there is none left to end
    with file_store.transaction() as tx:
        tx.insert("block", [block(1)])
    assert list_blocks(file_store, chain_id=1) == [block(1)]
