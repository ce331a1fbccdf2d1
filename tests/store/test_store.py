"""Protects the store: several threads, a second follower, and crashes."""

import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import msgspec
import pytest
from msgspec import structs

from core.errors import StoreError
from core.evm.primitives import Address, Hash32, HexBytes
from core.report.rows import PoolRow
from sql.chain.blocks import list_blocks, list_checkpoints, write_checkpoint
from sql.chain.follow_lock import hold_follow_lock
from sql.chain.pool_tables import insert_pools, list_pools
from sql.engine.sqlite_file import SqliteFile, SqliteReader
from sql.engine.store import MEMORY, SERVING_LAYOUT, FileStore, Store
from sql.engine.store_files import StoreFiles
from sql.engine.table_rows import BlockRow, CheckpointRow
from sql.tokens.codes import delete_other_versions, read_found, write_found
from sql.tokens.tokens import Because, list_tracked, read_token, track_tokens
from tests.harness.store.child_functions import ROWS, read_line, start
from tests.harness.store.sample_rows import address, block, hash32, pool
from tests.harness.store.store_contents import read_rows, reopened

TOKEN, OTHER, QUOTE = address(0xA), address(0xB), address(2)


def test_readers_see_whole_transactions_while_one_writes(store: Store) -> None:
    """Each transaction moves the checkpoint and adds a block: a reader sees both or neither."""
    uneven: list[tuple[int, int]] = []
    is_done = threading.Event()

    def read() -> None:
        while not is_done.is_set():
            with store.snapshot() as reader:
                checkpoints = list_checkpoints(reader, chain_id=1)
                blocks = len(list_blocks(reader, chain_id=1))
            number = checkpoints[0].number if checkpoints else 0
            if number != blocks:
                uneven.append((number, blocks))

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for number in range(1, 80):
        with store.transaction() as tx:
            tx.insert("block", [block(number)])
            write_checkpoint(
                tx, CheckpointRow(chain_id=1, stream="follow", number=number, hash=None)
            )
    is_done.set()
    for reader in readers:
        reader.join()
    assert not uneven
    assert len(list_blocks(store, chain_id=1)) == 79


def test_writers_take_turns(store: Store) -> None:
    def write(chain_id: int) -> None:
        for at in range(25):
            with store.transaction() as tx:
                track_tokens(tx, chain_id=chain_id, seen={address(at): 1}, because="pool")

    writers = [threading.Thread(target=write, args=(chain_id,)) for chain_id in (1, 56, 8453)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    ids = [row.token_id for chain in (1, 56, 8453) for row in list_tracked(store, chain_id=chain)]
    assert sorted(ids) == list(range(1, 76))


def test_a_snapshot_stays_while_others_write(store: Store) -> None:
    with store.snapshot() as reader:
        assert list_blocks(reader, chain_id=1) == []
        with store.transaction() as tx:
            tx.insert("block", [block(1)])
            assert list_blocks(tx, chain_id=1) == [block(1)]
        assert list_blocks(reader, chain_id=1) == []
    assert list_blocks(store, chain_id=1) == [block(1)]


def test_a_closed_store_says_so(store: Store) -> None:
    store.close()
    store.close()
    with pytest.raises(StoreError, match="closed"):
        store.fetch("blocks/list_window", BlockRow, chain_id=1)
    with pytest.raises(StoreError, match="closed"), store.transaction():
        pass


def test_two_stores_of_one_place_see_and_await_each_other(store: Store) -> None:
    other = reopened(store)
    with store.transaction() as tx:
        tx.insert("block", [block(1)])
        assert list_blocks(other, chain_id=1) == []
    with other.transaction() as tx:
        assert list_blocks(tx, chain_id=1) == [block(1)]
        tx.insert("block", [block(2)])
    assert list_blocks(store, chain_id=1) == [block(1), block(2)]
    other.close()


def test_a_reader_cannot_write(store: Store) -> None:
    with pytest.raises(StoreError, match=r"readonly|read-only"):
        store.fetch("batches/insert_batch", BlockRow, chain_id=1)
    assert read_rows(store, "select * from batch") == []


def test_what_a_number_or_a_text_cannot_be_is_an_error_of_the_store(store: Store) -> None:
    for broken in (block(2**63), structs.replace(block(1), hash=Hash32("0x1"))):
        with pytest.raises((StoreError, ValueError)), store.transaction() as tx:
            tx.insert("block", [broken])
    with pytest.raises(StoreError), store.transaction() as tx:
        write_checkpoint(tx, CheckpointRow(chain_id=1, stream="\ud800", number=1, hash=None))
    assert list_blocks(store, chain_id=1) == []


def test_a_pool_that_comes_twice_is_kept_once(store: Store) -> None:
    pools = [pool(at, address(at), block_number=at) for at in range(100, 106)]
    with store.transaction() as tx:
        assert insert_pools(tx, pools[:4]) == 4
        assert insert_pools(tx, [*pools[2:], pools[5]]) == 2
        assert insert_pools(tx, []) == 0
    assert list_pools(store, chain_id=1, token=QUOTE) == pools


def test_pools_are_found_from_both_sides_and_by_quote(store: Store) -> None:
    with_quote = pool(100, TOKEN, block_number=1)
    turned = structs.replace(
        pool(101, QUOTE, block_number=2, quote=TOKEN), pool_id=hash32(5), hooks=address(9)
    )
    with_other = pool(102, TOKEN, block_number=3, quote=OTHER)
    elsewhere = structs.replace(with_quote, chain_id=56)
    with store.transaction() as tx:
        insert_pools(tx, [with_other, turned, with_quote])
        insert_pools(tx, [elsewhere])
    assert list_pools(store, chain_id=1, token=TOKEN) == [with_quote, turned, with_other]
    assert list_pools(store, chain_id=1, token=TOKEN, quotes=[QUOTE]) == [with_quote, turned]
    assert list_pools(store, chain_id=1, token=TOKEN, quotes=[]) == []
    assert list_pools(store, chain_id=1, token=address(77)) == []


def test_of_very_many_pools_in_one_contract_the_first_and_the_newest_are_read(
    store: Store,
) -> None:
    plain = [pool(100 + at, TOKEN, block_number=at) for at in range(4, 7)]
    by_id = [
        structs.replace(
            pool(50, TOKEN, block_number=at),
            pool_key=HexBytes(hash32(at)),
            pool_id=hash32(at),
            log_index=99,
        )
        for at in range(1, 10)
    ]
    with store.transaction() as tx:
        insert_pools(tx, [*plain, *by_id])

    def read(at_most: int) -> list[PoolRow]:
        return list_pools(store, chain_id=1, token=TOKEN, at_most=at_most)

    assert read(9) == list_pools(store, chain_id=1, token=TOKEN)
    assert read(5) == [*by_id[:3], *plain, *by_id[7:]]


def test_a_token_keeps_its_number_its_first_sight_and_its_best_reason(store: Store) -> None:
    sights: list[tuple[Because, dict[Address, int]]] = [
        ("request", {TOKEN: 50}),
        ("pool", {TOKEN: 70, OTHER: 60}),
        ("pool", {OTHER: 40}),
        ("request", {OTHER: 10}),
    ]
    for because, seen in sights:
        with store.transaction() as tx:
            now = track_tokens(tx, chain_id=1, seen=seen, because=because)
            assert now == [read_token(tx, chain_id=1, address=token) for token in seen]
    rows = [
        (row.address, row.tracked_because, row.first_seen_block)
        for row in list_tracked(store, chain_id=1)
    ]
    assert rows == [(TOKEN, "pool", 50), (OTHER, "pool", 10)]
    assert read_token(store, chain_id=56, address=TOKEN) is None


def test_what_a_code_tells_is_kept_per_version(store: Store) -> None:
    code, other = hash32(1), hash32(2)
    write_found(store, code_hash=code, version="1", size=10, found="old")
    write_found(store, code_hash=code, version="1", size=10, found="first")
    write_found(store, code_hash=code, version="2", size=10, found="second")
    assert read_found(store, code_hash=code, version="1") == "first"
    assert read_found(store, code_hash=code, version="2") == "second"
    assert read_found(store, code_hash=other, version="2") is None
    delete_other_versions(store, version="2")
    assert read_found(store, code_hash=code, version="1") is None
    assert read_found(store, code_hash=code, version="2") == "second"


def test_codes_that_share_a_key_are_told_apart(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sql.tokens.codes._key_of", lambda code_hash, version: 7)
    write_found(store, code_hash=hash32(1), version="1", size=10, found="first")
    assert read_found(store, code_hash=hash32(2), version="1") is None
    assert read_found(store, code_hash=hash32(1), version="2") is None


def test_memory_stores_are_apart() -> None:
    one, two = Store.open(MEMORY), Store.open(MEMORY)
    with one.transaction() as tx:
        tx.insert("block", [block(1)])
    assert list_blocks(two, chain_id=1) == []
    one.close()
    two.close()


def test_the_log_is_moved_into_the_file_and_cut_when_it_is_long(file_store: FileStore) -> None:
    serving = StoreFiles(prefix=file_store.path).serving
    log = serving.with_name(serving.name + "-wal")
    for number in range(1, 50):
        with file_store.transaction() as tx:
            tx.insert("block", [block(number)])
    before = log.stat().st_size
    file_store.file.checkpoint(truncate_above_bytes=before)
    assert log.stat().st_size == before  # the next commits write over it
    file_store.file.checkpoint(truncate_above_bytes=before - 1)
    assert log.stat().st_size == 0
    assert len(list_blocks(file_store, chain_id=1)) == 49


def test_a_log_that_is_being_read_is_not_cut_and_the_reader_keeps_its_state(path: Path) -> None:
    file = SqliteFile(StoreFiles(prefix=path).serving, SERVING_LAYOUT, wait_s=0.05)
    with file.transaction() as tx:
        tx.insert("block", [block(1)])
    with file.snapshot() as reader:
        assert list_blocks(reader, chain_id=1) == [block(1)]
        with file.transaction() as tx:
            tx.insert("block", [block(2)])
        file.checkpoint(truncate_above_bytes=0)
        assert list_blocks(reader, chain_id=1) == [block(1)]
    with file.snapshot() as reader:
        assert list_blocks(reader, chain_id=1) == [block(1), block(2)]
    file.close()


# --- follow lock --------------------------------------------------------------------------------
@pytest.mark.process
def test_a_chain_has_one_follower_at_a_time(tmp_path: Path) -> None:
    files = StoreFiles(prefix=tmp_path / "store")
    with hold_follow_lock(files, 1):
        with (
            pytest.raises(StoreError, match="another process follows chain 1"),
            hold_follow_lock(files, 1),
        ):
            pass
        with hold_follow_lock(files, 56):
            pass
    with hold_follow_lock(files, 1):
        pass


@pytest.mark.process
def test_a_follower_that_was_killed_holds_nothing(tmp_path: Path) -> None:
    files = StoreFiles(prefix=tmp_path / "store")
    hold = (
        "import sys; from pathlib import Path; from sql.chain.follow_lock import hold_follow_lock;"
        "from sql.engine.store_files import StoreFiles;"
        "files = StoreFiles(prefix=Path(sys.argv[1]));"
        "lock = hold_follow_lock(files, 1); lock.__enter__(); print('held', flush=True);"
        "sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", hold, str(files.prefix)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as owner:
        assert owner.stdout
        assert owner.stdout.readline() == b"held\n"
        with pytest.raises(StoreError, match=f"process {owner.pid}"), hold_follow_lock(files, 1):
            pass
        owner.kill()
    with hold_follow_lock(files, 1):
        pass


# --- crash --------------------------------------------------------------------------------------


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


@pytest.mark.process
def test_a_transaction_under_way_leaves_nothing_behind(path: Path) -> None:
    with start("stop_inside_a_transaction", path) as child:
        assert read_line(child) == "inside"
        child.kill()
    stored = look(path)
    assert stored.checkpoint == 0
    assert_agrees(stored)


@pytest.mark.process
def test_killed_at_any_moment_and_started_again(path: Path) -> None:
    for blocks in (1, 7, 3):
        with start("ingest_for_ever", path) as child:
            committed = [int(read_line(child)) for _ in range(blocks)]
            child.kill()
        stored = look(path)
        assert_agrees(stored)
        assert stored.checkpoint >= committed[-1]


@pytest.mark.process
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


@pytest.mark.process
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


@pytest.mark.process
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


@pytest.mark.process
def test_a_snapshot_whose_end_fails_hands_its_connection_to_nobody(file_store: FileStore) -> None:
    with pytest.raises(StoreError), file_store.snapshot() as reader:
        list_blocks(reader, chain_id=1)
        assert isinstance(reader, SqliteReader)
        reader._connection.execute("rollback")  # so there is none left to end
    with file_store.transaction() as tx:
        tx.insert("block", [block(1)])
    assert list_blocks(file_store, chain_id=1) == [block(1)]
