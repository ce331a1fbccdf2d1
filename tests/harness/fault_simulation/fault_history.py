"""One history of faults, drawn from a seed.

A chain that changes, nodes and a disk that fail, a process that ends anywhere; and the missing or
surplus rows of its store once all is well again.
"""

import asyncio
import atexit
import random
import shutil
import tempfile
import threading
import traceback
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from functools import cache
from pathlib import Path
from random import Random
from unittest import mock

import msgspec
import structlog

from core.rpc.backoff import SystemClock
from sql.engine import store
from sql.engine.store import Store
from sql.engine.store_files import StoreFiles
from sql.lake import mover
from sql.lake.lake_file import Lake
from tests.harness.fault_simulation.history_steps import HistorySteps
from tests.harness.fault_simulation.virtual_loop import VirtualLoop

_SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - a new folder is created in it
_MEMORY = _SHARED_MEMORY if _SHARED_MEMORY.is_dir() else None
"""Folder in memory, as kills never hit the machine. None: the usual one."""

_NAME = "store"


class HistoryOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """Outcome of a history."""

    seed: int
    steps: tuple[str, ...]
    """Summary of the events."""
    differences: tuple[str, ...]
    """None: the store is right."""


def run_history(seed: int) -> HistoryOutcome:
    """Live through the history of a seed. Takes milliseconds; seeds `random`."""
    random.seed(seed)  # the product's back-offs are drawn from there
    dice = Random(seed)  # noqa: S311 - chance, not secrecy
    with ExitStack() as stack:
        path = stack.enter_context(_new_store())
        stack.enter_context(structlog.testing.capture_logs())
        stack.enter_context(mock.patch.object(SystemClock, "now_s", _loop_time))
        stack.enter_context(mock.patch.object(mover, "_PAUSE_S", 0.0))
        stack.enter_context(mock.patch.object(store, "threading", _NoThreads))
        runner = stack.enter_context(asyncio.Runner(loop_factory=VirtualLoop))
        steps = stack.enter_context(closing(HistorySteps(seed, dice, path)))
        if steps.has_lake:
            lake = StoreFiles(prefix=path).lake
            lake.write_bytes(_empty_files()[lake])
        try:
            differences = runner.run(steps.live())
        except Exception:  # noqa: BLE001 - whatever breaks is what this looks for
            differences = [traceback.format_exc(limit=-6)]
    return HistoryOutcome(seed=seed, steps=tuple(steps.notices), differences=tuple(differences))


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


@contextmanager
def _new_store() -> Iterator[Path]:
    """A store without rows, always at the same path: a lake's catalogue has that of its data."""
    files = StoreFiles(prefix=_folder() / _NAME)
    files.serving.write_bytes(_empty_files()[files.serving])
    try:
        yield files.prefix
    finally:
        for path in _folder().iterdir():
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()


@cache
def _folder() -> Path:
    folder = tempfile.TemporaryDirectory(dir=_MEMORY)
    atexit.register(folder.cleanup)
    return Path(folder.name)


@cache
def _empty_files() -> dict[Path, bytes]:
    """Serving state and catalogue: migrating them takes longer than a history."""
    files = StoreFiles(prefix=_folder() / _NAME)
    Store.open(files.prefix).close()
    Lake.open(files, sees_serving=False).close()
    return {path: path.read_bytes() for path in (files.serving, files.lake)}
