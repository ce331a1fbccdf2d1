"""Protects shared parts of a process: the processor, runs of one key, and the memory arena."""

import asyncio
import platform
import subprocess
import sys
import threading
from collections.abc import Callable

import pytest

from core.process.single_flight import SingleFlight
from core.process.time_slice import SHORT_SLICE_S, restore_time_slice, shorten_time_slice
from sql.engine.child_process import read_some, start_child
from tests.harness.process.kernel_slices import needs_slices, slice_ns


@needs_slices
def test_a_thread_and_those_it_starts_have_short_slices_until_they_are_restored() -> None:
    slices: dict[str, int] = {}

    def tell(name: str) -> None:
        slices[name] = slice_ns()

    def shorten_and_start() -> None:
        tell("before")
        assert shorten_time_slice()
        tell("shortened")
        child = threading.Thread(target=tell, args=["started"])
        child.start()
        child.join()
        assert restore_time_slice()
        tell("restored")

    run_in_thread(shorten_and_start)
    short = round(SHORT_SLICE_S * 1e9)
    assert slices == {
        "before": slice_ns(),
        "shortened": short,
        "started": short,
        "restored": slice_ns(),
    }
    assert slice_ns() > short


@needs_slices
def test_a_process_that_nobody_waits_for_has_the_usual_slices() -> None:
    slices: list[bytes | None] = []

    def start() -> None:
        shorten_time_slice()
        with start_child("tests.harness.process.kernel_slices", b"", niceness=1) as process:
            slices.append(read_some(process, wait_s=60))

    run_in_thread(start)
    assert slices == [b"%d\n" % slice_ns()]


def run_in_thread(action: Callable[[], None]) -> None:
    """This thread keeps its own slices."""
    thread = threading.Thread(target=action)
    thread.start()
    thread.join()


# --- single flight ------------------------------------------------------------------------------


async def test_callers_share_one_run_and_the_next_call_starts_another() -> None:
    runs = SingleFlight[str, int]()
    gate, starts = asyncio.Event(), 0

    async def work() -> int:
        nonlocal starts
        starts += 1
        mine = starts
        await gate.wait()
        return mine

    callers = [asyncio.create_task(runs.run("a", work)) for _ in range(5)]
    other = asyncio.create_task(runs.run("b", work))
    await asyncio.sleep(0)
    gate.set()
    assert await asyncio.gather(*callers) == [1] * 5
    assert await other == 2
    assert await runs.run("a", work) == 3


async def test_a_caller_who_leaves_does_not_end_the_run() -> None:
    runs = SingleFlight[str, int]()
    gate = asyncio.Event()

    async def work() -> int:
        await gate.wait()
        return 7

    leaving = asyncio.create_task(runs.run("a", work))
    staying = asyncio.create_task(runs.run("a", work))
    await asyncio.sleep(0)
    leaving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await leaving
    gate.set()
    assert await staying == 7


async def test_every_caller_sees_the_failure() -> None:
    runs = SingleFlight[str, int]()

    async def work() -> int:
        raise LookupError

    outcomes = await asyncio.gather(
        *(runs.run("a", work) for _ in range(3)), return_exceptions=True
    )
    assert [type(outcome) for outcome in outcomes] == [LookupError] * 3


async def test_closing_ends_what_still_runs() -> None:
    runs = SingleFlight[str, bool]()
    caller = asyncio.create_task(runs.run("a", asyncio.Event().wait))
    await asyncio.sleep(0)
    await runs.aclose()
    with pytest.raises(asyncio.CancelledError):
        await caller


async def test_a_run_started_anew_is_the_one_that_later_callers_share() -> None:
    runs = SingleFlight[str, int]()
    gates = [asyncio.Event(), asyncio.Event()]

    async def work(number: int) -> int:
        await gates[number].wait()
        return number

    old = asyncio.create_task(runs.run("a", lambda: work(0)))
    await asyncio.sleep(0)
    new = asyncio.create_task(runs.run("a", lambda: work(1), is_fresh=True))
    await asyncio.sleep(0)
    gates[0].set()
    assert await old == 0
    late = asyncio.create_task(runs.run("a", lambda: work(0)))
    await asyncio.sleep(0)
    gates[1].set()
    assert [await new, await late] == [1, 1]


# --- allocator ----------------------------------------------------------------------------------

_COUNT_ARENAS = """
import ctypes, os, sys, tempfile, threading
from core.process.allocator import share_one_arena
if sys.argv[1] == "one":
    share_one_arena()
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
barrier = threading.Barrier(6)
def allocate():
    barrier.wait()
    for _ in range(1_000):
        libc.malloc(10_000)
    barrier.wait()
threads = [threading.Thread(target=allocate) for _ in range(6)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
with tempfile.TemporaryFile() as file:
    libc.fdopen.restype = ctypes.c_void_p
    stream = ctypes.c_void_p(libc.fdopen(os.dup(file.fileno()), b"w"))
    libc.malloc_info(0, stream)
    libc.fclose(stream)
    file.seek(0)
    print(file.read().count(b"<heap nr="))
"""


def arenas(how_many: str) -> int:
    command = [sys.executable, "-c", _COUNT_ARENAS, how_many]
    return int(subprocess.run(command, capture_output=True, check=True, text=True).stdout)


@pytest.mark.process
@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library")
def test_all_threads_share_one_arena() -> None:
    assert arenas("one") == 1
    assert arenas("as usual") > 1
