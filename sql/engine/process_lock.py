"""Lock between processes: a file that names the process holding it."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from core.errors import StoreError

_LONGEST_PID = 20
_LOOK_EVERY_S = 0.1


@contextmanager
def hold_lock(path: Path, *, store: Path, doing: str, within_s: float = 0.0) -> Iterator[None]:
    """Hold a lock, until this process ends at the latest.

    `doing` completes "another process" in the error. `within_s`: seconds to wait for that process.
    Raises StoreError about the store; if another process still holds the lock, with its number.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise StoreError(path=str(path), reason=str(error)) from error
    try:
        try:
            _lock(descriptor, within_s)
        except BlockingIOError as error:
            owner = os.pread(descriptor, _LONGEST_PID, 0).decode(errors="replace")
            reason = f"another process {doing} (process {owner})"
            raise StoreError(path=str(store), reason=reason) from error
        os.truncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        yield
    finally:
        os.close(descriptor)


def _lock(descriptor: int, within_s: float) -> None:
    until_s = time.monotonic() + within_s
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= until_s:
                raise
            time.sleep(_LOOK_EVERY_S)
        else:
            return
