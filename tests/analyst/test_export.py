"""Protects exports: each final row once, whatever ends the process, and no partial file."""

import itertools
import json
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import StoreError
from sql.analyst import export
from sql.analyst.export import export_views, from_ranges, to_ranges
from sql.engine.process_lock import hold_lock
from sql.engine.store_files import StoreFiles
from sql.lake.final_batches import FinalBatches
from sql.lake.lake_file import Lake
from sql.lake.mover import close_batch, move_closed
from sql.lake.open_store import load_views, open_to_read
from tests.harness.lake.crashes import CrashError
from tests.harness.lake.serving_files import many_events, new_serving, write_batch, write_hot
from tests.house.sources import ROOT

pytestmark = pytest.mark.process

Rows = list[tuple[Any, ...]]

KEY = "chain, block_number, log_index, token, sender, recipient, amount_exact"


def add_batches(files: StoreFiles, *blocks: int) -> None:
    """Move a batch of ten transfers and a trade to the lake for each of these first blocks."""
    with (
        closing(sqlite3.connect(files.serving, isolation_level=None)) as serving,
        closing(Lake.open(files)) as lake,
        closing(FinalBatches.open(files)) as batches,
    ):
        for first in blocks:
            batch = write_batch(serving, many_events(10, from_block=first))
            serving.execute(
                "insert into final_trade values (?, ?, 0, 2, 17, 3.0, -4.0, null, null)",
                [batch, first],
            )
            close_batch(batches, lake, 1, now_s=5, is_forced=True)
            move_closed(batches, lake, now_s=5)


def filled(path: Path) -> StoreFiles:
    """Three batches in the lake on both sides of a million, and rows that are not there yet."""
    made = new_serving(path)
    add_batches(made, 100, 1_000_000, 2_000_000)
    with closing(sqlite3.connect(made.serving, isolation_level=None)) as serving:
        write_batch(serving, many_events(5, from_block=3_000_000))
        write_hot(serving, many_events(5, from_block=4_000_000))
    return made


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> StoreFiles:
    return filled(tmp_path_factory.mktemp("store") / "assay")


def exported(target: Path, view: str = "v_transfers", columns: str = KEY) -> Rows:
    files = f"read_parquet('{target}/{view}/run=*/*/*/*.parquet', hive_partitioning = true)"
    return duckdb.connect().execute(f"select {columns} from {files} order by all").fetchall()  # noqa: S608


def in_lake(files: StoreFiles, view: str = "v_transfers", columns: str = KEY) -> Rows:
    with closing(open_to_read(files, memory_mb=200)) as reader:
        return reader.execute(
            f"select {columns} from {view} where batch is not null order by all"  # noqa: S608
        ).fetchall()


def test_each_call_adds_what_is_new(tmp_path: Path) -> None:
    files = filled(tmp_path / "assay")
    target = tmp_path / "out"
    assert export_views(files, target, ["v_transfers"]).rows == {"v_transfers": 30}
    assert exported(target) == in_lake(files)
    assert export_views(files, target, ["v_transfers"]).rows == {"v_transfers": 0}
    add_batches(files, 500)  # closes what waited as well, and has older blocks than the others
    added = export_views(files, target, ["v_transfers"]).rows["v_transfers"]
    assert added == 15
    assert exported(target) == in_lake(files)
    parts = {path.parent.name for path in target.rglob("*.parquet")}
    assert parts == {"million=0", "million=1", "million=2", "million=3"}


def test_views_are_exported_apart(files: StoreFiles, tmp_path: Path) -> None:
    target = tmp_path / "out"
    export_views(files, target, ["v_transfers"])
    export_views(files, target, ["v_trades"])
    columns = "chain, block_number, log_index, pool_key, amount0_raw, block_time"
    assert exported(target, "v_trades", columns) == in_lake(files, "v_trades", columns)
    assert exported(target) == in_lake(files)


def test_a_manifest_says_what_is_there(files: StoreFiles, tmp_path: Path) -> None:
    target = tmp_path / "out"
    export_views(files, target, ["v_transfers"], rows_at_once=20)
    runs = sorted((target / "v_transfers").iterdir())
    assert [run.name for run in runs] == ["run=000001", "run=000002"]
    manifests = [json.loads((run / "manifest.json").read_text(encoding="utf-8")) for run in runs]
    assert [each["rows"] for each in manifests] == [20, 10]
    assert [each["batches"] for each in manifests] == [[[1, 2]], [[1, 3]]]
    for run, each in zip(runs, manifests, strict=True):
        found = {str(path.relative_to(run)): path.stat().st_size for path in run.rglob("*.parquet")}
        assert {file["path"]: file["bytes"] for file in each["files"]} == found


def test_all_other_views_are_written_anew(files: StoreFiles, tmp_path: Path) -> None:
    target = tmp_path / "out"
    with closing(open_to_read(files, memory_mb=200)) as reader:
        here = {view: reader.table(view).count("*").fetchall() for view in load_views()}
    for _ in range(2):
        done = export_views(files, target, list(load_views()))
        assert done.rows.keys() == load_views().keys()
        for view in load_views().keys() - export.EVENT_VIEWS.keys():
            there = duckdb.connect().execute(
                f"select count(*) from '{target}/{view}.parquet'"  # noqa: S608
            )
            assert there.fetchall() == here[view] == [(done.rows[view],)]
    assert not [path for path in target.iterdir() if "unfinished" in path.name]


def steps_of(monkeypatch: pytest.MonkeyPatch, end_at: int) -> None:
    """End the process before step `end_at` of those that write, counted from 0."""
    left = itertools.count()

    def counted(original: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any, **kwargs: Any) -> Any:
            if next(left) == end_at:
                raise CrashError
            return original(*args, **kwargs)

        return run

    for name in ("_copied", "write_manifest", "put_on_disk", "_empty_folder"):
        monkeypatch.setattr(export, name, counted(getattr(export, name)))
    for name in ("rename", "replace"):
        monkeypatch.setattr(Path, name, counted(getattr(Path, name)))


def test_an_end_at_any_step_loses_and_doubles_nothing(
    files: StoreFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    views = ["v_transfers", "v_tokens"]
    expected = in_lake(files)
    for end_at in itertools.count():
        target = tmp_path / f"out-{end_at}"
        with monkeypatch.context() as patch:
            steps_of(patch, end_at)
            try:
                export_views(files, target, views, rows_at_once=20)
                break  # there are no more steps
            except CrashError:
                pass
        seen = exported(target) if list(target.glob("v_transfers/run=*")) else []
        assert len(seen) % 10 == 0  # runs are there whole
        export_views(files, target, views, rows_at_once=20)
        assert exported(target) == expected
        tokens = duckdb.connect().execute(f"select count(*) from '{target}/v_tokens.parquet'")  # noqa: S608
        assert tokens.fetchone() == (5,)
    assert end_at > 10


def kills() -> Iterator[float]:
    """Seconds after which a process is killed, later and later."""
    return (0.1 + 0.1 * number for number in itertools.count())


def test_a_killed_export_goes_on(files: StoreFiles, tmp_path: Path) -> None:
    target = tmp_path / "out"
    program = (
        "import sys; from pathlib import Path; from sql.analyst.export import export_views;"
        "from sql.engine.store_files import StoreFiles;"
        "export_views(StoreFiles(prefix=Path(sys.argv[1])), Path(sys.argv[2]),"
        " ['v_transfers'], rows_at_once=1)"
    )
    arguments = [sys.executable, "-c", program, str(files.prefix), str(target)]
    codes = []
    for after_s in kills():
        process = subprocess.Popen(arguments, cwd=ROOT)
        try:
            codes.append(process.wait(after_s))
            break
        except subprocess.TimeoutExpired:
            process.kill()
            codes.append(process.wait())
    assert codes[-1] == 0
    assert codes[0] == -signal.SIGKILL
    assert exported(target) == in_lake(files)


def test_one_export_at_a_time_writes_into_a_folder(files: StoreFiles, tmp_path: Path) -> None:
    target = tmp_path / "out"
    with (
        hold_lock(target / ".lock", store=target, doing="exports there"),
        pytest.raises(StoreError, match="another process exports there"),
    ):
        export_views(files, target, ["v_transfers"])


def test_an_export_of_another_store_is_refused(files: StoreFiles, tmp_path: Path) -> None:
    target = tmp_path / "out"
    export_views(files, target, ["v_transfers"])
    (tmp_path / "other").mkdir()
    other = new_serving(tmp_path / "other" / "assay")
    add_batches(other, 7)
    with pytest.raises(StoreError, match="it is an export of store"):
        export_views(other, target, ["v_transfers"])
    assert exported(target) == in_lake(files)


def test_what_cannot_be_read_or_written_is_a_clear_error(files: StoreFiles, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no such view"):
        export_views(files, tmp_path / "out", ["v_nothing"])
    with pytest.raises(StoreError, match="no such file"):
        export_views(StoreFiles(prefix=tmp_path / "none"), tmp_path / "out", ["v_tokens"])
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(StoreError):
        export_views(files, tmp_path / "file", ["v_tokens"])
    target = tmp_path / "out"
    export_views(files, target, ["v_transfers"])
    (target / "v_transfers" / "run=000001" / "manifest.json").write_text("{", encoding="utf-8")
    with pytest.raises(StoreError, match="manifest"):
        export_views(files, target, ["v_transfers"])


@given(st.sets(st.integers(-30, 30)))
def test_ranges_are_the_numbers(numbers: set[int]) -> None:
    ranges = to_ranges(numbers)
    assert from_ranges(ranges) == numbers
    assert all(left[1] + 1 < right[0] for left, right in itertools.pairwise(ranges))
