"""Messages of watches as they are sent: the same body by webhook, event stream and MCP. Pure."""

from collections.abc import Iterable
from typing import Final, Literal

import msgspec

from api.formats.shape_building import Shape
from api.formats.times import iso_utc
from api.watches.feed_shapes import FeedEvent, FeedGap, show_line
from api.watches.seen_cause import SeenCause, show_cause
from config.facts.chain import Chain
from core.evm.primitives import Hash32, checksum
from core.report.notifications import BASELINE, WatchEvent, kind_of
from sql.watches.watch_messages import FeedPart, WatchMessage

MessageType = Literal["token.changed", "token.baseline", "feed.lines", "watch.test"]

_TYPES: dict[str, MessageType] = {
    "change": "token.changed",
    BASELINE: "token.baseline",
    "feed": "feed.lines",
    "test": "watch.test",
}


class ToldChange(Shape, frozen=True, kw_only=True):
    """One difference between a report and the last notified state."""

    kind: str
    """Kind of the change, which watches can select."""
    what: str
    """Changed value: verdict, sell_tax, owner_address and so on; a check is `flag.` and its key."""
    before: str | None
    """Last notified value; numbers and booleans as text. null: unknown."""
    after: str | None
    """Current value. null: unknown, which is sent for the verdict alone."""


class FeedLines(Shape, frozen=True, kw_only=True):
    """Part of the feed of a chain."""

    after: int
    """Cursor of the last line of the message before."""
    cursor: int
    """Cursor of the last line of this message."""
    gap: FeedGap | None
    """Lines above `after` that are missing, as they were too old and deleted. null: none."""
    lines: tuple[FeedEvent, ...]
    """At most 100, oldest first. Empty in lists of messages: `GET /feed/{chain}/lines` has
    them."""


class MessageBlock(Shape, frozen=True, kw_only=True):
    """Block of a report."""

    number: int
    """Its number."""
    hash: Hash32
    """Its hash. If another block of this number replaces it, another message follows."""
    time: str
    """Its timestamp, ISO 8601 UTC."""


class MessageData(Shape, frozen=True, kw_only=True):
    """Content of a message. All but the first four keys are null or empty in a test, and all but
    these, the chain and `feed` in a part of a feed."""

    message_id: str
    """Id of the message, the same however often it is sent."""
    watch_id: int
    """Number of the watch."""
    watch_name: str
    """Name of the watch."""
    missed: int
    """Messages before this one that were dropped, as too many waited for the webhook."""
    chain: str | None
    """Slug of the chain."""
    chain_id: int | None
    """Number of the chain."""
    contract_address: str | None
    """Address of the token, with checksum."""
    name: str | None
    """The token's name, chosen by its creator."""
    symbol: str | None
    """The token's symbol, chosen by its creator."""
    headline: str | None
    """The worst finding on the token now, in one sentence."""
    verdict_before: str | None
    """The last notified verdict. null: there was none."""
    verdict: str | None
    """danger, warning, safe, not_tested, or refused: the address is no token any more."""
    verdict_reasons: tuple[str, ...]
    """Every cause of the verdict that holds, most severe first."""
    block: MessageBlock | None
    """Block of the report. null: a refusal, which belongs to no block."""
    changes: tuple[ToldChange, ...]
    """Changes of the kinds that the watch selects; in a baseline every known value."""
    causes: tuple[SeenCause, ...]
    """Events on the chain since the previous report, newest first, the newest 20."""
    feed: FeedLines | None
    """Part of the feed of the chain. null: the message is about a token, or a test."""


class MessageBody(Shape, frozen=True, kw_only=True):
    """One message of a watch, in the form of the Standard Webhooks specification."""

    type: MessageType
    """token.changed, token.baseline, feed.lines or watch.test."""
    timestamp: str
    """Time when the change was noticed, ISO 8601 UTC; that of the attempt is in the headers."""
    data: MessageData
    """Content of the message."""


class MessageRenderer:
    """Renders messages of the tokens of some chains."""

    def __init__(self, chains: Iterable[Chain]) -> None:
        self._slugs = {chain.id: chain.slug for chain in chains}

    def body(self, message: WatchMessage) -> MessageBody:
        """Build the body of a message."""
        event, feed = message.event, message.feed
        chain_id = message.chain_id if feed is None else feed.chain_id
        chain = None if chain_id is None else self._slugs.get(chain_id)
        return MessageBody(
            type=_TYPES[message.kind],
            timestamp=iso_utc(message.created_at_s),
            data=MessageData(
                message_id=message_id(message.id),
                watch_id=message.watch_id,
                watch_name=message.watch_name,
                missed=message.missed,
                chain=chain,
                chain_id=chain_id,
                contract_address=None if message.address is None else checksum(message.address),
                **_words(event),
                verdict_reasons=event.reasons if event else (),
                block=_block(message),
                changes=_changes(event, message) if event else (),
                causes=tuple(map(show_cause, event.causes)) if event else (),
                feed=None if feed is None else _feed(chain or str(chain_id), feed),
            ),
        )

    def encode(self, message: WatchMessage) -> bytes:
        """Return the body as JSON."""
        return msgspec.json.encode(self.body(message))


def message_id(number: int) -> str:
    """Return the id by which receivers recognise a message."""
    return f"msg_{number}"


_WORDS: Final = ("name", "symbol", "headline", "verdict_before", "verdict")


def _words(event: WatchEvent | None) -> dict[str, str | None]:
    return {word: getattr(event, word, None) for word in _WORDS}


def _changes(event: WatchEvent, message: WatchMessage) -> tuple[ToldChange, ...]:
    selected_kinds = set(message.kinds)
    kinds = ((change, kind_of(change.what)) for change in event.changes)
    return tuple(
        ToldChange(kind=kind, what=change.what, before=change.before, after=change.after)
        for change, kind in kinds
        if kind is not None and kind in selected_kinds
    )


def _feed(chain: str, feed: FeedPart) -> FeedLines:
    return FeedLines(
        after=feed.after,
        cursor=feed.up_to,
        gap=FeedGap(forgotten_up_to=feed.forgotten) if feed.forgotten > feed.after else None,
        lines=tuple(show_line(chain, line) for line in feed.lines),
    )


def _block(message: WatchMessage) -> MessageBlock | None:
    if message.block_number is None or message.block_hash is None or message.block_time_s is None:
        return None
    return MessageBlock(
        number=message.block_number,
        hash=message.block_hash,
        time=iso_utc(message.block_time_s),
    )
