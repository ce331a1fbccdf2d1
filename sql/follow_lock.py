"""Lock by which one process at a time follows a chain into a store."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

from core.errors import StoreError
from sql.store_files import StoreFiles

_LONGEST_PID = 20


@contextmanager
def following(files: StoreFiles, chain_id: int) -> Iterator[None]:
    """Keep other processes from following a chain into the store; it ends with this process.

    Raises StoreError, also when another process follows it: with that process's number.
    """
    path = files.follow_lock(chain_id)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise StoreError(path=str(path), reason=str(error)) from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            owner = os.pread(descriptor, _LONGEST_PID, 0).decode(errors="replace")
            reason = f"another process follows chain {chain_id} into it (process {owner})"
            raise StoreError(path=str(files.prefix), reason=reason) from error
        os.truncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        yield
    finally:
        os.close(descriptor)
