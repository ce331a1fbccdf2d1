"""Protects callers of the API from the time slices of other threads on the processor."""

import threading
from collections.abc import Callable

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
