"""Guard that every write transaction of a block runs first, on the transaction's connection.

The guard of a lease locks the lease's row, so the lease cannot pass to another process before the
transaction ends.
"""

import contextlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar

from sql.engine.postgres.connection_limits import PostgresConnection

WriteGuard = Callable[[PostgresConnection], None]
"""Raises StoreError if nothing may be written any more."""

_GUARD: ContextVar[WriteGuard | None] = ContextVar("write_guard", default=None)


@contextlib.contextmanager
def guard_writes(guard: WriteGuard) -> Iterator[None]:
    """Guard every write transaction of the block, also those in threads of `asyncio.to_thread`."""
    token = _GUARD.set(guard)
    try:
        yield
    finally:
        _GUARD.reset(token)


def check_guard(connection: PostgresConnection) -> None:
    """Run the guard of the transaction on this connection, if it has one. Raises StoreError."""
    guard = _GUARD.get()
    if guard is not None:
        guard(connection)
