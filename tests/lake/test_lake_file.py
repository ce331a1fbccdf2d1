"""Protects the lake's file, its permissions and its statements."""

import ast
import multiprocessing
import os
import re
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing, contextmanager
from importlib import import_module
from pathlib import Path

import duckdb
import msgspec
import pytest

from core.errors import StoreError
from sql.accounts.ledger import Ledger
from sql.engine.statements import list_statements, load_statement
from sql.engine.store import Store
from sql.engine.store_files import StoreFiles
from sql.lake import lake_file
from sql.lake.compaction import ChainBounds, CompactionRequest, compact
from sql.lake.extensions import sql_text
from sql.lake.final_batches import SERVING_QUERIES
from sql.lake.lake_file import Lake, connect_duckdb
from sql.lake.lake_statements import LAKE_QUERIES, LAKE_SCHEMA, load_lake_migrations
from sql.lake.lake_upkeep import merge_small_files
from sql.lake.open_store import open_to_read
from sql.tokens.tokens import track_seen
from tests.harness.lake.bulk_frames import tokens, transfers_of
from tests.harness.lake.serving_files import TOKENS, many_events, new_serving, write_batch
from tests.harness.store.sample_rows import address
from tests.house.sources import module_name
from tests.house.statements import READS, calls, is_named, names_in

ROOT = Path(__file__).parents[2]

BAD_TYPES = re.compile(r"\bu?hugeint\b|\bblob\b|\bfloat\b", re.IGNORECASE)

TABLES = 9


class _Table(msgspec.Struct, frozen=True, kw_only=True):
    table_name: str


def open_once(prefix: str) -> int:
    with closing(Lake.open(StoreFiles(prefix=Path(prefix)))) as lake:
        return len(lake.fetch("list_tables", _Table))


@pytest.mark.process
def test_many_processes_make_one_lake(tmp_path: Path) -> None:
    """A process that ends early fails the test: `multiprocessing.Pool` would wait for ever."""
    with ProcessPoolExecutor(3, mp_context=multiprocessing.get_context("spawn")) as pool:
        found = list(pool.map(open_once, [str(tmp_path / "assay")] * 6))
    assert found == [TABLES] * 6


@pytest.mark.process
def test_opening_again_changes_nothing(fresh: StoreFiles) -> None:
    for _ in range(2):
        with closing(Lake.open(fresh)) as lake:
            assert lake.sees_serving
            assert len(lake.fetch("list_tables", _Table)) == TABLES


def write_serving(files: StoreFiles, statement: str) -> None:
    with closing(sqlite3.connect(files.serving, isolation_level=None)) as serving:
        serving.execute(statement)


ANOTHER = "update store_identity set store_id = 'another'"


@pytest.mark.process
def test_a_lake_beside_the_serving_state_of_another_store_is_refused(fresh: StoreFiles) -> None:
    Lake.open(fresh).close()
    write_serving(fresh, ANOTHER)
    refused = "this lake is of store .*store another. Put back the files of one store"
    with pytest.raises(StoreError, match=refused):
        Lake.open(fresh)
    with pytest.raises(StoreError, match=refused):
        open_to_read(fresh, memory_mb=100)


@pytest.mark.process
def test_files_of_before_they_had_an_id_are_taken_for_one_store(tmp_path: Path) -> None:
    old = new_serving(tmp_path / "assay", migrations=5)
    Lake.open(old).close()
    with pytest.raises(StoreError):
        open_to_read(old, memory_mb=100)  # its views need tables that a service makes
    Store.open(old.prefix).close()
    open_to_read(old, memory_mb=100).close()
    Lake.open(old).close()
    write_serving(old, ANOTHER)
    with pytest.raises(StoreError, match="of store another"):
        Lake.open(old)


WRITER = """
import sqlite3, sys
from pathlib import Path
from sql.lake.lake_file import Lake
from sql.engine.store_files import StoreFiles
files = StoreFiles(prefix=Path(sys.argv[1]))
serving = sqlite3.connect(files.serving, isolation_level=None)
serving.execute("insert into coverage values (1, 'before', 0, 1)")
Lake.open(files, sees_serving=False).close()
print("ready", flush=True)
sys.stdin.readline()
serving.execute("insert into coverage values (1, 'after', 0, 1)")
print("written", flush=True)
sys.stdin.readline()
"""


@pytest.mark.process
def test_who_writes_the_serving_state_keeps_its_locks_beside_a_lake(fresh: StoreFiles) -> None:
    """DuckDB's own SQLite would end them, and the last of others would take the log away."""
    command = [sys.executable, "-c", WRITER, str(fresh.prefix)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, cwd=ROOT, **pipes) as writer:  # type: ignore[call-overload]
        assert writer.stdout.readline() == "ready\n"
        assert subjects_in(fresh) == ["before"]
        writer.stdin.write("go on\n")
        writer.stdin.flush()
        assert writer.stdout.readline() == "written\n"
        assert subjects_in(fresh) == ["after", "before"]
        writer.kill()


def subjects_in(files: StoreFiles) -> list[str]:
    """Return the subjects seen by another process, which opens and closes the file."""
    code = "import sqlite3, sys; file = sqlite3.connect(sys.argv[1]);"
    code += "print(*[row[0] for row in file.execute('select subject from coverage order by 1')]);"
    code += "file.close()"
    command = [sys.executable, "-c", code, str(files.serving)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()


@pytest.mark.process
def test_a_newer_lake_is_refused(fresh: StoreFiles) -> None:
    newest = len(load_lake_migrations())
    with closing(Lake.open(fresh)) as lake:
        lake.execute("write_version", version=newest + 1)
    with pytest.raises(StoreError, match=f"newer release wrote it .schema {newest + 1}"):
        Lake.open(fresh)


@pytest.mark.process
def test_a_file_that_is_no_catalogue_is_refused(fresh: StoreFiles) -> None:
    fresh.lake.write_text("not a database\n" * 1_000)
    with pytest.raises(StoreError):
        Lake.open(fresh)


@pytest.mark.process
def test_no_column_has_a_type_that_parquet_keeps_wrong() -> None:
    """HUGEINT becomes DOUBLE there without a word."""
    for path in LAKE_SCHEMA.glob("*.sql"):
        lines = path.read_text(encoding="utf-8").splitlines()
        code = "\n".join(line for line in lines if not line.startswith("--"))
        assert not BAD_TYPES.search(code), path.name


@pytest.mark.process
@pytest.mark.parametrize("tables", [1, 4, 7])
def test_a_lake_whose_making_was_cut_short_is_made_whole(tmp_path: Path, tables: int) -> None:
    """Killed between two of its statements; found by kills of a process that compacts."""
    files = StoreFiles(prefix=tmp_path / "store")
    files.lake_data.mkdir()
    text = load_lake_migrations()[0].text
    with closing(connect_duckdb(memory_mb=300, spill=None)) as connection:
        connection.execute(
            f"attach 'ducklake:sqlite:{files.lake}' as lake (data_path '{files.lake_data}')"
        )
        connection.execute(";".join(text.split(";\n")[:tables]))
    for _ in range(2):
        assert open_once(str(files.prefix)) == TABLES


@pytest.mark.process
def test_transfers_of_a_release_without_times_are_kept_and_have_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = new_serving(tmp_path / "assay")
    row = "insert into lake.transfer values (-1, 1, {}, 0, '0x01', 1, 0, 0, 1, 0, 0, 2, {}, 0, 0, 0"
    known = load_lake_migrations()
    with monkeypatch.context() as patch:
        patch.setattr(lake_file, "load_lake_migrations", lambda: known[:2])
        with closing(Lake.open(files)) as old:
            for at in range(5):
                old._connection.execute(f"{row.format(at, 7)})")
    with closing(Lake.open(files)) as lake:
        for at in range(5, 10):
            lake._connection.execute(f"{row.format(at, 7)}, {at})")
        merge_small_files(lake)
        found = lake._connection.execute(
            "select block_number, time_s from lake.transfer order by 1"
        )
        assert found.fetchall() == [(at, None if at < 5 else at) for at in range(10)]


# --- file modes ---------------------------------------------------------------------------------

_ANY = stat.S_IRWXG | stat.S_IRWXO

_READ = stat.S_IRGRP | stat.S_IROTH

_LAKE = ("assay.lake.sqlite", "assay.lake", "assay.open.sql")


@contextmanager
def _masked(umask: int) -> Iterator[None]:
    before = os.umask(umask)
    try:
        yield
    finally:
        os.umask(before)


def _compacted(folder: Path) -> dict[Path, int]:
    """Return the permissions of others on each file of a store with rows in the lake."""
    files = StoreFiles(prefix=folder / "assay")
    with (
        closing(Store.open(files.prefix)) as store,
        closing(sqlite3.connect(files.serving, isolation_level=None)) as serving,
    ):
        with store.transaction() as tx:
            seen = {address(at): 0 for at in range(TOKENS)}
            track_seen(tx, chain_id=1, seen=seen, because="pool")
        write_batch(serving, many_events(50))
    # Not while the store is open in this process: DuckDB's SQLite cuts off the mapped -shm file.
    bounds = (ChainBounds(chain_id=1),)
    compact(files, CompactionRequest(chains=bounds, is_forced=True), now_s=1.0)
    with (
        closing(Store.open(files.prefix)),
        closing(Ledger.open(folder / "assay.ledger.sqlite")),
    ):
        return {path.relative_to(folder): path.stat().st_mode & _ANY for path in folder.rglob("*")}


def _is_of_lake(path: Path) -> bool:
    return any(str(path).startswith(name) for name in _LAKE) and path.suffix != ".lock"


@pytest.mark.parametrize(("umask", "others"), [(0o022, _READ), (0o027, stat.S_IRGRP), (0o077, 0)])
def test_only_what_the_chain_made_public_follows_the_umask(
    tmp_path: Path, umask: int, others: int
) -> None:
    with _masked(umask):
        modes = _compacted(tmp_path)
    lake = {path: mode & _READ for path, mode in modes.items() if _is_of_lake(path)}
    assert any(path.suffix == ".parquet" for path in lake)
    assert set(lake.values()) == {others}
    private = {path: mode for path, mode in modes.items() if not _is_of_lake(path)}
    assert {"assay.serving.sqlite", "assay.ledger.sqlite"} <= {str(path) for path in private}
    assert set(private.values()) == {0}, private


# --- lake statements ----------------------------------------------------------------------------

LAKE_NAMES = list_statements(LAKE_QUERIES)

SERVING_NAMES = list_statements(SERVING_QUERIES)

OF_DUCKLAKE = re.compile(r"\bducklake_|\bfilename\b|\$scan\b|__ducklake")

"""Statements that need a real lake or a text, which run in other tests."""


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[duckdb.DuckDBPyConnection]:
    """An empty store whose lake is a database in memory."""
    files = new_serving(tmp_path_factory.mktemp("store") / "assay")
    with closing(connect_duckdb(memory_mb=100, spill=None)) as store:
        store.execute(f"attach {sql_text(files.serving)} as serving (type sqlite, read_only)")
        store.execute("attach ':memory:' as lake")
        for migration in load_lake_migrations():
            store.execute(migration.text)
        store.register("incoming_transfer", transfers_of(many_events(1)))
        store.register("incoming_token", tokens())
        store.register("stored_key", transfers_of(many_events(1)))
        yield store


def nothing_for(text: str) -> dict[str, None]:
    """Every parameter of a statement, as NULL."""
    return dict.fromkeys(names_in(text))


@pytest.mark.parametrize("name", [*LAKE_NAMES, *SERVING_NAMES])
def test_a_statement_says_what_it_gives_and_is_loaded(name: str) -> None:
    folder = LAKE_QUERIES if name in LAKE_NAMES else SERVING_QUERIES
    text = load_statement(name, folder)
    assert text.startswith("-- ")
    assert is_named(name)


@pytest.mark.parametrize("name", SERVING_NAMES)
def test_a_statement_of_the_serving_state_uses_a_key(name: str, tmp_path: Path) -> None:
    """It must cost no more as the store grows."""
    files = new_serving(tmp_path / "assay")
    text = load_statement(name, SERVING_QUERIES)
    with closing(sqlite3.connect(files.serving)) as serving:
        plan = serving.execute(f"explain query plan {text}", nothing_for(text)).fetchall()
    scanned = [row[3] for row in plan if row[3].startswith("SCAN ")]
    of_few = re.compile(r"SCAN (batch|CONSTANT ROW|first_rows|\(subquery-\d+\))")
    assert all(of_few.match(step) for step in scanned), plan


def test_a_statement_of_the_lake_fits_its_struct(empty: duckdb.DuckDBPyConnection) -> None:
    structs = {
        name: getattr(import_module(module_name(path)), call.args[1].id)
        for name, call, path, _ in calls(*READS, names=LAKE_NAMES)
        if isinstance(call.args[1], ast.Name)
    }
    for name in LAKE_NAMES:
        text = load_statement(name, LAKE_QUERIES)
        if OF_DUCKLAKE.search(text):
            continue
        statement: type[msgspec.Struct] | None = structs.get(name)
        if statement is None:
            empty.execute(f"explain {text}", nothing_for(text) or None)
            continue
        described = empty.execute(f"describe {text}", nothing_for(text) or None).fetchall()
        assert {row[0] for row in described} == set(statement.__struct_fields__), name
