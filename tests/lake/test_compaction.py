"""Protects a store while it is compacted: killed at any time, read at any time."""

import fcntl
import os
import random
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import IO

import duckdb
import msgspec
import pytest

from core.errors import QueryError, StoreError
from core.process.low_priority import BEHIND_CALLERS
from sql.analyst import query_runner
from sql.analyst.bounds import Bounds
from sql.analyst.query_runner import run_sql
from sql.engine.child_process import start_child
from sql.engine.store_files import StoreFiles
from sql.lake import compaction_process
from sql.lake.compaction import ChainBounds, CompactionProgress, CompactionRequest, compact
from sql.lake.compaction_runner import run_compaction
from sql.lake.find_place import message_of, place_of, without_compaction
from sql.lake.lake_file import Lake
from tests.harness.lake.serving_files import (
    Onlooker,
    many_events,
    new_serving,
    write_batch,
    write_hot,
)

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[2]
CHAIN = CompactionRequest(chains=(ChainBounds(chain_id=1),), is_forced=True)


def closed_batches(files: StoreFiles, count: int, rows: int) -> int:
    """Write some closed batches and some hot rows; return the number of all rows."""
    with closing(sqlite3.connect(files.serving, isolation_level=None)) as serving:
        for at in range(count):
            write_batch(serving, many_events(rows, from_block=at * rows))
            serving.execute("update batch set is_closed = 1")
        write_hot(serving, many_events(10, from_block=count * rows))
    return count * rows + 10


def test_a_round_leaves_the_lake_with_all_and_the_serving_state_with_the_rest(
    fresh: StoreFiles,
) -> None:
    total = closed_batches(fresh, 2, 5_000)
    notified: list[int] = []
    result = run_compaction(
        fresh.prefix, CHAIN, progress=lambda progress: notified.append(progress.done)
    )
    assert result is not None
    assert result.moved_rows == 10_000
    assert notified == sorted(notified)
    assert notified[-1] == 20_000
    assert run_sql(fresh.prefix, "select count(*) from v_transfers").rows == [(total,)]
    with closing(sqlite3.connect(fresh.serving)) as serving:
        assert serving.execute("select count(*) from final_transfer").fetchone() == (0,)
    again = run_compaction(fresh.prefix, CHAIN)
    assert again is not None
    assert again.moved_rows == 0


def test_others_that_open_and_close_the_store_meanwhile_take_nothing_away(
    fresh: StoreFiles,
) -> None:
    """The last of all to close a file removes its log. The process that compacts is none of them,
    though DuckDB in it opens and closes the file, too."""
    closed_batches(fresh, 2, 3_000)
    code = "import sqlite3, sys; file = sqlite3.connect(sys.argv[1]);"
    code += "file.execute('select count(*) from token').fetchall(); file.close()"

    def open_and_close(_: CompactionProgress) -> None:
        subprocess.run([sys.executable, "-c", code, str(fresh.serving)], check=True)

    run_compaction(fresh.prefix, CHAIN, progress=open_and_close)
    assert rows_left(fresh) == 0


STARTER = """
import sys
from pathlib import Path
from sql.lake.compaction import ChainBounds, CompactionRequest
from sql.lake.find_place import without_compaction
from sql.lake.compaction_runner import run_compaction
request = CompactionRequest(chains=(ChainBounds(chain_id=1),), is_forced=True)
run_compaction(Path(sys.argv[1]), request, progress=lambda _: print("under way", flush=True))
"""


def test_it_ends_with_the_process_that_keeps_the_store_open(fresh: StoreFiles) -> None:
    closed_batches(fresh, 4, 4_000)
    command = [sys.executable, "-c", STARTER, str(fresh.prefix)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as starter:
        assert starter.stdout is not None
        assert starter.stdout.readline()
        starter.kill()
    with fresh.compaction_lock.open("ab") as lock:
        until_s = time.monotonic() + 20.0
        while not is_free(lock):
            assert time.monotonic() < until_s, "a round goes on by itself"
            time.sleep(0.01)
    assert rows_left(fresh) > 0


def is_free(lock: IO[bytes]) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def test_a_round_of_the_service_goes_behind_callers(fresh: StoreFiles) -> None:
    closed_batches(fresh, 1, 4_000)
    seen: set[int] = set()
    run_compaction(fresh.prefix, CHAIN, progress=lambda _: seen.update(niceness_of_children()))
    assert BEHIND_CALLERS in seen


def test_a_command_keeps_the_priority_of_its_caller(fresh: StoreFiles) -> None:
    """At niceness 19, one busy process on its core delayed it from two seconds to two minutes."""
    closed_batches(fresh, 1, 4_000)
    seen: set[int] = set()
    env = {**os.environ, "ASSAY_STORE": str(fresh.prefix)}
    with subprocess.Popen([sys.executable, "-m", "assay", "compact"], cwd=ROOT, env=env) as command:
        while command.poll() is None:
            seen.update(niceness_of_children(command.pid))
            time.sleep(0.01)
    assert command.returncode == 0
    assert rows_left(fresh) == 0
    assert seen == {os.getpriority(os.PRIO_PROCESS, 0)}


def niceness_of_children(pid: int | None = None) -> set[int]:
    """Return the niceness of the children of a process's first thread. None: of this process."""
    own = pid or os.getpid()
    found: set[int] = set()
    with suppress(FileNotFoundError, ProcessLookupError):
        for child in Path(f"/proc/{own}/task/{own}/children").read_text().split():
            found.add(os.getpriority(os.PRIO_PROCESS, int(child)))
    return found


def test_killed_at_any_moment_and_started_again(fresh: StoreFiles) -> None:
    """Kills fall into all parts of a round: its moves are many and small, and take most of it."""
    closed_batches(fresh, 6, 4_000)
    with closing(Lake.open(fresh)):
        pass  # Onlooker needs one
    order = compaction_process.CompactionOrder(store=message_of(place_of(fresh)), request=CHAIN)
    with closing(Onlooker(fresh)) as onlooker:
        before = onlooker.look()
        dice = random.Random(7)  # noqa: S311 - a seed makes a failure repeatable
        for _ in range(6):
            with start_child("sql.lake.compaction_process", order_bytes(order), niceness=1):
                time.sleep(0.5 + dice.random() * 0.8)
            assert onlooker.look() == before
        run_compaction(fresh.prefix, CHAIN)
        assert onlooker.look() == before
    with closing(sqlite3.connect(fresh.serving)) as serving:
        assert serving.execute("select count(*) from final_transfer").fetchone() == (0,)
        assert serving.execute("select count(*) from batch where is_closed").fetchone() == (0,)


def order_bytes(order: compaction_process.CompactionOrder) -> bytes:
    return msgspec.json.encode(order)


def test_a_reader_beside_it_sees_every_row_once_at_any_time(fresh: StoreFiles) -> None:
    closed_batches(fresh, 3, 4_000)
    with closing(Lake.open(fresh)):
        pass
    ended = threading.Event()

    def work() -> None:
        run_compaction(fresh.prefix, CHAIN)
        ended.set()

    worker = threading.Thread(target=work)
    looks = 0
    with closing(Onlooker(fresh)) as onlooker:
        before = onlooker.look()
        worker.start()
        while not ended.is_set():
            assert onlooker.look() == before
            looks += 1
            ended.wait(0.02)  # compaction has a lower priority
        worker.join()
        assert onlooker.look() == before
    assert looks > 2


def rows_left(files: StoreFiles) -> int:
    with closing(sqlite3.connect(files.serving)) as serving:
        return int(serving.execute("select count(*) from final_transfer").fetchone()[0])


def test_one_process_at_a_time(fresh: StoreFiles) -> None:
    closed_batches(fresh, 1, 10)
    with (
        without_compaction(fresh),
        pytest.raises(StoreError, match=f"another process is compacting .*{os.getpid()}"),
    ):
        run_compaction(fresh.prefix, CHAIN)
    assert run_compaction(fresh.prefix, CHAIN) is not None


def test_it_stops_when_it_is_told(fresh: StoreFiles) -> None:
    closed_batches(fresh, 1, 1_000)
    assert run_compaction(fresh.prefix, CHAIN, is_stopped=lambda: True) is None


def test_duckdbs_own_shell_opens_the_store_while_it_is_written(fresh: StoreFiles) -> None:
    total = closed_batches(fresh, 1, 500)
    compact(fresh, CHAIN, now_s=time.time())
    shell = (
        "import duckdb, sys; shell = duckdb.connect();"
        "shell.execute(open(sys.argv[1]).read());"
        "print(shell.execute('select count(*), count(distinct token) from v_transfers').fetchall(),"
        " shell.execute('select count(*) from v_trades').fetchall())"
    )
    with closing(sqlite3.connect(fresh.serving, isolation_level=None)) as serving:
        serving.execute("begin immediate")
        write_row = "insert into transfer values (1, 1, 99, 1, x'00', x'00', x'01', null)"
        serving.execute(write_row)
        said = subprocess.run(
            [sys.executable, "-c", shell, str(fresh.open_script)],
            capture_output=True,
            text=True,
            check=True,
        )
        serving.execute("rollback")
    assert said.stdout.strip() == f"[({total}, 5)] [(0,)]"


GREEDY = (
    "select array_agg(a.range || b.range) from range(1000000) a, range(1000) b",
    "select repeat('x', 100000000) as long from range(50)",
    "select max(levenshtein(repeat('ab', 3000 + a.range::integer), repeat('ba', 4000)))"
    " from range(100000) a",
    "select count(*) from range(10000000000) a"
    " where regexp_matches(a.range::varchar, '(1|2)*3(4|5)*')",
    "select count(*) from v_transfers a, v_transfers b, v_transfers c, v_transfers d",
    "with recursive n as (select 1::bigint as a union all select a + 1 from n)"
    " select sum(a) from n",
    "select * from enable_logging()",
    "select repeat('y', 1000) from range(1000000)",
    "select list_sort(list(random() || range)) from range(100000000)",
    "select a.range, b.range from range(100000) a, range(100000) b"
    " order by 1 + 2 desc, a.range * 7",
)


def test_ten_greedy_analysts_at_once_break_nothing(
    fresh: StoreFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each meets a bound or is refused; a concurrent writer does not wait; the next one works."""
    total = closed_batches(fresh, 1, 500)
    compact(fresh, CHAIN, now_s=time.time())
    bounds = Bounds(
        memory_mb=200, time_limit_s=1, max_bytes=200_000, max_rows=5_000, cuts_rows=False
    )
    # On a busy machine they would meet no bound but that of time.
    monkeypatch.setattr(query_runner, "BEHIND_CALLERS", 0)
    met: dict[str, str | None] = {}

    def ask(sql: str) -> None:
        try:
            run_sql(fresh.prefix, sql, bounds)
        except QueryError as error:
            met[sql] = error.limit or "refused"

    askers = [threading.Thread(target=ask, args=[sql]) for sql in GREEDY]
    # A lock that a statement holds is an error; SQLite's readers take one for a moment.
    with closing(sqlite3.connect(fresh.serving, isolation_level=None, timeout=1)) as serving:
        for asker in askers:
            asker.start()
        while any(asker.is_alive() for asker in askers):
            serving.execute("insert or replace into checkpoint values (1, 'follow', 1, null)")
            time.sleep(0.02)
    assert set(met) == set(GREEDY)
    assert met["select * from enable_logging()"] == "refused"
    assert set(met.values()) == {"refused", "memory", "time", "bytes"}
    assert run_sql(fresh.prefix, "select count(*) from v_transfers").rows == [(total,)]


def test_files_of_a_killed_round_are_no_rows(fresh: StoreFiles) -> None:
    """They are deleted once they are old; a reader never sees them."""
    total = closed_batches(fresh, 1, 500)
    compact(fresh, CHAIN, now_s=time.time())
    orphan = fresh.lake_data / "main" / "transfer" / "chain_id=1" / "left.parquet"
    duckdb.sql("select 1 as batch").write_parquet(str(orphan))
    assert run_sql(fresh.prefix, "select count(*) from v_transfers").rows == [(total,)]
    compact(fresh, CHAIN, now_s=time.time())
    assert orphan.exists()
    compact(fresh, CHAIN, now_s=time.time() + 10 * 86_400)
    assert not orphan.exists()
    assert run_sql(fresh.prefix, "select count(*) from v_transfers").rows == [(total,)]


def test_a_store_may_be_opened_from_elsewhere_and_moved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The catalogue has the folder of its files as it was named first, be it relative."""
    (tmp_path / "first").mkdir()
    monkeypatch.chdir(tmp_path / "first")
    files = new_serving(Path("assay"))
    total = closed_batches(files, 1, 100)
    run_compaction(files.prefix, CHAIN)
    with closing(Lake.open(files, sees_serving=False)):
        pass
    monkeypatch.chdir(tmp_path)
    (tmp_path / "first").rename(tmp_path / "second")
    moved = StoreFiles(prefix=Path("second") / "assay")
    with closing(sqlite3.connect(moved.serving, isolation_level=None)) as serving:
        write_batch(serving, many_events(50, from_block=1_000))
    run_compaction(moved.prefix, CHAIN)
    assert run_sql(moved.prefix, "select count(*) from v_transfers").rows == [(total + 50,)]
    assert not (tmp_path / "first").exists()
    assert len(list(moved.lake_data.rglob("*.parquet"))) >= 2
