"""Protects the lake's file: made once, whoever comes first; a newer release's is refused."""

import multiprocessing
import re
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from core.errors import StoreError
from sql.lake.lake_file import Lake, connect_duckdb
from sql.lake.lake_statements import LAKE_SCHEMA, load_lake_migrations
from sql.store_files import StoreFiles

BAD_TYPES = re.compile(r"\bu?hugeint\b|\bblob\b|\bfloat\b", re.IGNORECASE)


class _Table(msgspec.Struct, frozen=True, kw_only=True):
    table_name: str


def open_once(prefix: str) -> int:
    with closing(Lake.open(StoreFiles(prefix=Path(prefix)))) as lake:
        return len(lake.fetch("list_tables", _Table))


def test_many_processes_make_one_lake(tmp_path: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        found = pool.map(open_once, [str(tmp_path / "assay")] * 6)
    assert found == [8] * 6


def test_opening_again_changes_nothing(fresh: StoreFiles) -> None:
    for _ in range(2):
        with closing(Lake.open(fresh)) as lake:
            assert lake.sees_serving
            assert len(lake.fetch("list_tables", _Table)) == 8


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
        assert open_once(str(files.prefix)) == 8
