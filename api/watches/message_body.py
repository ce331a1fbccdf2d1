"""Messages of watches as they are sent: the same body by webhook, event stream and MCP. Pure."""

from collections.abc import Iterable
from typing import Final, Literal

import msgspec

from api.formats.shape_building import Shape
from api.formats.times import iso_utc
from config.facts.chain import Chain
from core.evm.primitives import Hash32, checksum
from core.report.notifications import BASELINE, ChangeCause, WatchEvent, kind_of
from sql.watches.watch_messages import WatchMessage

MessageType = Literal["token.changed", "token.baseline", "watch.test"]

_TYPES: dict[str, MessageType] = {
    "change": "token.changed",
    BASELINE: "token.baseline",
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


class SeenCause(Shape, frozen=True, kw_only=True):
    """One event on the chain about the token between two reports. It preceded the change and is a
    likely cause, not a proved one."""

    kind: str
    """call, owner_call, parameter_event, ownership_event, pool_created, liquidity, state,
    failed_trade, other_tax, deadline or gap."""
    block_number: int
    """Block in which it was seen."""
    tx_hash: Hash32 | None
    """Its transaction. null: no single one is known."""
    sender: str | None
    """Account that signed the transaction, with checksum. null: not known."""
    what: str
    """A function, an event, a storage slot or a pool, by kind."""
    detail: str | None
    """Values before and after, arguments, or a reason. null: there is no detail."""


class MessageBlock(Shape, frozen=True, kw_only=True):
    """Block of a report."""

    number: int
    """Its number."""
    hash: Hash32
    """Its hash. If another block of this number replaces it, another message follows."""
    time: str
    """Its timestamp, ISO 8601 UTC."""


class MessageData(Shape, frozen=True, kw_only=True):
    """Content of a message. All but the first four keys are null or empty in a test."""

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


class MessageBody(Shape, frozen=True, kw_only=True):
    """One message of a watch, in the form of the Standard Webhooks specification."""

    type: MessageType
    """token.changed, token.baseline or watch.test."""
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
        event = message.event
        return MessageBody(
            type=_TYPES[message.kind],
            timestamp=iso_utc(message.created_at_s),
            data=MessageData(
                message_id=message_id(message.id),
                watch_id=message.watch_id,
                watch_name=message.watch_name,
                missed=message.missed,
                chain=None if message.chain_id is None else self._slugs.get(message.chain_id),
                chain_id=message.chain_id,
                contract_address=None if message.address is None else checksum(message.address),
                **_words(event),
                verdict_reasons=event.reasons if event else (),
                block=_block(message),
                changes=_changes(event, message) if event else (),
                causes=tuple(map(show_cause, event.causes)) if event else (),
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


def show_cause(cause: ChangeCause) -> SeenCause:
    """Render an observation that preceded a change."""
    return SeenCause(
        kind=cause.kind,
        block_number=cause.block_number,
        tx_hash=cause.tx_hash,
        sender=None if cause.sender is None else checksum(cause.sender),
        what=cause.what,
        detail=cause.detail,
    )


def _block(message: WatchMessage) -> MessageBlock | None:
    if message.block_number is None or message.block_hash is None or message.block_time_s is None:
        return None
    return MessageBlock(
        number=message.block_number,
        hash=message.block_hash,
        time=iso_utc(message.block_time_s),
    )
