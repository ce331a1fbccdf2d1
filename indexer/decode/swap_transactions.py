"""Logs of blocks by transaction, as far as swaps of given pools and moves of tokens go. Pure."""

from collections import defaultdict
from collections.abc import Container, Iterable

import msgspec

from core.primitives import BlockRef
from indexer.decode.hex_columns import keys_of
from indexer.decode.log_columns import ADDRESS_BYTES, HASH_BYTES, LogColumns
from indexer.decode.swap_events import SWAP_FORMS, decode_trades
from indexer.decode.transfer_events import PLAIN_TRANSFER

_OWN_POOL_SHAPES = {form.shape for form in SWAP_FORMS if form.pool_id is None}
_RECIPIENT = 1
"""Place of the recipient among the topics after topic 0, in all Swap events of pools that are
contracts of their own."""
_ARGUMENTS = 2


class TokenMove(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One Transfer event of the token. Addresses are 20 bytes."""

    log_index: int
    sender: bytes
    recipient: bytes
    amount_raw: int


class SwapTransaction(msgspec.Struct):
    """The logs of one transaction as far as they matter. Addresses are 20 bytes."""

    block_number: int
    swapped: set[bytes]
    """All contracts that emitted a Swap event in it, pools of other tokens included."""
    swaps: dict[int, tuple[bytes, bytes]]
    """Pool and recipient, by log index; of the given pools alone."""
    moves: dict[bytes, list[TokenMove]]
    """By token, of the given tokens alone."""


SwapAmounts = dict[tuple[int, int], tuple[float, float]]
"""What a pool received of token0 and token1, below 0 what it paid out, by block and log index."""


def find_swaps(logs: LogColumns, pools: Container[bytes]) -> dict[bytes, SwapTransaction]:
    """Return the transactions with a swap in one of these pools, by hash, without moves."""
    found: dict[bytes, SwapTransaction] = {}
    swapped: dict[bytes, set[bytes]] = defaultdict(set)
    for group in logs.groups:
        if group.shape not in _OWN_POOL_SHAPES:
            continue
        hashes = keys_of(group.tx_hash)
        for row, (tx_hash, pool) in enumerate(zip(hashes, keys_of(group.address), strict=True)):
            swapped[tx_hash].add(pool)
            if pool not in pools or group.topics.shape[1] != _ARGUMENTS:
                continue
            one = found.setdefault(
                tx_hash, SwapTransaction(int(group.block_number[row]), swapped[tx_hash], {}, {})
            )
            recipient = group.topics[row, _RECIPIENT, HASH_BYTES - ADDRESS_BYTES :].tobytes()
            one.swaps[int(group.log_index[row])] = pool, recipient
    found.pop(bytes(HASH_BYTES), None)  # the node did not send the hash with the log
    return found


def add_moves(
    logs: LogColumns, tokens: Container[bytes], transactions: dict[bytes, SwapTransaction]
) -> None:
    """Add the moves of these tokens to the transactions."""
    for group in logs.groups:
        if group.shape != PLAIN_TRANSFER:
            continue
        rows = zip(keys_of(group.tx_hash), keys_of(group.address), strict=True)
        for row, (tx_hash, token) in enumerate(rows):
            if token in tokens and tx_hash in transactions:
                sender, recipient = group.topics[row, :, HASH_BYTES - ADDRESS_BYTES :]
                move = TokenMove(
                    log_index=int(group.log_index[row]),
                    sender=sender.tobytes(),
                    recipient=recipient.tobytes(),
                    amount_raw=int.from_bytes(group.data[row].tobytes()),
                )
                transactions[tx_hash].moves.setdefault(token, []).append(move)


def find_amounts(logs: LogColumns, blocks: Iterable[BlockRef]) -> SwapAmounts:
    """Return what each swap moved."""
    trades = decode_trades(logs, blocks)
    return {
        (block_number, log_index): (amount0, amount1)
        for block_number, log_index, amount0, amount1 in zip(
            trades.block_number.tolist(),
            trades.log_index.tolist(),
            trades.amount0.tolist(),
            trades.amount1.tolist(),
            strict=True,
        )
    }


def pools_in(logs: LogColumns) -> set[bytes]:
    """Return the contracts that emitted a Swap event, manager contracts of pools left out."""
    return {
        pool
        for group in logs.groups
        if group.shape in _OWN_POOL_SHAPES
        for pool in keys_of(group.address)
    }
