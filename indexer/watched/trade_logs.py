"""Trades of watched tokens whose tax differs from the prediction, from the logs of blocks. Pure."""

from collections.abc import Iterable, Iterator

import msgspec

from core.evm.primitives import BlockRef, Hash32
from indexer.decode.log_columns import LogColumns
from indexer.decode.swap_transactions import (
    SwapTransaction,
    add_moves,
    find_swaps,
    swaps_by_place,
)
from indexer.watched.real_trades import (
    Prediction,
    RealTrade,
    differs,
    find_trades,
)
from indexer.watched.seen import Seen
from indexer.watched.token_swaps import pool_key, token_logs
from indexer.watched.watched_set import WatchedSet
from sql.engine.columns import blob
from sql.tokens.watched_tokens import WatchedPool, WatchedToken


def find_other_taxes(
    logs: LogColumns, blocks: Iterable[BlockRef], watched: WatchedSet
) -> Iterator[Seen]:
    """Yield trades in blocks after a token's report that contradict its prediction."""
    if not watched.pools:
        return
    transactions = find_swaps(logs, swaps_by_place(logs, blocks), watched.pools)
    if not transactions:
        return
    quotes = {blob(pool.quote) for pools in watched.pools.values() for pool in pools}
    add_moves(logs, watched.tokens.keys() | quotes, transactions)
    for tx_hash, one in transactions.items():
        yield from _compare(tx_hash, one, watched)


def _compare(tx_hash: bytes, one: SwapTransaction, watched: WatchedSet) -> Iterator[Seen]:
    for address in one.moves:
        token = watched.tokens.get(address)  # None: the other side of a pool
        if token is None or token.report_block is None or one.block_number <= token.report_block:
            continue
        pools = {
            pool_key(pool): pool
            for event in one.swaps.values()
            for pool in watched.pools[event.pool]
            if pool.token_id == token.token_id
        }
        for trade in find_trades(token_logs(one, address, pools, watched.facts)):
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
        block_number=0,
        token_id=token.token_id,
        kind="other_tax",
        what=pool.pool_id or pool.pool,
        detail=difference,
    )
