"""Trades of watched tokens in the logs of blocks that paid another tax than predicted. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

import msgspec

from core.primitives import BlockRef, Hash32
from indexer.decode.hex_columns import keys_of
from indexer.decode.log_columns import ADDRESS_BYTES, HASH_BYTES, LogColumns
from indexer.decode.swap_events import SWAP_FORMS, decode_trades
from indexer.decode.transfer_events import PLAIN_TRANSFER
from indexer.watched.real_trades import (
    Prediction,
    RealTrade,
    TokenLogs,
    TokenMove,
    TokenSwap,
    differs,
    find_trades,
)
from indexer.watched.seen import Seen
from indexer.watched.watched_set import WatchedSet
from sql.columns import blob
from sql.watched_tokens import WatchedPool, WatchedToken

_OWN_POOL_SHAPES = {form.shape for form in SWAP_FORMS if form.pool_id is None}
_RECIPIENT = 1
"""Place of the recipient among the topics after topic 0, in all Swap events of pools that are
contracts of their own."""
_ARGUMENTS = 2


class _Transaction(msgspec.Struct):
    """The logs of one transaction as far as they matter."""

    block_number: int
    swapped: set[bytes]
    swaps: dict[int, tuple[bytes, bytes]]
    """Pool and recipient, by log index; of watched tokens' pools alone."""
    moves: dict[bytes, list[TokenMove]]
    """By token."""


def find_other_taxes(
    logs: LogColumns, blocks: Iterable[BlockRef], watched: WatchedSet
) -> Iterator[Seen]:
    """Yield trades in blocks after a token's report that it did not predict so."""
    transactions = _with_swaps(logs, watched)
    if not transactions:
        return
    _add_moves(logs, watched, transactions)
    trades = decode_trades(logs, blocks)
    amounts = {
        (block_number, log_index): (amount0, amount1)
        for block_number, log_index, amount0, amount1 in zip(
            trades.block_number.tolist(),
            trades.log_index.tolist(),
            trades.amount0.tolist(),
            trades.amount1.tolist(),
            strict=True,
        )
    }
    for tx_hash, one in transactions.items():
        yield from _compare(tx_hash, one, amounts, watched)


def _with_swaps(logs: LogColumns, watched: WatchedSet) -> dict[bytes, _Transaction]:
    """Return the transactions with a swap in a pool of a watched token, by hash."""
    found: dict[bytes, _Transaction] = {}
    swapped: dict[bytes, set[bytes]] = defaultdict(set)
    for group in logs.groups:
        if group.shape not in _OWN_POOL_SHAPES:
            continue
        hashes = keys_of(group.tx_hash)
        for row, (tx_hash, pool) in enumerate(zip(hashes, keys_of(group.address), strict=True)):
            swapped[tx_hash].add(pool)
            if pool not in watched.pools or group.topics.shape[1] != _ARGUMENTS:
                continue
            one = found.setdefault(
                tx_hash, _Transaction(int(group.block_number[row]), swapped[tx_hash], {}, {})
            )
            recipient = group.topics[row, _RECIPIENT, HASH_BYTES - ADDRESS_BYTES :].tobytes()
            one.swaps[int(group.log_index[row])] = pool, recipient
    found.pop(bytes(HASH_BYTES), None)  # the node did not send the hash with the log
    return found


def _add_moves(
    logs: LogColumns, watched: WatchedSet, transactions: dict[bytes, _Transaction]
) -> None:
    for group in logs.groups:
        if group.shape != PLAIN_TRANSFER:
            continue
        rows = zip(keys_of(group.tx_hash), keys_of(group.address), strict=True)
        for row, (tx_hash, token) in enumerate(rows):
            if token in watched.tokens and tx_hash in transactions:
                sender, recipient = group.topics[row, :, HASH_BYTES - ADDRESS_BYTES :]
                move = TokenMove(
                    log_index=int(group.log_index[row]),
                    sender=sender.tobytes(),
                    recipient=recipient.tobytes(),
                    amount_raw=int.from_bytes(group.data[row].tobytes()),
                )
                transactions[tx_hash].moves.setdefault(token, []).append(move)


def _compare(
    tx_hash: bytes,
    one: _Transaction,
    amounts: dict[tuple[int, int], tuple[float, float]],
    watched: WatchedSet,
) -> Iterator[Seen]:
    for address, moves in one.moves.items():
        token = watched.tokens[address]
        if token.report_block is None or one.block_number <= token.report_block:
            continue
        pools = {
            key: pool
            for key, _ in one.swaps.values()
            for pool in watched.pools[key]
            if pool.token_id == token.token_id
        }
        told = TokenLogs(
            token=address,
            moves=sorted(moves, key=lambda move: move.log_index),
            swaps=[*_swaps(one, address, pools, amounts)],
            swapped=frozenset(one.swapped),
        )
        for trade in find_trades(told):
            seen = _seen(token, pools[trade.pool], trade)
            if seen is not None:
                yield msgspec.structs.replace(
                    seen, block_number=one.block_number, tx_hash=Hash32("0x" + tx_hash.hex())
                )


def _swaps(
    one: _Transaction,
    token: bytes,
    pools: dict[bytes, WatchedPool],
    amounts: dict[tuple[int, int], tuple[float, float]],
) -> Iterator[TokenSwap]:
    for log_index, (pool, recipient) in sorted(one.swaps.items()):
        known = amounts.get((one.block_number, log_index))
        if pool in pools and known is not None:
            side = 0 if token < blob(pools[pool].quote) else 1  # pools sort their tokens
            yield TokenSwap(
                log_index=log_index, pool=pool, recipient=recipient, token_in=known[side]
            )


def _seen(token: WatchedToken, pool: WatchedPool, trade: RealTrade) -> Seen | None:
    is_buy = trade.side == "buy"
    predicted = Prediction(
        outcome=pool.buy if is_buy else pool.sell,
        tax_pct=pool.buy_tax if is_buy else pool.sell_tax,
    )
    difference = differs(trade, predicted)
    if difference is None:
        return None
    return Seen(
        block_number=0, token_id=token.token_id, kind="other_tax", what=pool.pool, detail=difference
    )
