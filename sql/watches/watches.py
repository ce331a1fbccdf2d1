"""Watches: subscriptions to changes of tokens, by kind of change."""

from collections.abc import Iterable, Sequence

import msgspec

from core.evm.primitives import Address
from core.process.secret import Secret
from sql.chain.blocks import FOLLOW, read_checkpoint
from sql.chain.feed_tables import find_newest_line
from sql.engine.database import Transaction
from sql.engine.store import Readable
from sql.tokens.observations import make_due
from sql.tokens.tokens import read_token, track_tokens


class NewWatch(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of a new watch."""

    key_id: int | None
    """Key of the ledger that owns it. None: the operator's, created at the command line."""
    name: str
    kinds: tuple[str, ...]
    """Selected kinds of change; see `core.report.notifications`."""
    url: str | None
    """URL of the webhook. None: there is none, messages are read."""
    secret: Secret | None
    """Key of the webhook's signatures. None exactly if there is no webhook."""
    feed_chain_id: int | None = None
    """Chain whose feed is sent to the webhook. None: none."""
    feed_after: int | None = None
    """Sequence of the line after which it begins. None: the newest one."""


class Watch(msgspec.Struct, frozen=True, kw_only=True):
    """One watch with its current state."""

    id: int
    key_id: int | None
    name: str
    kinds: tuple[str, ...]
    url: str | None
    is_paused: bool
    created_at_s: int
    pending: int
    """Messages that the webhook has not accepted yet."""
    missed: int
    """Messages dropped by the full queue since the last queued one."""
    failures: int
    """Consecutive failed attempts."""
    failing_since_s: int | None
    """Time when delivery was given up, after a day of failures. None: it continues."""
    forgotten: int
    """Messages about tokens up to this number have been deleted by age."""
    feed_chain_id: int | None
    """Chain whose feed is sent. None: none."""
    feed_cursor: int
    """Sequence of the last line of that feed that was queued; 0 without a feed."""


class WatchCounts(msgspec.Struct, frozen=True, kw_only=True):
    """Number of watches and watched tokens of one key."""

    watches: int
    tokens: int
    """Tokens of all its watches; one in two watches counts twice."""


class WatchStates(msgspec.Struct, frozen=True, kw_only=True):
    """Numbers of watches by state of their delivery."""

    paused: int
    failing: int
    active: int


class TokenOfWatch(msgspec.Struct, frozen=True, kw_only=True):
    """One token of a watch."""

    token_id: int
    chain_id: int
    address: Address
    is_awaiting: bool
    """True until its first settled report since it is watched, the baseline of later ones."""


class _Number(msgspec.Struct, frozen=True, kw_only=True):
    id: int


class _Key(msgspec.Struct, frozen=True, kw_only=True):
    key_id: int


class _Event(msgspec.Struct, frozen=True, kw_only=True):
    event_id: int | None


class _Tokens(msgspec.Struct, frozen=True, kw_only=True):
    tokens: int


def create_watch(tx: Transaction, new: NewWatch, *, now_s: float) -> int:
    """Create a watch without tokens; return its number."""
    feed_cursor = new.feed_after or 0
    if new.feed_chain_id is not None and new.feed_after is None:
        feed_cursor = find_newest_line(tx, chain_id=new.feed_chain_id)
    made = tx.fetch(
        "watches/insert_watch",
        _Number,
        key_id=new.key_id,
        name=new.name,
        kinds=" ".join(new.kinds),
        url=new.url,
        secret=None if new.secret is None else new.secret.value,
        created_at_s=int(now_s),
        feed_chain_id=new.feed_chain_id,
        feed_cursor=feed_cursor,
    )
    return made[0].id


def find_watch(store: Readable, watch_id: int) -> Watch | None:
    """Return a watch. None: there is none with this number."""
    return store.fetch_one("watches/find_watch", Watch, watch_id=watch_id)


def list_watches_of(store: Readable, key_ids: Iterable[int]) -> list[Watch]:
    """Return the watches of these keys, those of a key in the order of creation."""
    return [
        watch
        for key_id in key_ids
        for watch in store.fetch("watches/list_of_key", Watch, key_id=key_id)
    ]


def list_watches(store: Readable, *, after: int, at_most: int) -> list[Watch]:
    """Return the watches of all keys above a number, in the order of creation."""
    return store.fetch("watches/list_after", Watch, after=after, at_most=at_most)


def count_watched(store: Readable, key_id: int) -> WatchCounts:
    """Count the watches and watched tokens of a key, paused ones included."""
    return store.fetch("watches/count_of_key", WatchCounts, key_id=key_id)[0]


def count_states(store: Readable) -> WatchStates:
    """Count the watches of the store by state."""
    return store.fetch("watches/count_states", WatchStates)[0]


def pause_watch(tx: Transaction, watch_id: int) -> None:
    """Stop the notifications and deliveries of a watch until it is resumed.

    Changes in the meantime are not queued; queued messages stay.
    """
    tx.execute("watches/pause_watch", watch_id=watch_id)


def resume_watch(tx: Transaction, watch_id: int, *, now_s: float) -> None:
    """Resume a watch that was paused, or given up after failures."""
    tx.execute("watches/resume_watch", watch_id=watch_id, now_s=now_s)


def remove_watch(tx: Transaction, watch_id: int) -> None:
    """Delete a watch with everything that only it needs."""
    tokens = [one.token_id for one in list_tokens(tx, watch_id)]
    events = [
        one.event_id
        for one in tx.fetch("messages/list_events", _Event, watch_id=watch_id)
        if one.event_id is not None
    ]
    tx.execute("watches/delete_watch", watch_id=watch_id)
    for event_id in events:
        tx.execute("messages/delete_event", event_id=event_id)
    for token_id in tokens:
        tx.execute("watches/delete_state", token_id=token_id)


def add_tokens(
    tx: Transaction, watch_id: int, *, chain_id: int, addresses: Sequence[Address], now_s: float
) -> None:
    """Add tokens of one chain to a watch; those it has are unchanged.

    Each is tracked from now on as requested, and due for an analysis immediately: its report is the
    baseline of later ones.
    """
    followed = read_checkpoint(tx, chain_id=chain_id, stream=FOLLOW)
    number = 0 if followed is None else followed.number
    seen = dict.fromkeys(addresses, number)
    for token in track_tokens(tx, chain_id=chain_id, seen=seen, because="request"):
        added = tx.execute("watches/insert_token", watch_id=watch_id, token_id=token.token_id)
        if added:
            make_due(tx, token.token_id, due_s=int(now_s))


def remove_tokens(
    tx: Transaction, watch_id: int, *, chain_id: int, addresses: Sequence[Address]
) -> int:
    """Remove tokens of one chain from a watch; return how many it had."""
    removed = 0
    for address in addresses:
        token = read_token(tx, chain_id=chain_id, address=address)
        if token is not None:
            removed += tx.execute(
                "watches/delete_token", watch_id=watch_id, token_id=token.token_id
            )
            tx.execute("watches/delete_state", token_id=token.token_id)
    return removed


def count_tokens(store: Readable, watch_id: int) -> int:
    """Count the tokens of a watch."""
    return store.fetch("watches/count_tokens", _Tokens, watch_id=watch_id)[0].tokens


def list_tokens(
    store: Readable, watch_id: int, *, after: int = 0, at_most: int = 100_000
) -> list[TokenOfWatch]:
    """Return the tokens of a watch above a token id, by id."""
    return store.fetch(
        "watches/list_tokens", TokenOfWatch, watch_id=watch_id, after=after, at_most=at_most
    )


def list_keys_with_watches(store: Readable) -> list[int]:
    """Return the keys that have watches."""
    return [row.key_id for row in store.fetch("watches/list_keys", _Key)]


def pause_watches_of(tx: Transaction, key_id: int) -> int:
    """Pause all watches of a key; return their number."""
    return tx.execute("watches/pause_of_key", key_id=key_id)
