"""Watches in requests and responses."""

from collections.abc import Mapping
from typing import Annotated, Literal

import msgspec

from api.formats.shape_building import Shape
from api.formats.times import iso_utc
from api.watches.message_body import MessageBody, message_id
from core.report.notifications import ALL_KINDS, ChangeKind
from sql.watches.watch_messages import Delivery
from sql.watches.watches import Watch

MOST_NAME_CHARS = 100
MOST_TOKENS_AT_ONCE = 1_000
"""Tokens named in one call."""

WantedKind = Literal[ChangeKind, "baseline"]

WatchState = Literal["active", "paused", "failing"]


class TokensOfChain(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Tokens of one chain."""

    chain: str | int
    """Slug, numeric chain id or alias; letter case ignored."""
    addresses: Annotated[list[str], msgspec.Meta(min_length=1, max_length=MOST_TOKENS_AT_ONCE)]
    """Addresses of token contracts, letter case ignored."""


class FeedSubscription(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Feed of a chain, from a cursor on."""

    chain: str | int
    """Slug, numeric chain id or alias; letter case ignored."""
    after: Annotated[int, msgspec.Meta(ge=0, le=(1 << 63) - 1)] | None = None
    """Cursor of the line after which it begins; 0: the oldest that is kept. null: what comes from
    now on."""


class WatchRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Tokens to watch, the feed of a chain, or both, and the receiver of the messages."""

    name: Annotated[str, msgspec.Meta(min_length=1, max_length=MOST_NAME_CHARS)]
    """Name of the watch, for its owner."""
    tokens: Annotated[list[TokensOfChain], msgspec.Meta(max_length=20)] = []
    """Tokens to begin with; others can be added later."""
    kinds: Annotated[list[WantedKind], msgspec.Meta(min_length=1)] = msgspec.field(
        default_factory=lambda: list(ALL_KINDS)
    )
    """Kinds of change that are sent. `baseline` adds a message about the first settled report of
    each token. They cannot be changed later."""
    webhook_url: str | None = None
    """URL that messages are posted to. null: they are read by event stream or MCP."""
    feed: FeedSubscription | None = None
    """Feed that is posted to the webhook, in addition to messages about tokens. null: none. It
    cannot be changed later."""


class FeedProgress(Shape, frozen=True, kw_only=True):
    """Feed that is posted to a webhook."""

    chain: str
    """Slug of the chain."""
    cursor: int
    """Cursor of the last line that was posted or is being posted."""


class WatchView(Shape, frozen=True, kw_only=True):
    """One watch."""

    id: int
    """Number of the watch."""
    name: str
    """Name of the watch, as its owner gave it."""
    state: WatchState
    """active; paused: nothing is queued or sent; failing: the webhook has failed for a day, and
    nothing is sent until the watch is resumed."""
    kinds: tuple[str, ...]
    """Kinds of change that are sent."""
    webhook_url: str | None
    """URL that messages are posted to. null: there is none."""
    tokens: int
    """Number of its tokens."""
    created_at: str
    """ISO 8601 UTC."""
    pending: int
    """Messages that the webhook has not taken yet."""
    missed: int
    """Messages that were dropped, as too many waited; the next kept one has the same count."""
    failing_since: str | None
    """ISO 8601 UTC. null: it is not failing."""
    feed: FeedProgress | None
    """Feed that is posted to the webhook. null: none."""


class WatchList(Shape, frozen=True, kw_only=True):
    """The watches of the key."""

    watches: tuple[WatchView, ...]
    """Watches in the order of their creation."""


class CreatedWatch(Shape, frozen=True, kw_only=True):
    """A new watch."""

    watch: WatchView
    """The watch."""
    secret: str | None
    """Key of the webhook's signatures, shown this once. null: there is no webhook."""


class WatchedTokenView(Shape, frozen=True, kw_only=True):
    """One token of a watch."""

    chain: str
    """Slug of the chain."""
    contract_address: str
    """Address of the token, with checksum."""
    is_awaiting: bool
    """true: no report has settled since it is watched, so there is nothing to compare with yet."""


class WatchedTokenList(Shape, frozen=True, kw_only=True):
    """Tokens of a watch."""

    tokens: tuple[WatchedTokenView, ...]
    """Tokens in the order in which this deployment first saw them."""
    next_after: int | None
    """Value of `after` for the next page. null: there are no more."""


class RemovedTokens(Shape, frozen=True, kw_only=True):
    """Result of removing tokens from a watch."""

    removed: int
    """Tokens that were removed."""


class DeliveryView(Shape, frozen=True, kw_only=True):
    """One message, and how it was delivered."""

    message_id: str
    """Id of the message."""
    created_at: str
    """Time when the change was noticed, ISO 8601 UTC."""
    state: Literal["pending", "delivered", "stored"]
    """pending: the webhook has not taken it yet. delivered: it has. stored: there is no webhook."""
    attempts: int
    """Number of attempts."""
    tried_at: str | None
    """Time of the last attempt, ISO 8601 UTC. null: there was none."""
    delivered_at: str | None
    """Time when the webhook took it, ISO 8601 UTC. null: it has not."""
    error: str | None
    """Reason why the last attempt failed. null: it did not, or there was none."""
    body: MessageBody
    """The message."""


class DeliveryList(Shape, frozen=True, kw_only=True):
    """The last messages of a watch."""

    deliveries: tuple[DeliveryView, ...]
    """Newest first."""


def state_of_watch(watch: Watch) -> WatchState:
    """Return the state of a watch's messages."""
    if watch.is_paused:
        return "paused"
    return "active" if watch.failing_since_s is None else "failing"


def view_watch(watch: Watch, *, tokens: int, slugs: Mapping[int, str]) -> WatchView:
    """Build the body of a watch. `slugs`: those of the chains, by id."""
    since_s, feed = watch.failing_since_s, None
    if watch.feed_chain_id is not None:
        chain = slugs.get(watch.feed_chain_id, str(watch.feed_chain_id))
        feed = FeedProgress(chain=chain, cursor=watch.feed_cursor)
    return WatchView(
        id=watch.id,
        name=watch.name,
        state=state_of_watch(watch),
        kinds=watch.kinds,
        webhook_url=watch.url,
        tokens=tokens,
        created_at=iso_utc(watch.created_at_s),
        pending=watch.pending,
        missed=watch.missed,
        failing_since=None if since_s is None else iso_utc(since_s),
        feed=feed,
    )


def view_delivery(delivery: Delivery, body: MessageBody) -> DeliveryView:
    """Build the body of a message with its delivery."""
    is_delivered = delivery.delivered_at_s is not None
    return DeliveryView(
        message_id=message_id(delivery.id),
        created_at=iso_utc(delivery.created_at_s),
        state="pending" if delivery.is_pending else "delivered" if is_delivered else "stored",
        attempts=delivery.attempts,
        tried_at=_time(delivery.tried_at_s),
        delivered_at=_time(delivery.delivered_at_s),
        error=delivery.error,
        body=body,
    )


def _time(time_s: int | None) -> str | None:
    return None if time_s is None else iso_utc(time_s)
