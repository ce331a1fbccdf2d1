"""Counts of the tasks that are due, bounded, for those who watch a service."""

import msgspec

from sql.engine.store import Readable
from sql.tokens.task_queue import TaskKind

COUNTED_AT_MOST = 10_000
"""Tasks of one kind and chain that are looked at: a longer queue must not cost more to count."""


class DueCounts(msgspec.Struct, frozen=True, kw_only=True):
    """Tasks of one kind that are due, by how long they have been."""

    new: int = 0
    """Of tokens that had none before; since when is not stored."""
    minute: int = 0
    """Up to a minute."""
    hour: int = 0
    """Up to an hour, but longer than a minute; and so on."""
    day: int = 0
    older: int = 0


def count_due(store: Readable, kind: TaskKind, *, chain_id: int, now_s: int) -> DueCounts:
    """Count the due tasks of a chain, up to twice `COUNTED_AT_MOST`. Raises StoreError."""
    found = store.fetch_one(
        "tasks/count_due",
        DueCounts,
        kind=kind,
        chain_id=chain_id,
        now_s=now_s,
        at_most=COUNTED_AT_MOST,
    )
    return found or DueCounts()
