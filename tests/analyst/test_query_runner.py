"""Protects SQL for analysts: bounded statements that change nothing, a few at a time."""

import fcntl
import os
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import msgspec
import pytest

from core.errors import QueryError, StoreError
from sql.analyst import query_runner
from sql.analyst.answer_lines import QueryRequest
from sql.analyst.bounds import Bounds
from sql.analyst.query_runner import AT_ONCE, query_slot, run_sql
from sql.engine.child_process import read_some, start_child
from sql.engine.store import Store
from sql.engine.store_files import StoreFiles
from sql.lake.find_place import StoreMessage
from tests.analyst.conftest import Ask
from tests.house.sources import ROOT

pytestmark = pytest.mark.process

REFUSED = [
    "delete from serving.block",
    "select nothing from v_tokens",
    "select * from read_text('pyproject.toml')",
    "select * from enable_logging()",
]


def test_a_select_is_answered(ask: Ask) -> None:
    result = ask("select number, hash, null as nothing, [1, 2] as list from v_checkpoints limit 1")
    assert result.columns == ("number", "hash", "nothing", "list")
    assert list(map(list, result.rows)) == [[7, "0x00ab", None, [1, 2]]]
    assert not result.truncated


@pytest.mark.parametrize("sql", REFUSED)
def test_all_but_one_plain_select_is_refused(ask: Ask, sql: str) -> None:
    with pytest.raises(QueryError) as caught:
        ask(sql)
    assert caught.value.limit is None


def test_nothing_was_changed_by_what_was_refused(ask: Ask) -> None:
    assert ask("select count(*) from v_transfers").rows == [(60,)]
    assert ask("select name from pragma_table_info('v_coverage')").rows[0] == ("chain",)
    assert ask("describe select 1 as one").rows[0][:2] == ("one", "INTEGER")


def test_rows_are_bounded_and_it_says_so(ask: Ask) -> None:
    result = ask("from range(2000) select range", Bounds(max_rows=1_200))
    assert result.rows == [(at,) for at in range(1_200)]
    assert result.truncated
    whole = ask("from range(2000) select range", Bounds(max_rows=2_000))
    assert not whole.truncated
    timed = ask("select now() from range(20)", Bounds(max_rows=5))
    assert (len(timed.rows), timed.truncated) == (5, True)
    with pytest.raises(QueryError) as caught:
        ask("from range(2000) select range", Bounds(max_rows=10, cuts_rows=False))
    assert caught.value.limit == "rows"


def test_time_is_bounded(ask: Ask) -> None:
    endless = "select count(*) from range(1000000000000)"
    with pytest.raises(QueryError, match=r"took longer than 0\.2 s") as caught:
        ask(endless, Bounds(time_limit_s=0.2))
    assert caught.value.limit == "time"


@pytest.mark.parametrize(
    "sql",
    [
        "select array_agg(range) from range(1000000000)",
        "select repeat('x', 2000000000) as long from range(3)",
        "select count(distinct repeat('x', 1000) || range) from range(10000000)",
    ],
)
def test_memory_is_bounded(ask: Ask, sql: str) -> None:
    with pytest.raises(QueryError, match="more memory than 200 MB") as caught:
        ask(sql, Bounds(memory_mb=200, time_limit_s=20))
    assert caught.value.limit == "memory"


def test_bytes_are_bounded(ask: Ask) -> None:
    with pytest.raises(QueryError, match="more than 100000 bytes") as caught:
        ask("select repeat('x', 1000) from range(900)", Bounds(max_bytes=100_000))
    assert caught.value.limit == "bytes"


def test_every_value_is_one_that_json_carries(ask: Ask) -> None:
    values: dict[str, object] = {
        "9223372036854775807": 2**63 - 1,
        "9223372036854775808": "9223372036854775808",
        "170141183460469231731687303715884105727": "170141183460469231731687303715884105727",
        "'1" + "0" * 60 + "'::bignum": "1" + "0" * 60,
        "1.5::double": 1.5,
        "'nan'::double": "nan",
        "'ab'::blob": "0x6162",
        "'a' || chr(0) || 'b'": "a\0b",
        "1.50::decimal(9, 2)": "1.50",
        "date '2026-11-21'": "2026-11-21",
        "timestamp '2026-11-21 01:02:03'": "2026-11-21 01:02:03",
        "{'a': 1::hugeint}": {"a": 1},
        "map {1: 2}": {"1": 2},
        "true": True,
    }
    (row,) = ask("select " + ", ".join(values)).rows
    assert list(row) == list(values.values())
    assert [type(found) for found in row] == [type(value) for value in values.values()]


def test_a_store_that_is_not_there_is_the_stores_fault(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no such file"):
        run_sql(tmp_path / "absent", "select 1")


def test_a_file_that_is_none_of_ours_is_the_stores_fault(tmp_path: Path) -> None:
    files = StoreFiles(prefix=tmp_path / "assay")
    files.serving.write_text("not a database\n" * 1_000)
    with pytest.raises(StoreError):
        run_sql(files.prefix, "select 1")


# --- query turns --------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StoreFiles:
    """Files of a store whose analysts do not wait."""
    monkeypatch.setattr(query_runner, "_PATIENCE_S", 0.0)
    return StoreFiles(prefix=tmp_path / "store")


def refuses(files: StoreFiles) -> bool:
    """True if the lock cannot be taken."""
    try:
        with query_slot(files):
            return False
    except QueryError as error:
        assert error.limit == "time"
        return True


def test_so_many_at_once_and_no_more(files: StoreFiles) -> None:
    with ExitStack() as turns:
        for _ in range(AT_ONCE):
            assert not refuses(files)
            turns.enter_context(query_slot(files))
        assert refuses(files)
        assert not refuses(StoreFiles(prefix=files.prefix.with_name("other")))
    assert not refuses(files)


def test_a_turn_lasts_as_long_as_the_process_that_works(files: StoreFiles) -> None:
    """The caller may be killed; its child goes on, and counts."""
    wait = [sys.executable, "-c", "input()"]
    with ExitStack() as stack:
        for _ in range(AT_ONCE):
            with query_slot(files) as turn:
                child = subprocess.Popen(wait, pass_fds=[turn], stdin=subprocess.PIPE)
                stack.enter_context(child)
                stack.callback(child.kill)
        assert refuses(files)
    assert not refuses(files)


def test_who_is_next_goes_before_who_comes(files: StoreFiles) -> None:
    with files.query_queue_lock.open("wb") as place:
        fcntl.flock(place, fcntl.LOCK_EX)
        assert refuses(files)
    assert not refuses(files)


def test_a_folder_that_cannot_be_written_is_the_stores_fault(files: StoreFiles) -> None:
    absent = StoreFiles(prefix=files.prefix / "absent")
    with pytest.raises(StoreError), query_slot(absent):
        pass


def test_a_statement_runs_at_the_priority_it_was_given(files: StoreFiles) -> None:
    request = QueryRequest(
        store=StoreMessage(prefix=str(files.prefix)),
        sql="select 1",
        max_rows=1,
        cuts_rows=True,
        time_limit_s=1,
        memory_mb=100,
    )
    message = msgspec.json.encode(request)
    with start_child("sql.analyst.query_process", message, niceness=19) as process:
        assert read_some(process, wait_s=60)  # that there is no such store
        assert os.getpriority(os.PRIO_PROCESS, process.pid) == 19
        assert os.sched_getscheduler(process.pid) == os.SCHED_BATCH
        assert os.getsid(process.pid) == process.pid
        autogroup = Path(f"/proc/{process.pid}/autogroup")
        if autogroup.exists():
            assert autogroup.read_text().split()[-2:] == ["nice", "19"]


def test_only_the_first_of_a_session_lowers_all_of_it() -> None:
    """A command is one of many in the session of its terminal."""
    script = (
        "from pathlib import Path; from core.process.low_priority import lower_priority; "
        "lower_priority(7); print(Path('/proc/self/autogroup').read_text())"
    )
    if not Path("/proc/self/autogroup").exists():
        pytest.skip("no autogroups")
    own = Path("/proc/self/autogroup").read_text()
    completed = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert completed.stdout.strip() == own.strip()


SLOW = """
import sys, threading
from pathlib import Path
from sql.analyst.bounds import Bounds
from sql.analyst.query_runner import open_result
bounds = Bounds(memory_mb=200, time_limit_s=120, max_bytes=None, max_rows=None, cuts_rows=False)
sql = "select range from range(10000000000)"
with open_result(Path(sys.argv[1]), sql, bounds) as result:
    result.start()
    print("under way", flush=True)
    threading.Event().wait()
"""


def test_a_statement_ends_with_the_process_that_asked(tmp_path: Path) -> None:
    prefix = tmp_path / "store"
    Store.open(prefix).close()
    command = [sys.executable, "-c", SLOW, str(prefix)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as asker:
        assert asker.stdout is not None
        assert asker.stdout.readline()
        asker.kill()
    files = StoreFiles(prefix=prefix)
    locks = [files.query_lock(turn) for turn in range(AT_ONCE)]
    until_s = time.monotonic() + 60.0
    while not all(map(is_free, locks)):
        assert time.monotonic() < until_s, "a statement goes on by itself"
        time.sleep(0.01)


def is_free(path: Path) -> bool:
    """True if no process has the lock."""
    with path.open("ab") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


@pytest.mark.parametrize(("command", "niceness"), [("sql", 10), ("export", 10), ("status", 0)])
def test_a_command_of_analysts_has_a_low_priority_before_it_loads_anything(
    command: str, niceness: int
) -> None:
    program = (
        "import os, sys; from assay import cli\n"
        "own = os.getpriority(os.PRIO_PROCESS, 0)\n"
        "def tell(*_, **__):\n"
        "    loaded = {'msgspec', 'duckdb', 'structlog'} & sys.modules.keys()\n"
        "    print(os.getpriority(os.PRIO_PROCESS, 0) - own, len(loaded))\n"
        "cli.cli.main = tell\n"
        f"sys.argv = ['assay', '{command}']\n"
        "cli.main()"
    )
    said = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert said.stdout.split() == [str(niceness), "0"]


def test_only_the_process_of_a_statement_loads_duckdb() -> None:
    """A quarter of a second of the processor, for each of ten commands that start together."""
    script = "import sys, assay.commands.runs.run_sql; print('duckdb' in sys.modules)"
    completed = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert completed.stdout == "False\n"
