"""Logs grouped by transaction, limited to swaps of given pools and moves of given tokens. Pure."""

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator

import msgspec
import numpy as np

from core.evm.primitives import BlockRef
from indexer.decode.hex_columns import keys_of
from indexer.decode.log_columns import ADDRESS_BYTES, HASH_BYTES, NO_HASH, LogColumns, LogGroup
from indexer.decode.swap_events import SWAP_FORMS, decode_trades
from indexer.decode.transfer_events import PLAIN_TRANSFER
from indexer.decode.words import WordPlace

_HEAD = 8
"""Bytes of a hash that are compared first."""
_NO_ID = bytes(HASH_BYTES)
_FORMS = {form.shape: form for form in SWAP_FORMS}


class TokenMove(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One Transfer event of the token. Addresses are 20 bytes."""

    log_index: int
    sender: bytes
    recipient: bytes
    amount_raw: int


class PoolSwapEvent(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One Swap event. Addresses are 20 bytes."""

    pool: bytes
    """Key of the pool: its address, or its id of 32 bytes."""
    recipient: bytes | None
    """Recipient of the output, as requested of the pool. None: not in the event."""
    payer: bytes | None
    """Caller of the pool, which paid. None: not in the event."""
    amounts: tuple[float, float]
    """Amounts of token0 and token1 that the pool received; negative if paid out."""


class SwapTransaction(msgspec.Struct):
    """Relevant logs of one transaction. Addresses are 20 bytes."""

    block_number: int
    swapped: set[bytes]
    """Contracts that emitted a Swap event in the transaction, pools of other tokens included."""
    entries: set[bytes]
    """Ids of all pools that swapped in it and are entries of a shared contract."""
    swaps: dict[int, PoolSwapEvent]
    """Swaps of the given pools, by log index."""
    moves: dict[bytes, list[TokenMove]]
    """Moves of the given tokens, by token."""


class PoolAmounts(msgspec.Struct, frozen=True, gc=False):
    """Decoded amounts of one swap."""

    pool: bytes
    """Key of the pool."""
    amounts: tuple[float, float]


SwapsByPlace = dict[tuple[int, int], PoolAmounts]
"""Decoded swaps by block and log index."""


def swaps_by_place(logs: LogColumns, blocks: Iterable[BlockRef]) -> SwapsByPlace:
    """Return pool and amounts of each swap."""
    trades = decode_trades(logs, blocks)
    keys = (
        emitter if pool_id == _NO_ID else pool_id
        for pool_id, emitter in zip(keys_of(trades.pool_id), keys_of(trades.emitter), strict=True)
    )
    rows = zip(
        trades.block_number.tolist(),
        trades.log_index.tolist(),
        keys,
        trades.amount0.tolist(),
        trades.amount1.tolist(),
        strict=True,
    )
    return {
        (block_number, log_index): PoolAmounts(key, (amount0, amount1))
        for block_number, log_index, key, amount0, amount1 in rows
    }


def find_swaps(
    logs: LogColumns, swaps: SwapsByPlace, pools: Container[bytes]
) -> dict[bytes, SwapTransaction]:
    """Return the transactions with a swap in one of these pools, by hash, without moves."""
    found: dict[bytes, SwapTransaction] = {}
    swapped: dict[bytes, set[bytes]] = defaultdict(set)
    entries: dict[bytes, set[bytes]] = defaultdict(set)
    for group in logs.groups:
        for row, tx_hash, emitter in _swap_rows(group):
            swapped[tx_hash].add(emitter)
            place = int(group.block_number[row]), int(group.log_index[row])
            one = swaps.get(place)
            if one is None:
                continue
            if not one.pool.startswith(emitter):
                entries[tx_hash].add(one.pool)
            if one.pool in pools:
                transaction = found.setdefault(
                    tx_hash,
                    SwapTransaction(place[0], swapped[tx_hash], entries[tx_hash], {}, {}),
                )
                transaction.swaps[place[1]] = _event(group, row, one)
    found.pop(NO_HASH, None)  # the node did not send the hash with the log
    return found


def add_moves(
    logs: LogColumns, tokens: Container[bytes], transactions: dict[bytes, SwapTransaction]
) -> None:
    """Add the moves of these tokens to the transactions."""
    wanted = np.array([int.from_bytes(tx_hash[:_HEAD]) for tx_hash in transactions], np.uint64)
    for group in logs.groups:
        if group.shape != PLAIN_TRANSFER:
            continue
        # Most transfers of a large span are in other transactions.
        heads = np.ascontiguousarray(group.tx_hash[:, :_HEAD]).view(">u8").ravel()
        at = np.flatnonzero(np.isin(heads, wanted))
        rows = zip(at.tolist(), keys_of(group.tx_hash[at]), keys_of(group.address[at]), strict=True)
        for row, tx_hash, token in rows:
            if token in tokens and tx_hash in transactions:
                sender, recipient = group.topics[row, :, HASH_BYTES - ADDRESS_BYTES :]
                move = TokenMove(
                    log_index=int(group.log_index[row]),
                    sender=sender.tobytes(),
                    recipient=recipient.tobytes(),
                    amount_raw=int.from_bytes(group.data[row].tobytes()),
                )
                transactions[tx_hash].moves.setdefault(token, []).append(move)


def _swap_rows(group: LogGroup) -> Iterator[tuple[int, bytes, bytes]]:
    """Yield row, transaction and emitter of the Swap events in a group."""
    if group.shape in _FORMS:
        rows = zip(keys_of(group.tx_hash), keys_of(group.address), strict=True)
        for row, (tx_hash, emitter) in enumerate(rows):
            yield row, tx_hash, emitter


def _event(group: LogGroup, row: int, one: PoolAmounts) -> PoolSwapEvent:
    form = _FORMS[group.shape]
    return PoolSwapEvent(
        pool=one.pool,
        recipient=_address(group, row, form.recipient),
        payer=_address(group, row, form.payer),
        amounts=one.amounts,
    )


def _address(group: LogGroup, row: int, place: WordPlace | None) -> bytes | None:
    return None if place is None else place.of(group)[row].tobytes()[HASH_BYTES - ADDRESS_BYTES :]
