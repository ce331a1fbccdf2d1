"""Protects the lake's file: created once by any process; a newer release's is refused."""

import multiprocessing
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from core.errors import StoreError
from sql.engine.store import Store
from sql.engine.store_files import StoreFiles
from sql.lake import lake_file
from sql.lake.lake_file import Lake, connect_duckdb
from sql.lake.lake_statements import LAKE_SCHEMA, load_lake_migrations
from sql.lake.lake_upkeep import merge_small_files
from sql.lake.open_store import open_to_read
from tests.harness.lake.serving_files import new_serving

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[2]

BAD_TYPES = re.compile(r"\bu?hugeint\b|\bblob\b|\bfloat\b", re.IGNORECASE)


TABLES = 9


class _Table(msgspec.Struct, frozen=True, kw_only=True):
    table_name: str


def open_once(prefix: str) -> int:
    with closing(Lake.open(StoreFiles(prefix=Path(prefix)))) as lake:
        return len(lake.fetch("list_tables", _Table))


def test_many_processes_make_one_lake(tmp_path: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        found = pool.map(open_once, [str(tmp_path / "assay")] * 6)
    assert found == [TABLES] * 6


def test_opening_again_changes_nothing(fresh: StoreFiles) -> None:
    for _ in range(2):
        with closing(Lake.open(fresh)) as lake:
            assert lake.sees_serving
            assert len(lake.fetch("list_tables", _Table)) == TABLES


def write_serving(files: StoreFiles, statement: str) -> None:
    with closing(sqlite3.connect(files.serving, isolation_level=None)) as serving:
        serving.execute(statement)


ANOTHER = "update store_identity set store_id = 'another'"


def test_a_lake_beside_the_serving_state_of_another_store_is_refused(fresh: StoreFiles) -> None:
    Lake.open(fresh).close()
    write_serving(fresh, ANOTHER)
    refused = "this lake is of store .*store another. Put back the files of one store"
    with pytest.raises(StoreError, match=refused):
        Lake.open(fresh)
    with pytest.raises(StoreError, match=refused):
        open_to_read(fresh, memory_mb=100)


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


def test_a_newer_lake_is_refused(fresh: StoreFiles) -> None:
    newest = len(load_lake_migrations())
    with closing(Lake.open(fresh)) as lake:
        lake.execute("write_version", version=newest + 1)
    with pytest.raises(StoreError, match=f"newer release wrote it .schema {newest + 1}"):
        Lake.open(fresh)


def test_a_file_that_is_no_catalogue_is_refused(fresh: StoreFiles) -> None:
    fresh.lake.write_text("not a database\n" * 1_000)
    with pytest.raises(StoreError):
        Lake.open(fresh)


def test_no_column_has_a_type_that_parquet_keeps_wrong() -> None:
    """HUGEINT becomes DOUBLE there without a word."""
    for path in LAKE_SCHEMA.glob("*.sql"):
        lines = path.read_text(encoding="utf-8").splitlines()
        code = "\n".join(line for line in lines if not line.startswith("--"))
        assert not BAD_TYPES.search(code), path.name


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
