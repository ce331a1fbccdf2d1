"""Decoder of Swap events of all kinds: logs in, trade columns out.

Kinds share topics, so an event's form only limits the possible kinds of pool; the table of pools
decides.
"""

from collections.abc import Iterable

import msgspec
import numpy as np

from config.facts.pool_family import FAMILIES, PoolSwap
from core.evm.coin_pairs import FIRST_PAIR, LOWER_BYTE, UPPER_BYTE, token_pair_id
from core.evm.primitives import BlockRef, Hash32
from core.process.arrays import ByteArray, FloatArray, Int32Array, Int64Array
from indexer.decode.forms import CoinPlaces, SwapForm, swap_form
from indexer.decode.hex_columns import keys_of
from indexer.decode.log_columns import (
    ADDRESS_BYTES,
    HASH_BYTES,
    NO_TIME,
    WORD_BYTES,
    LogColumns,
    LogGroup,
)
from indexer.decode.words import (
    WordPlace,
    is_byte,
    to_address,
    to_float,
    to_half_float,
    to_signed_float,
    to_small,
)


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
    """Swaps in chain order. Amounts are signed from the pool's side: positive amounts were
    received."""

    block_number: Int64Array
    log_index: Int32Array
    time_s: Int64Array
    """Time of the block, Unix seconds."""
    form: Int32Array
    """Index into SWAP_FORMS; its `kinds` are the possible kinds of the pool."""
    emitter: ByteArray
    """uint8[n, 20]."""
    pool_id: ByteArray
    """uint8[n, 32]; all zero where the emitter is the pool. For coins after the first two, the id
    of the pair; all ones where there are no such coins."""
    amount0: FloatArray
    amount1: FloatArray
    tx_hash: ByteArray
    """uint8[n, 32]; all zero where the node sent none."""

    def __len__(self) -> int:
        return self.block_number.size


def decode_trades(logs: LogColumns, blocks: Iterable[BlockRef]) -> TradeColumns:
    """Return the swaps in chain order.

    The time is the block's where it is among `blocks`, else the log's; swaps without either, and
    logs of another shape, are left out.
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
        tx_hash=np.empty((0, HASH_BYTES), np.uint8),
    )


def _columns(group: LogGroup, form: SwapForm, at: int, times: dict[int, int]) -> TradeColumns:
    count = len(group)
    if form.coins is None:
        amount0, amount1 = (_amount(group, form, side) for side in range(2))
        pool_id = _no_ids(count) if form.pool_id is None else form.pool_id.of(group)
    elif form.pool_id is not None:
        amount0, amount1 = _token_amounts(group, form.coins)
        pool_id = _token_ids(group, form.pool_id.of(group), form.coins)
    elif form.vault_pool is not None:
        amount0, amount1 = _token_amounts(group, form.coins)
        pool_id = _token_ids(group, to_address(form.vault_pool.of(group)), form.coins)
    elif form.is_by_token:
        amount0, amount1 = _token_amounts(group, form.coins)
        pool_id = _no_ids(count)
    else:
        amount0, amount1 = _coin_amounts(group, form.coins)
        pool_id = _coin_ids(group, form.coins)
    return TradeColumns(
        block_number=group.block_number,
        log_index=group.log_index,
        time_s=_own_times(group, times),
        form=np.full(count, at, np.int32),
        emitter=group.address,
        pool_id=pool_id,
        amount0=amount0,
        amount1=amount1,
        tx_hash=group.tx_hash,
    )


def _own_times(group: LogGroup, times: dict[int, int]) -> Int64Array:
    if not times:
        return group.time_s
    known = np.array(sorted(times), np.int64)
    values = np.array([times[number] for number in known.tolist()], np.int64)
    at = np.minimum(np.searchsorted(known, group.block_number), known.size - 1)
    return np.where(known[at] == group.block_number, values[at], group.time_s)


def _no_ids(count: int) -> ByteArray:
    return np.zeros((count, WORD_BYTES), np.uint8)


def _coin_amounts(group: LogGroup, coins: CoinPlaces) -> tuple[FloatArray, FloatArray]:
    """Return the amounts of the two coins, lower coin number first."""
    received, sent = to_float(coins.amount_in.of(group)), to_float(coins.amount_out.of(group))
    is_first = to_small(coins.coin_in.of(group)) < to_small(coins.coin_out.of(group))
    return np.where(is_first, received, -sent), np.where(is_first, -sent, received)


def _coin_ids(group: LogGroup, coins: CoinPlaces) -> ByteArray:
    """Return the ids of the pairs, see `core.evm.coin_pairs`."""
    words = coins.coin_in.of(group), coins.coin_out.of(group)
    numbers = np.sort(np.stack([to_small(one) for one in words]), axis=0)
    lower, upper = numbers
    ids = _no_ids(len(group))
    ids[:, :ADDRESS_BYTES] = group.address
    ids[:, LOWER_BYTE], ids[:, UPPER_BYTE] = lower, upper
    ids[(lower == FIRST_PAIR[0]) & (upper == FIRST_PAIR[1])] = 0
    is_pair = is_byte(words[0]) & is_byte(words[1]) & (lower < upper)
    ids[~is_pair] = 0xFF
    return ids


def _token_amounts(group: LogGroup, coins: CoinPlaces) -> tuple[FloatArray, FloatArray]:
    """Return the amounts of the two tokens, lower address first."""
    received, sent = to_float(coins.amount_in.of(group)), to_float(coins.amount_out.of(group))
    paid, bought = (keys_of(one.of(group)) for one in (coins.coin_in, coins.coin_out))
    is_first = np.array([one < other for one, other in zip(paid, bought, strict=True)], np.bool_)
    return np.where(is_first, received, -sent), np.where(is_first, -sent, received)


def _token_ids(group: LogGroup, pools: ByteArray, coins: CoinPlaces) -> ByteArray:
    """Return the ids of the pairs, see `core.evm.coin_pairs`. `pools`: ids in the vault."""
    tokens = (keys_of(to_address(one.of(group))) for one in (coins.coin_in, coins.coin_out))
    rows = zip(keys_of(pools), *tokens, strict=True)
    ids = b"".join(token_pair_id(*row) for row in rows)
    return np.frombuffer(ids, np.uint8).reshape(-1, WORD_BYTES)


def _amount(group: LogGroup, form: SwapForm, side: int) -> FloatArray:
    """Return the amount of token0 or token1, positive where the pool received it."""
    if form.paid_in is None:
        message = "the event tells amounts by coins"
        raise TypeError(message)
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
