"""Trades of tokens with their traders, from the logs of a span. Pure.

A trader is named only where the logs allow one reading, as `indexer/watched/real_trades.py` has it.
Sales of the token itself, as of its fees, are left out.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from core.evm.primitives import Address, Hash32
from indexer.decode.log_columns import LogColumns
from indexer.decode.swap_transactions import (
    PoolAmounts,
    SwapsByPlace,
    SwapTransaction,
    add_moves,
    find_swaps,
)
from indexer.watched.real_trades import read_swaps
from indexer.watched.token_swaps import TradeFacts, token_logs
from sql.chain.pool_tables import PoolFacts
from sql.chain.trade_tables import KnownSwap
from sql.engine.columns import blob
from sql.engine.table_rows import SwapRow

_ADDRESS_CHARS = 42


class TokenTrade(NamedTuple):
    """One trade of a token in a pool with an anchor."""

    block_number: int
    log_index: int
    time_s: int
    token: bytes
    """20 bytes."""
    is_sale: bool
    trader: bytes | None
    """20 bytes. None: the logs name none, or several."""
    tx_hash: bytes
    """32 bytes."""
    amount: float
    """Smallest units of the token that the pool received or paid out."""


class _TokenPool(NamedTuple):
    """A stored pool, from the side of its token."""

    pool: Address
    pool_id: Hash32 | None
    kind: str
    dex: str
    quote: Address
    token0: Address | None
    hooks: Address | None
    """Left out: hooks change amounts, which are not read here."""


def find_token_trades(
    logs: LogColumns,
    swaps: Iterable[SwapRow],
    known: Sequence[KnownSwap],
    *,
    anchors: Collection[Address],
    facts: TradeFacts,
) -> list[TokenTrade]:
    """Return the trades in `known`. `swaps`: all swaps of the span, `logs` their logs and the
    transfers."""
    if not known:
        return []
    stored = {blob(pool.pool_key): pool for _, pool in known}
    tokens = {key: _token_of(pool, anchors) for key, pool in stored.items()}
    pools = {key: _side(pool, anchors) for key, pool in stored.items()}
    times = {(swap.block_number, swap.log_index): swap.time_s for swap, _ in known}
    transactions = find_swaps(logs, _by_place(swaps), pools)
    add_moves(
        logs, {*tokens.values(), *(blob(pool.quote) for pool in pools.values())}, transactions
    )
    return [
        trade
        for tx_hash, transaction in transactions.items()
        for trade in _trades(tx_hash, transaction, tokens, pools, times, facts)
    ]


def _trades(
    tx_hash: bytes,
    transaction: SwapTransaction,
    tokens: Mapping[bytes, bytes],
    pools: Mapping[bytes, _TokenPool],
    times: Mapping[tuple[int, int], int],
    facts: TradeFacts,
) -> Iterable[TokenTrade]:
    of_token: defaultdict[bytes, dict[bytes, _TokenPool]] = defaultdict(dict)
    for event in transaction.swaps.values():
        of_token[tokens[event.pool]][event.pool] = pools[event.pool]
    for token, own in of_token.items():
        for reading in read_swaps(token_logs(transaction, token, own, facts)):
            place = transaction.block_number, reading.swap.log_index
            if place in times and not reading.is_own:
                trader = None if reading.trade is None else reading.trade.trader
                is_sale = reading.side == "sell"
                amount = abs(reading.swap.token_in)
                yield TokenTrade(*place, times[place], token, is_sale, trader, tx_hash, amount)


def _by_place(swaps: Iterable[SwapRow]) -> SwapsByPlace:
    return {
        (swap.block_number, swap.log_index): PoolAmounts(
            blob(swap.pool_key), (swap.amount0, swap.amount1)
        )
        for swap in swaps
    }


def _token_of(pool: PoolFacts, anchors: Collection[Address]) -> bytes:
    return blob(pool.token1 if pool.token0 in anchors else pool.token0)


def _side(pool: PoolFacts, anchors: Collection[Address]) -> _TokenPool:
    is_whole = len(pool.pool_key) == _ADDRESS_CHARS
    return _TokenPool(
        pool=pool.pool,
        pool_id=None if is_whole else Hash32(pool.pool_key),
        kind=pool.kind,
        dex=pool.dex,
        quote=pool.token0 if pool.token0 in anchors else pool.token1,
        token0=pool.token0,
        hooks=None,
    )
