"""Watches: who is told of changes of which tokens, and by which kinds of change."""

from collections.abc import Iterable, Sequence

import msgspec

from core.evm.primitives import Address
from core.process.secret import Secret
from sql.chain.blocks import read_checkpoint
from sql.engine.database import Transaction
from sql.engine.store import Readable
from sql.tokens.observations import make_due
from sql.tokens.tokens import read_token, track_tokens

_FOLLOW = "follow"


class NewWatch(msgspec.Struct, frozen=True, kw_only=True):
    """What a watch is made of."""

    key_id: int | None
    """Key of the ledger that it belongs to. None: the operator's, made at the command line."""
    name: str
    kinds: tuple[str, ...]
    """Kinds of change that are told; see `watch_changes`."""
    url: str | None
    """Of the webhook. None: there is none, messages are read."""
    secret: Secret | None
    """Key of the webhook's signatures. None exactly where there is no webhook."""


class Watch(msgspec.Struct, frozen=True, kw_only=True):
    """One watch as it stands."""

    id: int
    key_id: int | None
    name: str
    kinds: tuple[str, ...]
    url: str | None
    is_paused: bool
    created_at_s: int
    pending: int
    """Messages that the webhook has not taken yet."""
    missed: int
    """Messages that the full queue did not take, since the last one that it took."""
    failures: int
    """Failed attempts in a row."""
    failing_since_s: int | None
    """When attempts were given up, after a day of failed ones. None: they go on."""
    forgotten: int
    """Messages up to this number have been deleted by age."""


class WatchCounts(msgspec.Struct, frozen=True, kw_only=True):
    """What one key watches."""

    watches: int
    tokens: int
    """Tokens of all its watches; one in two watches counts twice."""


class WatchStates(msgspec.Struct, frozen=True, kw_only=True):
    """Watches by what becomes of their messages."""

    paused: int
    failing: int
    active: int


class TokenOfWatch(msgspec.Struct, frozen=True, kw_only=True):
    """One token of a watch."""

    token_id: int
    chain_id: int
    address: Address
    is_awaiting: bool
    """True: no report has settled since it is watched, so there is nothing to compare with yet."""


class _Number(msgspec.Struct, frozen=True, kw_only=True):
    id: int


class _Key(msgspec.Struct, frozen=True, kw_only=True):
    key_id: int


class _Event(msgspec.Struct, frozen=True, kw_only=True):
    event_id: int | None


class _Tokens(msgspec.Struct, frozen=True, kw_only=True):
    tokens: int


def create_watch(tx: Transaction, new: NewWatch, *, now_s: float) -> int:
    """Make a watch without tokens; return its number."""
    made = tx.fetch(
        "watches/insert_watch",
        _Number,
        key_id=new.key_id,
        name=new.name,
        kinds=" ".join(new.kinds),
        url=new.url,
        secret=None if new.secret is None else new.secret.value,
        created_at_s=int(now_s),
    )
    return made[0].id


def find_watch(store: Readable, watch_id: int) -> Watch | None:
    """Return a watch. None: there is none of this number."""
    return store.fetch_one("watches/find_watch", Watch, watch_id=watch_id)


def list_watches_of(store: Readable, key_ids: Iterable[int]) -> list[Watch]:
    """Return the watches of these keys, those of a key in the order of their making."""
    return [
        watch
        for key_id in key_ids
        for watch in store.fetch("watches/list_of_key", Watch, key_id=key_id)
    ]


def list_watches(store: Readable, *, after: int, at_most: int) -> list[Watch]:
    """Return watches of all keys above a number, in the order of their making."""
    return store.fetch("watches/list_after", Watch, after=after, at_most=at_most)


def count_watched(store: Readable, key_id: int) -> WatchCounts:
    """Return what a key watches, paused or not."""
    return store.fetch("watches/count_of_key", WatchCounts, key_id=key_id)[0]


def count_states(store: Readable) -> WatchStates:
    """Return the watches of the store, by state."""
    return store.fetch("watches/count_states", WatchStates)[0]


def pause_watch(tx: Transaction, watch_id: int) -> None:
    """Tell a watch nothing and send it nothing until it is resumed. What changes meanwhile is not
    told to it; messages that wait stay."""
    tx.execute("watches/pause_watch", watch_id=watch_id)


def resume_watch(tx: Transaction, watch_id: int, *, now_s: float) -> None:
    """Go on with a watch that was paused, or that failed for so long that it was given up."""
    tx.execute("watches/resume_watch", watch_id=watch_id, now_s=now_s)


def remove_watch(tx: Transaction, watch_id: int) -> None:
    """Delete a watch with everything that belongs to it alone."""
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
    """Add tokens of one chain to a watch; those it has stay as they are.

    Each is tracked from now on as one that was asked for, and due for an analysis at once: what it
    finds is what later reports are compared with.
    """
    followed = read_checkpoint(tx, chain_id=chain_id, stream=_FOLLOW)
    number = 0 if followed is None else followed.number
    seen = dict.fromkeys(addresses, number)
    for token in track_tokens(tx, chain_id=chain_id, seen=seen, because="request"):
        added = tx.execute("watches/insert_token", watch_id=watch_id, token_id=token.token_id)
        if added:
            make_due(tx, token.token_id, due_s=int(now_s))


def remove_tokens(
    tx: Transaction, watch_id: int, *, chain_id: int, addresses: Sequence[Address]
) -> int:
    """Take tokens of one chain from a watch; return how many it had."""
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
    """Return how many tokens a watch has."""
    return store.fetch("watches/count_tokens", _Tokens, watch_id=watch_id)[0].tokens


def list_tokens(
    store: Readable, watch_id: int, *, after: int = 0, at_most: int = 100_000
) -> list[TokenOfWatch]:
    """Return the tokens of a watch above a token id, by id."""
    return store.fetch(
        "watches/list_tokens", TokenOfWatch, watch_id=watch_id, after=after, at_most=at_most
    )


def keys_with_watches(store: Readable) -> list[int]:
    """Return the keys whose watches are told something."""
    return [row.key_id for row in store.fetch("watches/list_keys", _Key)]


def pause_watches_of(tx: Transaction, key_id: int) -> int:
    """Pause all watches of a key; return how many there are."""
    return tx.execute("watches/pause_of_key", key_id=key_id)
