"""Turns of analysts: a few statements run on a store at a time, over all processes; more wait."""

import fcntl
import os
import random
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from core.errors import QueryError, StoreError
from sql.engine.store_files import StoreFiles

AT_ONCE: Final = 2
"""Statements that run on one store at the same time."""

_PATIENCE_S = 60.0
"""Seconds a statement waits for its turn."""

_LOOK_EVERY_S = 0.1
_NEXT_LOOKS_EVERY_S = 0.02


@contextmanager
def query_turn(files: StoreFiles) -> Iterator[int]:
    """Wait for a turn; yield the descriptor that holds it.

    The turn lasts until this process has left the block and every process that inherited the
    descriptor has ended. Raises QueryError when none comes for too long, StoreError when the locks
    cannot be opened.
    """
    until_s = time.monotonic() + _PATIENCE_S
    # Only the next in line looks for a turn: who has just had one cannot go before it.
    place = _lock_one([files.query_queue_lock], until_s, _LOOK_EVERY_S)
    try:
        turns = [files.query_lock(turn) for turn in range(AT_ONCE)]
        held = _lock_one(turns, until_s, _NEXT_LOOKS_EVERY_S)
    finally:
        os.close(place)
    try:
        yield held
    finally:
        os.close(held)


def _lock_one(paths: Sequence[Path], until_s: float, every_s: float) -> int:
    """Lock the first of these files that is free; return its descriptor."""
    while True:
        for path in paths:
            descriptor = _try_lock(path)
            if descriptor is not None:
                return descriptor
        if time.monotonic() >= until_s:
            raise QueryError(reason="too many statements at once; try again later", limit="time")
        # Of those who wait, none always comes last.
        time.sleep(every_s * random.uniform(0.5, 1.5))  # noqa: S311 - chance, not secrecy


def _try_lock(path: Path) -> int | None:
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise StoreError(path=str(path), reason=str(error)) from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor
