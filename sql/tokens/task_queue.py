"""Queue of background tasks: analyses, look-ups of creators and funders, back-fills of histories.

A task has a worth and a time. Taking tasks costs the same however many wait: one index has the due
tasks by worth, another the later ones by time.
"""

from typing import Literal

import msgspec

from sql.engine.database import Transaction
from sql.engine.store import Readable, Store
from sql.engine.table_rows import TokenRow

TaskKind = Literal["refresh", "changed", "creator", "funder", "buyers", "history"]
"""refresh: analyse again. changed: the same, after an observation about a watched token. creator:
find the creation transaction. funder: find the creator's funder. buyers: find the funders of the
first buyers. history: fetch older transfers."""

NEW_WORTH = 1_000_000
"""Worth of a token that was never analysed: above all analysed ones."""

_MOST_WOKEN = 1_000
"""Tasks that become due in one transaction, which holds the write lock."""


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """One task that was taken."""

    token: TokenRow
    worth: int


class _Due(msgspec.Struct, frozen=True, kw_only=True):
    has_any: bool


class _Taken(msgspec.Struct, frozen=True, kw_only=True):
    token_id: int
    worth: int


def put_task(tx: Transaction, kind: TaskKind, *, token: TokenRow, worth: int, due_s: int) -> None:
    """Set worth and time of a task, adding it if there is none. Unix seconds."""
    _write(tx, "tasks/put_task", kind, token=token, worth=worth, due_s=due_s)


def add_task(tx: Transaction, kind: TaskKind, *, token: TokenRow, worth: int, due_s: int) -> None:
    """Add a task unless the token has one of its kind already."""
    _write(tx, "tasks/add_task", kind, token=token, worth=worth, due_s=due_s)


def drop_task(tx: Transaction, kind: TaskKind, *, token_id: int) -> None:
    """Delete a task, if there is one."""
    tx.execute("tasks/delete_task", kind=kind, token_id=token_id)


def has_due(store: Readable, kind: TaskKind, *, chain_id: int, now_s: int) -> bool:
    """True if there is a task to take. Read-only, so it is cheap to poll. Raises StoreError."""
    found = store.fetch_one("tasks/find_due", _Due, kind=kind, chain_id=chain_id, now_s=now_s)
    return found is not None and found.has_any


def take_tasks(
    store: Store, kind: TaskKind, *, chain_id: int, now_s: int, again_s: int, at_most: int
) -> list[Task]:
    """Return the due tasks of the highest worth, and postpone them to `again_s`.

    The worker sets the next time of a finished task, or drops it. Raises StoreError.
    """
    with store.transaction(chain_id=chain_id) as tx:
        tx.execute(
            "tasks/wake_tasks", kind=kind, chain_id=chain_id, now_s=now_s, at_most=_MOST_WOKEN
        )
        taken = tx.fetch(
            "tasks/take_tasks",
            _Taken,
            kind=kind,
            chain_id=chain_id,
            again_s=again_s,
            at_most=at_most,
        )
        tasks = []
        for one in sorted(taken, key=lambda one: (-one.worth, one.token_id)):
            token = tx.fetch_one("tokens/find_by_id", TokenRow, token_id=one.token_id)
            if token is not None:
                tasks.append(Task(token=token, worth=one.worth))
        return tasks


def _write(
    tx: Transaction, query: str, kind: TaskKind, *, token: TokenRow, worth: int, due_s: int
) -> None:
    tx.execute(
        query,
        kind=kind,
        token_id=token.token_id,
        chain_id=token.chain_id,
        worth=worth,
        due_s=due_s,
    )


COUNTED_AT_MOST = 10_000
"""Tasks of one kind and chain that are counted: a longer queue must not cost more."""


class DueCounts(msgspec.Struct, frozen=True, kw_only=True):
    """Due tasks of one kind, by the time since they became due."""

    new: int = 0
    """Tasks of tokens that had none before; their due time is not stored."""
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
