"""Decoder of Swap events of all kinds: logs in, trade columns out.

Kinds share topics, so an event's form only limits the kinds of pool that it may be of; the table of
pools decides.
"""

from collections.abc import Iterable

import msgspec
import numpy as np

from config.pool_families import FAMILIES, PoolSwap
from core.arrays import ByteArray, FloatArray, Int32Array, Int64Array
from core.primitives import BlockRef, Hash32
from indexer.decode.forms import SwapForm, swap_form
from indexer.decode.log_columns import (
    ADDRESS_BYTES,
    NO_TIME,
    WORD_BYTES,
    LogColumns,
    LogGroup,
)
from indexer.decode.words import WordPlace, to_float, to_half_float, to_signed_float


def _forms() -> tuple[SwapForm, ...]:
    """Return every Swap event once, with all kinds of pool that emit it."""
    events: dict[PoolSwap, list[str]] = {}
    for family in FAMILIES:
        for event in family.swap:
            events.setdefault(event, []).append(family.kind)
    return tuple(swap_form(event, tuple(kinds)) for event, kinds in events.items())


SWAP_FORMS = _forms()

SWAP_TOPICS: tuple[Hash32, ...] = tuple(dict.fromkeys(form.topic0 for form in SWAP_FORMS))


class TradeColumns(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Swaps in chain order. Amounts are signed from the pool's side: positive was received."""

    block_number: Int64Array
    log_index: Int32Array
    time_s: Int64Array
    """Time of the block, Unix seconds."""
    form: Int32Array
    """Index into SWAP_FORMS; its `kinds` are those of the pools that it may be of."""
    emitter: ByteArray
    """uint8[n, 20]."""
    pool_id: ByteArray
    """uint8[n, 32]; all zero where the form has no `pool_id`: the emitter is the pool."""
    amount0: FloatArray
    amount1: FloatArray

    def __len__(self) -> int:
        return self.block_number.size


def decode_trades(logs: LogColumns, blocks: Iterable[BlockRef]) -> TradeColumns:
    """Return the swaps in chain order.

    The time is that of the block among these `blocks`, else the log's own; swaps without either,
    and logs of another shape, are left out.
    """
    times = {block.number: block.time_s for block in blocks}
    parts = [_no_trades()]
    for at, form in enumerate(SWAP_FORMS):
        for group in logs.groups:
            if group.shape == form.shape:
                parts.append(_columns(group, form, at, times))
    whole = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name in TradeColumns.__struct_fields__
    }
    kept = np.flatnonzero(whole["time_s"] != NO_TIME)
    order = kept[np.lexsort((whole["log_index"][kept], whole["block_number"][kept]))]
    return TradeColumns(**{name: column[order] for name, column in whole.items()})


def _no_trades() -> TradeColumns:
    return TradeColumns(
        block_number=np.empty(0, np.int64),
        log_index=np.empty(0, np.int32),
        time_s=np.empty(0, np.int64),
        form=np.empty(0, np.int32),
        emitter=np.empty((0, ADDRESS_BYTES), np.uint8),
        pool_id=np.empty((0, WORD_BYTES), np.uint8),
        amount0=np.empty(0),
        amount1=np.empty(0),
    )


def _columns(group: LogGroup, form: SwapForm, at: int, times: dict[int, int]) -> TradeColumns:
    count = len(group)
    amount0, amount1 = (_amount(group, form, side) for side in range(2))
    return TradeColumns(
        block_number=group.block_number,
        log_index=group.log_index,
        time_s=_own_times(group, times),
        form=np.full(count, at, np.int32),
        emitter=group.address,
        pool_id=np.zeros((count, WORD_BYTES), np.uint8)
        if form.pool_id is None
        else form.pool_id.of(group),
        amount0=amount0,
        amount1=amount1,
    )


def _own_times(group: LogGroup, times: dict[int, int]) -> Int64Array:
    if not times:
        return group.time_s
    known = np.array(sorted(times), np.int64)
    values = np.array([times[number] for number in known.tolist()], np.int64)
    at = np.minimum(np.searchsorted(known, group.block_number), known.size - 1)
    return np.where(known[at] == group.block_number, values[at], group.time_s)


def _amount(group: LogGroup, form: SwapForm, side: int) -> FloatArray:
    """Return the amount of token0 or token1, positive where the pool received it."""
    if form.kept is not None and form.paid_out is not None:
        received = _half(group, form.paid_in[side]) + _half(group, form.kept[side])
        return received - _half(group, form.paid_out[side])
    paid_in = form.paid_in[side].of(group)
    if form.paid_out is not None:
        return to_float(paid_in) - to_float(form.paid_out[side].of(group))
    received = to_signed_float(paid_in)
    return -received if form.is_negated else received


def _half(group: LogGroup, place: WordPlace) -> FloatArray:
    return to_half_float(place.of(group), low_bit=place.low_bit)
