"""Protects `assay static` as a process: immediate answers, and an end on request."""

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from analysis.static import analyse_stream
from analysis.static.analyse_stream import analyse_line, analyse_lines
from assay.demo.npm_packages import PROJECT_ROOT
from tests.harness.static.assembler import assemble

pytestmark = pytest.mark.process

CODE = "0x" + assemble("CALLER SELFDESTRUCT").hex()
DEADLY = b'{"id": "deadly", "runtime": "0xdead"}\n'
WAIT_S = 60


def line(number: int) -> bytes:
    return json.dumps({"id": number, "runtime": CODE}).encode() + b"\n"


RUN = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have had it ignored
from assay.cli import main
main()
"""


@pytest.fixture
def run() -> Iterator[subprocess.Popen[bytes]]:
    """Run it in a separate group, as a terminal does."""
    with subprocess.Popen(
        [sys.executable, "-c", RUN, "static"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=PROJECT_ROOT,
        start_new_session=True,
    ) as process:
        yield process
        process.kill()


def workers_of(process: subprocess.Popen[bytes]) -> list[int]:
    printed = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(process.pid)],  # noqa: S607 - ps from the PATH
        capture_output=True,
        check=False,
    )
    return [int(word) for word in printed.stdout.split()]


def given(process: subprocess.Popen[bytes], lines: int) -> None:
    """Hand over lines and wait for the first answer; more may come later."""
    assert process.stdin is not None
    assert process.stdout is not None
    for number in range(lines):
        process.stdin.write(line(number))
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["id"] == 0


def test_answers_do_not_wait_for_the_end_of_the_input(run: subprocess.Popen[bytes]) -> None:
    given(run, 64)


def test_each_line_of_a_pipe_without_end_is_answered_before_the_next_is_sent(
    run: subprocess.Popen[bytes],
) -> None:
    assert run.stdin is not None
    assert run.stdout is not None
    for number in range(5):
        run.stdin.write(line(number))
        run.stdin.flush()
        assert select.select([run.stdout], [], [], WAIT_S)[0], f"no answer to line {number}"
        assert json.loads(run.stdout.readline())["id"] == number
    assert run.poll() is None


def test_an_interrupt_while_it_waits_for_a_line_ends_it_quietly(
    run: subprocess.Popen[bytes],
) -> None:
    given(run, 1)
    os.killpg(run.pid, signal.SIGINT)
    assert run.wait(WAIT_S) == 130
    assert run.stderr is not None
    assert run.stderr.read().strip() == b""


def test_input_that_fails_is_no_end_of_input() -> None:
    def lines() -> Iterator[bytes]:
        yield line(0)
        raise OSError

    answers = analyse_lines(lines(), processes=2)
    with pytest.raises(OSError, match=r"^$"):
        list(answers)


def test_an_interrupt_ends_it_quietly_with_its_workers(run: subprocess.Popen[bytes]) -> None:
    given(run, 64)
    workers = workers_of(run)
    os.killpg(run.pid, signal.SIGINT)
    assert run.wait(WAIT_S) == 130
    assert run.stderr is not None
    assert run.stderr.read().strip() == b""
    assert workers
    assert not still_running(workers)


def test_a_reader_that_leaves_ends_it_quietly(run: subprocess.Popen[bytes]) -> None:
    given(run, 64)
    assert run.stdout is not None
    assert run.stdin is not None
    run.stdout.close()
    run.stdin.write(line(64) * 64)
    run.stdin.close()
    assert run.wait(WAIT_S) == 1
    assert run.stderr is not None
    assert run.stderr.read().strip() == b""


def test_workers_end_when_their_parent_is_killed(run: subprocess.Popen[bytes]) -> None:
    given(run, 64)
    workers = workers_of(run)
    assert workers
    run.kill()
    run.wait(WAIT_S)
    # reading ends once the last process that holds the pipe lets go of it, right before it ends
    assert run.stdout is not None
    run.stdout.read()
    assert not still_running(workers)


def still_running(pids: list[int]) -> list[int]:
    """Return the processes that have not ended after a while, as ending needs a moment."""
    until = time.monotonic() + WAIT_S
    while any(map(is_running, pids)) and time.monotonic() < until:
        time.sleep(0.01)
    return [pid for pid in pids if is_running(pid)]


def is_running(pid: int) -> bool:
    """True if it runs, and is no zombie."""
    try:
        with open(f"/proc/{pid}/stat") as file:  # noqa: PTH123
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def dies_of_it(given: bytes) -> bytes:
    if given == DEADLY:
        os.kill(os.getpid(), signal.SIGKILL)
    return analyse_line(given)


def test_a_line_that_ends_its_process_costs_only_its_own_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(analyse_stream, "analyse_line", dies_of_it)
    lines = [line(0), DEADLY, *map(line, range(1, 40)), DEADLY, line(40)]
    answers = [json.loads(each) for each in analyse_lines(lines, processes=2)]
    names = [0, "deadly", *range(1, 40), "deadly", 40]
    assert [answer["id"] for answer in answers] == names
    assert [answer["id"] for answer in answers if "error" in answer] == ["deadly", "deadly"]
