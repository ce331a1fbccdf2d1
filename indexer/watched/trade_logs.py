"""Trades of watched tokens in the logs of blocks that paid another tax than predicted. Pure."""

from collections.abc import Iterable, Iterator

import msgspec

from core.primitives import BlockRef, Hash32
from indexer.decode.log_columns import LogColumns
from indexer.decode.swap_transactions import (
    SwapAmounts,
    SwapTransaction,
    add_moves,
    find_amounts,
    find_swaps,
)
from indexer.watched.real_trades import (
    Prediction,
    RealTrade,
    TokenLogs,
    differs,
    find_trades,
    swaps_of_token,
)
from indexer.watched.seen import Seen
from indexer.watched.watched_set import WatchedSet
from sql.watched_tokens import WatchedPool, WatchedToken


def find_other_taxes(
    logs: LogColumns, blocks: Iterable[BlockRef], watched: WatchedSet
) -> Iterator[Seen]:
    """Yield trades in blocks after a token's report that it did not predict so."""
    transactions = find_swaps(logs, watched.pools)
    if not transactions:
        return
    add_moves(logs, watched.tokens, transactions)
    amounts = find_amounts(logs, blocks)
    for tx_hash, one in transactions.items():
        yield from _compare(tx_hash, one, amounts, watched)


def _compare(
    tx_hash: bytes,
    one: SwapTransaction,
    amounts: SwapAmounts,
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
            swaps=[*swaps_of_token(one, address, pools, amounts)],
            swapped=frozenset(one.swapped),
        )
        for trade in find_trades(told):
            seen = _seen(token, pools[trade.pool], trade)
            if seen is not None:
                yield msgspec.structs.replace(
                    seen, block_number=one.block_number, tx_hash=Hash32("0x" + tx_hash.hex())
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
