"""One history of faults, drawn from a seed: a chain that changes, nodes and a disk that fail, a
process that ends anywhere; and what its store lacks or has too much once all is well again."""

import asyncio
import random
import tempfile
import threading
import traceback
from contextlib import ExitStack
from pathlib import Path
from random import Random
from unittest import mock

import msgspec
import structlog

from core.rpc.backoff import SystemClock
from harness.empty_store import write_empty_store
from harness.fault_simulation.history_steps import HistorySteps
from harness.fault_simulation.virtual_loop import VirtualLoop
from sql import store
from sql.lake import mover

_SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - a folder of our own is made in it
_MEMORY = _SHARED_MEMORY if _SHARED_MEMORY.is_dir() else None
"""Where no file is written to a disk: what is killed here is not the machine. None: as usual."""


class HistoryOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """What a history came to."""

    seed: int
    steps: tuple[str, ...]
    """What happened, in short."""
    differences: tuple[str, ...]
    """None: the store is right."""


def run_history(seed: int) -> HistoryOutcome:
    """Live through the history of a seed. Takes milliseconds; seeds `random`."""
    random.seed(seed)  # the product's back-offs are drawn from there
    dice = Random(seed)  # noqa: S311 - chance, not secrecy
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(dir=_MEMORY))
        stack.enter_context(structlog.testing.capture_logs())
        stack.enter_context(mock.patch.object(SystemClock, "now_s", _loop_time))
        stack.enter_context(mock.patch.object(mover, "_PAUSE_S", 0.0))
        stack.enter_context(mock.patch.object(store, "threading", _NoThreads))
        path = Path(folder) / "store"
        write_empty_store(path)
        runner = stack.enter_context(asyncio.Runner(loop_factory=VirtualLoop))
        steps = stack.enter_context(HistorySteps(seed, dice, path))
        try:
            differences = runner.run(steps.live())
        except Exception:  # noqa: BLE001 - whatever breaks is what this looks for
            differences = [traceback.format_exc(limit=-6)]
    return HistoryOutcome(seed=seed, steps=tuple(steps.told), differences=tuple(differences))


class _NoThreads:
    """In place of `threading`: the write-ahead log is moved when the store is closed."""

    Event = threading.Event

    class Thread:
        """Never runs."""

        def __init__(self, **_: object) -> None:
            self.daemon = True

        def start(self) -> None:
            """Do nothing."""

        def join(self) -> None:
            """Do nothing."""


def _loop_time(_: SystemClock) -> float:
    return asyncio.get_running_loop().time()
