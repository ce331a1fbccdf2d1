"""Decoder of events that name possible holders of liquidity: logs in, rows out.

Kinds share topics, and tokens share theirs with pairs, so only emitters that may be pools are
taken; the table of pools decides.
"""

from collections.abc import Callable, Iterator

import msgspec
import numpy as np

from config.facts.pool_family import FAMILIES, LiquidityEvent
from core.evm.event_signatures import EventForm
from core.evm.primitives import Address, Hash32, HexBytes
from core.process.arrays import BoolArray, ByteArray
from indexer.decode.hex_columns import encode_hex
from indexer.decode.log_columns import WORD_BYTES, LogColumns, LogGroup, LogShape
from sql.engine.table_rows import LiquidityLogRow


class LiquidityEventForm(msgspec.Struct, frozen=True, kw_only=True):
    """One event, and the kinds of pool that emit it."""

    event: EventForm
    kinds: tuple[str, ...]

    @property
    def names_pool(self) -> bool:
        """True if topic 1 is the id of the pool; else the emitter is the pool."""
        return "pool_id" in self.event.places

    def fits(self, shape: LogShape) -> bool:
        """Return whether logs of this shape can be of the event."""
        words, rest = divmod(shape.data_size, WORD_BYTES)
        has_words = words >= self.event.words if self.event.is_open else words == self.event.words
        return shape.topics == self.event.topics and has_words and not rest


def _forms() -> tuple[LiquidityEventForm, ...]:
    """Return every event once, with all kinds of pool that emit it."""
    events: dict[LiquidityEvent, list[str]] = {}
    for family in FAMILIES:
        for event in family.liquidity:
            events.setdefault(event, []).append(family.kind)
    return tuple(
        LiquidityEventForm(event=event.form, kinds=tuple(kinds)) for event, kinds in events.items()
    )


LIQUIDITY_FORMS = _forms()

LIQUIDITY_TOPICS: tuple[Hash32, ...] = tuple(form.event.topic0 for form in LIQUIDITY_FORMS)


def decode_liquidity(
    logs: LogColumns, may_be_pool: Callable[[ByteArray], BoolArray]
) -> list[LiquidityLogRow]:
    """Return the events of pools.

    `may_be_pool` filters emitters, uint8[n, 20]; it may have false positives.
    """
    return [
        row
        for form in LIQUIDITY_FORMS
        for group in logs.with_topics([bytes.fromhex(form.event.topic0[2:])])
        if form.fits(group.shape)
        for row in _rows(group, form, may_be_pool)
    ]


def _rows(
    group: LogGroup, form: LiquidityEventForm, may_be_pool: Callable[[ByteArray], BoolArray]
) -> Iterator[LiquidityLogRow]:
    if not form.names_pool:
        group = group.take(np.flatnonzero(may_be_pool(group.address)))
    emitters = encode_hex(group.address)
    keys = encode_hex(group.topics[:, 0]) if form.names_pool else emitters
    for at, (emitter, key) in enumerate(zip(emitters, keys, strict=True)):
        yield LiquidityLogRow(
            block_number=int(group.block_number[at]),
            log_index=int(group.log_index[at]),
            emitter=Address(emitter),
            pool_key=HexBytes(key),
            kinds=form.kinds,
            topics=group.shape.topic0 + group.topics[at].tobytes(),
            data=group.data[at].tobytes(),
        )
