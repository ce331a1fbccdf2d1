"""Protects against files that vanish or are damaged: at start, while open, and at a back-up."""

import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from api.readiness import store_state
from config.plans import load_plans
from core.errors import StoreError
from sql.accounts.ledger import Ledger
from sql.backup.make_backup import make_backup
from sql.backup.restore import restore_backup
from sql.engine.store import Store
from sql.engine.store_files import StoreFiles
from sql.lake.compaction import ChainBounds, CompactionRequest
from sql.lake.compaction_runner import run_compaction
from sql.lake.lake_files import check_lake_files
from tests.harness.lake.serving_files import many_events, new_serving, write_batch
from tests.harness.store.empty_files import new_ledger, new_store

LEDGER = "store.ledger.sqlite"
COMPACTION = CompactionRequest(chains=(ChainBounds(chain_id=1),), is_forced=True)


@pytest.fixture
def files(tmp_path: Path) -> Iterator[StoreFiles]:
    """A store that has been served once, with a key."""
    new_store(tmp_path / "store").close()
    new_ledger(tmp_path / LEDGER).close()
    with opened(tmp_path) as (_, ledger):
        ledger.create_key(load_plans()["developer"], "own", 0.0)
    yield StoreFiles(prefix=tmp_path / "store")


@contextmanager
def opened(folder: Path) -> Iterator[tuple[Store, Ledger]]:
    """A store and its ledger as a service opens them."""
    with (
        closing(Store.open(folder / "store")) as store,
        closing(Ledger.open(folder / LEDGER)) as ledger,
    ):
        ledger.tie_to(store)
        yield store, ledger


def remove_sqlite(path: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


@pytest.mark.parametrize("name", [LEDGER, "store.serving.sqlite"])
def test_a_file_that_vanishes_while_open_is_noticed_and_not_made_again(
    files: StoreFiles, name: str
) -> None:
    with opened(files.folder) as (store, ledger):
        assert store_state(store, ledger).is_ready
        remove_sqlite(files.folder / name)
        state = store_state(store, ledger)
        assert not state.is_ready
        assert name in state.reason
        assert not (files.folder / name).exists()


def test_another_file_in_its_place_is_noticed(files: StoreFiles, tmp_path: Path) -> None:
    with opened(files.folder) as (store, ledger):
        remove_sqlite(files.folder / LEDGER)
        new_ledger(files.folder / LEDGER).close()
        assert "another one has taken its place" in store_state(store, ledger).reason


def test_a_ledger_that_vanished_before_the_start_stops_it(files: StoreFiles) -> None:
    remove_sqlite(files.folder / LEDGER)
    store, ledger = Store.open(files.prefix), Ledger.open(files.folder / LEDGER)
    with closing(store), closing(ledger):
        with pytest.raises(StoreError, match="the ledger of this store has vanished"):
            ledger.tie_to(store)
        ledger.create_key(load_plans()["developer"], "new", 0.0)
        ledger.tie_to(store)
    with opened(files.folder):
        pass


def test_a_ledger_of_another_store_is_refused(files: StoreFiles, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    Store.open(other / "store").close()  # not the copy of a template, whose id is the same
    new_ledger(other / LEDGER).close()
    with opened(other):
        pass
    remove_sqlite(files.folder / LEDGER)
    shutil.copy(other / LEDGER, files.folder / LEDGER)
    store, ledger = Store.open(files.prefix), Ledger.open(files.folder / LEDGER)
    with closing(store), closing(ledger), pytest.raises(StoreError, match="of another store"):
        ledger.tie_to(store)


def test_a_restored_store_opens(files: StoreFiles, tmp_path: Path) -> None:
    make_backup(files, files.folder / LEDGER, tmp_path / "copy", now_s=0)
    again = tmp_path / "again"
    restore_backup(tmp_path / "copy", StoreFiles(prefix=again / "store"), again / LEDGER)
    with opened(again) as (_, ledger):
        assert len(ledger.list_keys()) == 1


def test_a_back_up_without_the_ledger_is_refused(files: StoreFiles, tmp_path: Path) -> None:
    remove_sqlite(files.folder / LEDGER)
    with pytest.raises(StoreError, match="has vanished"):
        make_backup(files, files.folder / LEDGER, tmp_path / "copy", now_s=0)
    assert not (tmp_path / "copy").exists()


# --- the lake -----------------------------------------------------------------------------------


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:50])


def overwrite_end(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-8] + b"\0" * 8)


def overwrite_begin(path: Path) -> None:
    path.write_bytes(b"\0" * 8 + path.read_bytes()[8:])


def claim_long_footer(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-8] + b"\xff\xff\xff\x7fPAR1")


DAMAGES: list[Callable[[Path], None]] = [
    cut,
    overwrite_end,
    overwrite_begin,
    claim_long_footer,
    Path.unlink,
]


@pytest.fixture(scope="module")
def compacted(tmp_path_factory: pytest.TempPathFactory) -> StoreFiles:
    """A store with Parquet files, which no test changes."""
    made = new_serving(tmp_path_factory.mktemp("lake") / "store")
    with closing(sqlite3.connect(made.serving, isolation_level=None)) as serving:
        write_batch(serving, many_events(5_000))
        serving.execute("update batch set is_closed = 1")
    assert run_compaction(made.prefix, COMPACTION) is not None
    new_ledger(made.folder / LEDGER).close()
    with opened(made.folder):
        pass
    return made


@pytest.fixture
def lake(compacted: StoreFiles, tmp_path: Path) -> StoreFiles:
    """A copy of that store."""
    shutil.copytree(compacted.folder, tmp_path / "copied")
    files = StoreFiles(prefix=tmp_path / "copied" / "store")
    assert check_lake_files(files) > 0
    return files


def parquet(files: StoreFiles) -> list[Path]:
    return sorted(files.lake_data.rglob("*.parquet"))


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_of_the_lake_is_named(
    lake: StoreFiles, damage: Callable[[Path], None], tmp_path: Path
) -> None:
    bad = random.Random(str(damage)).choice(parquet(lake))  # noqa: S311 - a test's dice
    damage(bad)
    with pytest.raises(StoreError, match=bad.name):
        check_lake_files(lake, sample=64)
    with pytest.raises(StoreError, match=bad.name):
        make_backup(lake, lake.folder / LEDGER, tmp_path / "copy", now_s=0)
    assert not (tmp_path / "copy").exists()


def test_a_folder_that_vanished_is_noticed(lake: StoreFiles, tmp_path: Path) -> None:
    with opened(lake.folder) as (store, ledger):
        assert store_state(store, ledger).is_ready
        shutil.rmtree(lake.lake_data)
        assert "the lake's folder has vanished" in store_state(store, ledger).reason
    with pytest.raises(StoreError, match="has vanished"):
        make_backup(lake, lake.folder / LEDGER, tmp_path / "copy", now_s=0)
    with pytest.raises(StoreError, match="missing"):
        check_lake_files(lake)


def test_a_lake_that_vanished_as_a_whole_is_noticed(lake: StoreFiles, tmp_path: Path) -> None:
    shutil.rmtree(lake.lake_data)
    remove_sqlite(lake.lake)
    with pytest.raises(StoreError, match="the lake of this store has vanished"):
        make_backup(lake, lake.folder / LEDGER, tmp_path / "copy", now_s=0)
    store, ledger = Store.open(lake.prefix), Ledger.open(lake.folder / LEDGER)
    vanished = pytest.raises(StoreError, match="the lake of this store has vanished")
    with closing(store), closing(ledger), vanished:
        ledger.tie_to(store)
