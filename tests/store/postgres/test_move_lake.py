"""Protects the lake of a store on its way to PostgreSQL: all of it arrives, and goes on there."""

import shutil
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

import msgspec
import psycopg
import pytest

from config.object_store import ObjectStoreKeys
from config.store_address import FileAddress, PostgresAddress
from core.errors import StoreError
from core.process.secret import Secret
from sql.analyst.bounds import Bounds
from sql.analyst.query_runner import run_sql
from sql.engine.store import Store
from sql.engine.store_files import StoreFiles
from sql.lake.bulk_append import BulkRange, append_transfers, list_bulks
from sql.lake.compaction import ChainBounds, CompactionRequest, compact
from sql.lake.find_place import place_of
from sql.lake.lake_file import Lake
from sql.move.move_lake import fill_catalogue
from sql.move.move_store import move_store
from tests.harness.lake.bulk_frames import tokens, transfers_of
from tests.harness.lake.serving_files import (
    PostgresServing,
    connect_serving,
    many_events,
    new_serving,
    write_batch,
)
from tests.harness.parts.empty_databases import EmptyDatabases, address_of
from tests.harness.parts.s3_server import running_s3
from tests.harness.store.child_functions import ROOT

pytestmark = [pytest.mark.process, pytest.mark.fleet]

CHAIN = CompactionRequest(chains=(ChainBounds(chain_id=1),), is_forced=True)
_MOVER = """
import sys
from pathlib import Path
from config.store_address import FileAddress
from tests.harness.parts.empty_databases import address_of
from sql.move.move_store import move_store
say = lambda *what: print(*what, flush=True)
move_store(FileAddress(Path(sys.argv[1])), address_of(sys.argv[2], path=Path(sys.argv[3])), say)
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> FileAddress:
    """A lake of several files, former states and rows that were deleted."""
    files = new_serving(tmp_path_factory.mktemp("made") / "assay")
    Store.open(files.prefix).close()
    for at in range(3):
        with closing(connect_serving(files)) as serving:
            write_batch(serving, many_events(400, from_block=40 * at))
            serving.execute("update batch set is_closed = 1")
        compact(files, CHAIN, now_s=time.time())
    bulk = BulkRange(chain_id=1, stream="back-fill", from_block=1_000, to_block=1_004)
    with closing(Lake.open(files)) as lake:
        frame = transfers_of(many_events(50, from_block=1_000))
        append_transfers(lake, bulk, transfers=frame, tokens=tokens(), stored=None)
        lake.execute("delete_transfers_to", chain_id=1, to_block=20)
    return FileAddress(files.prefix)


@pytest.fixture
def source(made: FileAddress, tmp_path: Path) -> FileAddress:
    shutil.copytree(made.path.parent, tmp_path / "files")
    return FileAddress(tmp_path / "files" / "assay")


@pytest.fixture
def target(empty_databases: EmptyDatabases, tmp_path: Path) -> PostgresAddress:
    return address_of(empty_databases.create_bare(), path=tmp_path / "local" / "again")


def rows_of(address: FileAddress | PostgresAddress) -> Counter[tuple[object, ...]]:
    """All that analysts see of transfers."""
    return Counter(run_sql(address, "from v_transfers", Bounds(max_rows=None)).rows)


def opens(address: PostgresAddress) -> bool:
    try:
        Store.open(address).close()
    except StoreError as error:
        assert "a store is being moved into it" in str(error)
        return False
    return True


def digests(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.rglob("*.parquet")}


def test_a_lake_arrives_whole_and_goes_on(source: FileAddress, target: PostgresAddress) -> None:
    wanted, before = rows_of(source), digests(source.path.parent)
    result = move_store(source, target, lambda *_: None)
    assert result.lake.files > 4
    assert rows_of(target) == wanted
    assert wanted.total() == 1_040
    assert digests(source.path.parent) == before
    assert before.items() <= digests(Path(target.lake)).items()
    with closing(Lake.open(target)) as lake:
        assert [(note.from_block, note.rows) for note in list_bulks(lake)] == [(1_000, 50)]
        with pytest.raises(StoreError, match="of nobody"):
            lake.execute("write_version", version=99)
    with closing(PostgresServing(target)) as serving:
        write_batch(serving, many_events(400, from_block=120))
        serving.execute("update batch set is_closed = 1")
    done = compact(target, CHAIN, now_s=time.time())
    assert done.moved_rows == 400
    assert rows_of(target).total() == wanted.total() + 400


def test_killed_at_any_step_it_goes_on(source: FileAddress, target: PostgresAddress) -> None:
    wanted = rows_of(source)
    for step in ("moving the lake's files", "making the catalogue 0", "checking the lake"):
        with subprocess.Popen(
            [sys.executable, "-c", _MOVER, str(source.path), target.url.value, str(target.prefix)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        ) as mover:
            assert mover.stdout is not None
            assert any(line.startswith(step) for line in mover.stdout)
            mover.kill()
        assert not opens(target)
    move_store(source, target, lambda *_: None)
    assert opens(target)
    assert rows_of(target) == wanted


def test_a_file_that_is_lost_on_the_way_is_noticed(
    source: FileAddress, target: PostgresAddress, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fill_short(*args: object) -> None:
        fill_catalogue(*args)  # type: ignore[arg-type]  # as it was called
        with psycopg.connect(target.url.value) as connection:
            connection.execute(
                "delete from public_lake.ducklake_data_file where data_file_id ="
                " (select min(data_file_id) from public_lake.ducklake_data_file"
                " where end_snapshot is null and record_count = 50)"
            )

    with monkeypatch.context() as patched:
        patched.setattr("sql.move.move_lake.fill_catalogue", fill_short)
        with pytest.raises(StoreError, match=r"transfer of the lake has 990 rows .* 1040 rows"):
            move_store(source, target, lambda *_: None)
    assert not opens(target)
    move_store(source, target, lambda *_: None)
    assert opens(target)


def test_a_place_with_files_of_another_lake_is_left_as_it_is(
    source: FileAddress, target: PostgresAddress
) -> None:
    other = Path(target.lake) / "main" / "transfer" / "other.parquet"
    other.parent.mkdir(parents=True)
    other.touch()
    for _ in range(2):
        with pytest.raises(StoreError, match="files of another lake"):
            move_store(source, target, lambda *_: None)
    assert [path.name for path in Path(target.lake).rglob("*.parquet")] == ["other.parquet"]


def test_a_lake_that_lacks_a_file_or_is_compacted_is_not_moved(
    source: FileAddress, target: PostgresAddress
) -> None:
    with (
        place_of(source).compacting(),
        pytest.raises(StoreError, match="compacting or backing it up"),
    ):
        move_store(source, target, lambda *_: None)
    next(StoreFiles(prefix=source.path).lake_data.rglob("*.parquet")).unlink()
    with pytest.raises(StoreError, match="is not there"):
        move_store(source, target, lambda *_: None)
    assert not opens(target)


def test_a_store_without_its_lake(source: FileAddress, target: PostgresAddress) -> None:
    moved = move_store(source, target, lambda *_: None, with_lake=False)
    assert moved.lake.files == 0
    assert not Path(target.lake).exists()


def test_a_lake_is_moved_to_a_bucket(source: FileAddress, target: PostgresAddress) -> None:
    with running_s3() as server:
        server.create_bucket("moved")
        keys = ObjectStoreKeys(
            key_id=server.key_id,
            secret=Secret(server.secret),
            endpoint=f"http://{server.endpoint}",
        )
        bucket = msgspec.structs.replace(target, lake="s3://moved/lake", objects=keys)
        move_store(source, bucket, lambda *_: None)
        assert rows_of(bucket) == rows_of(source)
