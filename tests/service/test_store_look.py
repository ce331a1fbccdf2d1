"""Protects a process with a silent store from readiness checks."""

import threading

import pytest

from api.deps import StoreState
from assay.service import process_state
from assay.service.process_state import OneLook


def test_looks_that_do_not_end_are_one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_state, "_LOOK_WITHIN_S", 0.1)
    begun, go_on = threading.Semaphore(0), threading.Event()

    def silent() -> StoreState:
        begun.release()
        go_on.wait(10)
        return StoreState(is_ready=True)

    look = OneLook(silent)
    first = threading.Thread(target=look)
    first.start()
    assert begun.acquire(timeout=10)
    assert not look().is_ready
    assert not begun.acquire(blocking=False)
    go_on.set()
    first.join()
    assert look().is_ready
