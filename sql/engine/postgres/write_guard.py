"""A condition that every write transaction of a block checks first, on its own connection.

Whoever writes under a lease that may have passed to another process checks it so: the condition
locks the row of the lease, and thus holds until the transaction ends.
"""

import contextlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar

from sql.engine.postgres.connection_limits import PostgresConnection

WriteGuard = Callable[[PostgresConnection], None]
"""Raises StoreError where nothing may be written any more."""

_GUARD: ContextVar[WriteGuard | None] = ContextVar("write_guard", default=None)


@contextlib.contextmanager
def guarded_by(guard: WriteGuard) -> Iterator[None]:
    """Have every write transaction of the block checked, also those in threads of
    `asyncio.to_thread`."""
    token = _GUARD.set(guard)
    try:
        yield
    finally:
        _GUARD.reset(token)


def check_guard(connection: PostgresConnection) -> None:
    """Check what the transaction on this connection is guarded by, if it is. Raises StoreError."""
    guard = _GUARD.get()
    if guard is not None:
        guard(connection)
