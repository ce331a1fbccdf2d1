"""Notifications of watched tokens: events, and the messages that deliver them."""

from collections.abc import Sequence

import msgspec

from core.evm.primitives import Address, Hash32
from core.process.zstd import compress, decompress
from core.report.notifications import ChangeCause, WatchEvent
from core.report.report_changes import ReportState
from sql.engine.columns import blob
from sql.engine.database import Transaction
from sql.tokens.observations import list_causes

MOST_PENDING = 1_000
"""Messages that wait for one webhook. Further ones are counted, and the next message that is
queued carries that count."""

MOST_CAUSES = 20
"""Observations in one event."""


class EventSubject(msgspec.Struct, frozen=True, kw_only=True):
    """Token and block of an event."""

    chain_id: int
    address: Address
    block_number: int | None
    block_hash: Hash32 | None
    block_time_s: int | None
    """All three None: a refusal, which belongs to no block."""
    seen_at_s: int


class Watcher(msgspec.Struct, frozen=True, kw_only=True):
    """One watch of a token."""

    id: int
    kinds: tuple[str, ...]
    pending: int
    missed: int
    is_awaiting: bool
    """True until the token's first settled report since the watch was added."""
    has_webhook: bool


class NotifiedState(msgspec.Struct, frozen=True, kw_only=True):
    """State of a token in its last notification."""

    state: ReportState
    block_number: int


class _State(msgspec.Struct, frozen=True, kw_only=True):
    state: bytes
    block_number: int


class _Number(msgspec.Struct, frozen=True, kw_only=True):
    id: int


def lock_watchers(tx: Transaction, token_id: int) -> list[Watcher]:
    """Return a token's watches, and lock the message queues until the transaction ends.

    Costs one look-up and no lock if there are none.
    """
    if not tx.fetch("watches/list_of_token", Watcher, token_id=token_id):
        return []
    tx.fetch_tuples("messages/take_turn")
    return tx.fetch("watches/list_of_token", Watcher, token_id=token_id)


def end_waiting(tx: Transaction, token_id: int) -> None:
    """Mark all watches of a token as having their first report."""
    tx.execute("watches/end_waiting", token_id=token_id)


def read_notified_state(tx: Transaction, token_id: int) -> NotifiedState | None:
    """Return the state in the last notification of a token. None: there was none."""
    found = tx.fetch_one("watches/find_state", _State, token_id=token_id)
    if found is None:
        return None
    state = msgspec.json.decode(decompress(found.state), type=ReportState)
    return NotifiedState(state=state, block_number=found.block_number)


def put_notified_state(
    tx: Transaction, token_id: int, state: ReportState, block_number: int
) -> None:
    """Store the state of a token in its last notification."""
    packed = compress(msgspec.json.encode(state))
    tx.execute("watches/put_state", token_id=token_id, state=packed, block_number=block_number)


def read_causes(tx: Transaction, token_id: int, last: int, now: int) -> list[ChangeCause]:
    """Return the observations between two reports, newest first; after a reorg those at the block
    of the second alone."""
    seen = list_causes(tx, token_id, above=min(last, now - 1), up_to=now, at_most=MOST_CAUSES)
    return [
        ChangeCause(
            kind=one.kind,
            block_number=one.block_number,
            tx_hash=one.tx_hash,
            sender=one.sender,
            what=one.what,
            detail=one.detail,
        )
        for one in seen
    ]


def write_event(
    tx: Transaction,
    watchers: Sequence[Watcher],
    subject: EventSubject,
    event: WatchEvent,
    *,
    kind: str,
) -> None:
    """Store an event with a message of `kind` to each of these watches."""
    if not watchers:
        return
    (made,) = tx.fetch(
        "messages/insert_event",
        _Number,
        chain_id=subject.chain_id,
        address=blob(subject.address),
        block_number=subject.block_number,
        block_hash=None if subject.block_hash is None else blob(subject.block_hash),
        block_time_s=subject.block_time_s,
        seen_at_s=subject.seen_at_s,
        body=msgspec.json.encode(event).decode(),
    )
    for watcher in watchers:
        if watcher.has_webhook and watcher.pending >= MOST_PENDING:
            tx.execute("messages/add_missed", watch_id=watcher.id)
            continue
        _enqueue(
            tx,
            watcher.id,
            made.id,
            kind=kind,
            has_webhook=watcher.has_webhook,
            missed=watcher.missed,
            now_s=subject.seen_at_s,
        )
    tx.execute("messages/delete_event", event_id=made.id)  # has no messages if all queues are full


def write_test_message(tx: Transaction, watch_id: int, *, has_webhook: bool, now_s: float) -> None:
    """Queue a test message, which has no event."""
    _enqueue(tx, watch_id, None, kind="test", has_webhook=has_webhook, missed=0, now_s=int(now_s))


def _enqueue(
    tx: Transaction,
    watch_id: int,
    event_id: int | None,
    *,
    kind: str,
    has_webhook: bool,
    missed: int,
    now_s: int,
) -> None:
    tx.execute(
        "messages/insert_message",
        watch_id=watch_id,
        event_id=event_id,
        kind=kind,
        created_at_s=now_s,
        missed=missed,
        is_pending=int(has_webhook),
    )
    if has_webhook:
        tx.execute("messages/add_pending", watch_id=watch_id, due_s=now_s)
