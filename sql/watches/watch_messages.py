"""Messages of watches: the queue, the outcomes of deliveries, and past messages."""

import msgspec

from core.evm.primitives import Address, Hash32
from core.process.secret import Secret
from core.report.notifications import WatchEvent
from sql.chain.feed_tables import StoredFeedLine, find_feed_gap, list_lines
from sql.engine.database import Transaction
from sql.engine.store import Readable, Store

MOST_LINES_OF_MESSAGE = 100
"""Lines of a feed in one message."""

_DELETED_AT_ONCE = 500


class WebhookTarget(msgspec.Struct, frozen=True, kw_only=True):
    """Webhook of a watch."""

    watch_id: int
    key_id: int
    url: str
    secret: Secret


class _MessageFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A message without its event."""

    id: int
    """Ascends over the messages of all watches."""
    watch_id: int
    watch_name: str
    kinds: tuple[str, ...]
    """Kinds of change that the watch selects."""
    kind: str
    """change, baseline, feed or test."""
    created_at_s: int
    missed: int
    """Messages before this one that were dropped because the queue was full."""
    chain_id: int | None
    address: Address | None
    block_number: int | None
    block_hash: Hash32 | None
    block_time_s: int | None


class FeedPart(msgspec.Struct, frozen=True, kw_only=True):
    """Part of the feed of a chain that one message has."""

    chain_id: int
    after: int
    """Sequence of the last line of the message before."""
    up_to: int
    """Sequence of the last line of this one."""
    forgotten: int
    """Lines up to this sequence have been deleted by age; 0 if none was."""
    lines: tuple[StoredFeedLine, ...]
    """Oldest first. Empty in lists of messages."""


class WatchMessage(_MessageFacts, frozen=True, kw_only=True):
    """One message to one watch."""

    event: WatchEvent | None
    """None: a test or a part of a feed."""
    feed: FeedPart | None
    """None: it is about a token, or a test."""


class Delivery(msgspec.Struct, frozen=True, kw_only=True):
    """One message to one watch, and the outcome of its delivery."""

    id: int
    kind: str
    created_at_s: int
    is_pending: bool
    """True: it is still to be sent."""
    attempts: int
    tried_at_s: int | None
    delivered_at_s: int | None
    """None: the webhook has not accepted it, or there is none."""
    error: str | None
    """Error of the last attempt. None: it succeeded, or there was none."""


class DeliveryFailures(msgspec.Struct, frozen=True, kw_only=True):
    """Consecutive failed attempts of one watch."""

    failures: int
    failed_first_at_s: int


class MessageNumber(msgspec.Struct, frozen=True, kw_only=True):
    """Number of a message, with its watch."""

    id: int
    watch_id: int
    key_id: int | None
    """Key that owns the watch. None: the operator's."""


class _Due(msgspec.Struct, frozen=True, kw_only=True):
    id: int
    key_id: int
    url: str
    secret: str


class _Message(_MessageFacts, frozen=True, kw_only=True):
    body: str | None
    feed_chain_id: int | None
    feed_after: int | None
    feed_up_to: int | None


class _Feed(msgspec.Struct, frozen=True, kw_only=True):
    id: int
    chain_id: int
    cursor: int


class _Old(msgspec.Struct, frozen=True, kw_only=True):
    id: int
    watch_id: int
    event_id: int | None
    feed_up_to: int | None


class _Newest(msgspec.Struct, frozen=True, kw_only=True):
    id: int


class _Oldest(msgspec.Struct, frozen=True, kw_only=True):
    created_at_s: int | None


class _FirstDue(msgspec.Struct, frozen=True, kw_only=True):
    due_s: float | None


def list_due(store: Readable, *, now_s: float, at_most: int) -> list[WebhookTarget]:
    """Return the webhooks with a due message, the longest overdue first."""
    rows = store.fetch("messages/list_due", _Due, now_s=now_s, at_most=at_most)
    return [
        WebhookTarget(watch_id=row.id, key_id=row.key_id, url=row.url, secret=Secret(row.secret))
        for row in rows
    ]


def find_next(store: Readable, watch_id: int) -> WatchMessage | None:
    """Return the oldest undelivered message of a webhook, with the lines of a feed. None: there is
    none, or the watch is paused, given up or deleted."""
    found = store.fetch_one("messages/find_next", _Message, watch_id=watch_id)
    if found is None:
        return None
    message = _message(found)
    if message.feed is None:
        return message
    feed = _with_lines(store, message.feed)
    return msgspec.structs.replace(message, feed=feed)


def list_after(store: Readable, watch_id: int, *, after: int, at_most: int) -> list[WatchMessage]:
    """Return messages about tokens to a watch above a number, oldest first."""
    rows = store.fetch(
        "messages/list_after", _Message, watch_id=watch_id, after=after, at_most=at_most
    )
    return [_message(row) for row in rows]


def list_last(store: Readable, watch_id: int, *, at_most: int) -> list[WatchMessage]:
    """Return the last messages to a watch, newest first."""
    rows = store.fetch("messages/list_last", _Message, watch_id=watch_id, at_most=at_most)
    return [_message(row) for row in rows]


def list_deliveries(store: Readable, watch_id: int, *, at_most: int) -> list[Delivery]:
    """Return the deliveries of the last messages to a watch, newest first."""
    return store.fetch("messages/list_deliveries", Delivery, watch_id=watch_id, at_most=at_most)


def find_newest_message(store: Readable) -> int:
    """Return the highest number of a message; 0 if there was none yet."""
    return store.fetch("messages/find_newest", _Newest)[0].id


def list_new(store: Readable, *, after: int, at_most: int) -> list[MessageNumber]:
    """Return the numbers of the messages about tokens above a number, oldest first."""
    return store.fetch("messages/list_new", MessageNumber, after=after, at_most=at_most)


def queue_feeds(store: Store, *, now_s: float) -> None:
    """Queue the next lines of each feed for its webhook, unless earlier ones wait.

    So a receiver that is down has one message to take, and the lines after it stay in the feed.
    Raises StoreError.
    """
    if not store.fetch("messages/list_feeds", _Feed):
        return
    with store.transaction() as tx:
        feeds = tx.fetch("messages/list_feeds", _Feed)
        if feeds:
            tx.fetch_tuples("messages/take_turn")
        for feed in feeds:
            lines = list_lines(
                tx, chain_id=feed.chain_id, after=feed.cursor, at_most=MOST_LINES_OF_MESSAGE
            )
            up_to = lines[-1].sequence if lines else find_feed_gap(tx, chain_id=feed.chain_id)
            tx.execute(
                "messages/insert_feed_message",
                watch_id=feed.id,
                created_at_s=int(now_s),
                after=feed.cursor,
                up_to=up_to,
            )
            tx.execute("messages/move_feed", watch_id=feed.id, cursor=up_to)
            tx.execute("messages/add_pending", watch_id=feed.id, due_s=int(now_s))


def note_delivered(store: Store, message: WatchMessage, *, now_s: float) -> None:
    """Record that the webhook has accepted a message. A second call changes nothing."""
    with store.transaction() as tx:
        if tx.execute("messages/end_message", message_id=message.id, now_s=int(now_s)):
            tx.execute("messages/note_delivery", watch_id=message.watch_id, now_s=now_s)


def note_failed(tx: Transaction, message: WatchMessage, error: str, *, now_s: float) -> None:
    """Record a failed attempt to deliver a message, with its error."""
    tx.execute("messages/note_error", message_id=message.id, now_s=int(now_s), error=error)


def count_failure(tx: Transaction, watch_id: int, *, now_s: float) -> DeliveryFailures | None:
    """Count a failed attempt; return the consecutive ones. None: the watch is deleted."""
    found = tx.fetch("messages/put_off", DeliveryFailures, watch_id=watch_id, now_s=int(now_s))
    return found[0] if found else None


def set_due(tx: Transaction, watch_id: int, *, due_s: float | None, now_s: float) -> None:
    """Set the time of the next attempt. None: not before the watch is resumed."""
    tx.execute("messages/set_due", watch_id=watch_id, due_s=due_s, now_s=int(now_s))


def delete_old_messages(store: Store, *, before_s: float) -> None:
    """Delete messages made before a Unix time that are no longer to be sent, in small steps. Raises
    StoreError."""
    rows: list[_Old] | None = None
    while rows is None or len(rows) == _DELETED_AT_ONCE:
        with store.transaction() as tx:
            rows = tx.fetch(
                "messages/list_old", _Old, before_s=int(before_s), at_most=_DELETED_AT_ONCE
            )
            for row in rows:
                tx.execute("messages/delete_message", message_id=row.id)
                if row.feed_up_to is None:
                    tx.execute("messages/note_forgotten", watch_id=row.watch_id, message_id=row.id)
                if row.event_id is not None:
                    tx.execute("messages/delete_event", event_id=row.event_id)


def find_oldest_undelivered_s(store: Readable) -> int | None:
    """Return the creation time of the oldest undelivered message. None: there is none."""
    return store.fetch("messages/find_oldest", _Oldest)[0].created_at_s


def find_first_due_s(store: Readable) -> float | None:
    """Return the due time of the longest overdue attempt. None: none is planned."""
    return store.fetch("messages/find_first_due", _FirstDue)[0].due_s


def _message(row: _Message) -> WatchMessage:
    event = None if row.body is None else msgspec.json.decode(row.body, type=WatchEvent)
    facts = {name: getattr(row, name) for name in _MessageFacts.__struct_fields__}
    feed = None
    if row.feed_chain_id is not None and row.feed_up_to is not None:
        feed = FeedPart(
            chain_id=row.feed_chain_id,
            after=row.feed_after or 0,
            up_to=row.feed_up_to,
            forgotten=0,
            lines=(),
        )
    return WatchMessage(**facts, event=event, feed=feed)


def _with_lines(store: Readable, feed: FeedPart) -> FeedPart:
    # Deleted lines are looked up after the others, so that none is missing without a word.
    lines = list_lines(
        store, chain_id=feed.chain_id, after=feed.after, at_most=MOST_LINES_OF_MESSAGE
    )
    return msgspec.structs.replace(
        feed,
        lines=tuple(line for line in lines if line.sequence <= feed.up_to),
        forgotten=find_feed_gap(store, chain_id=feed.chain_id),
    )
