"""Swaps in pools with an anchor token (wrapped native or stable) on one side."""

import heapq
import itertools
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from core.evm.primitives import Address, HexBytes
from core.report.rows import Trade
from sql.chain.pool_tables import PoolFacts, find_pools
from sql.engine.columns import blob
from sql.engine.database import Transaction
from sql.engine.small_steps import delete_in_steps
from sql.engine.store import Readable, Store
from sql.engine.table_rows import SwapRow

_NO_TRADERS: Mapping[tuple[int, int], bytes] = {}


class KnownSwap(NamedTuple):
    """A swap with its stored pool."""

    swap: SwapRow
    pool: PoolFacts


def insert_trades(
    tx: Transaction, swaps: Sequence[SwapRow], *, chain_id: int, anchors: Collection[Address]
) -> int:
    """Store swaps of known pools that are not stored yet; return how many were new."""
    return insert_known_trades(
        tx, find_known_swaps(tx, swaps, chain_id=chain_id, anchors=anchors), chain_id=chain_id
    )


def find_known_swaps(
    tx: Transaction, swaps: Sequence[SwapRow], *, chain_id: int, anchors: Collection[Address]
) -> list[KnownSwap]:
    """Return the swaps of known pools.

    A pool is known if it is stored by an earlier event, is of one of the swap's kinds and is the
    emitter's, and if one of its tokens is an anchor, not both.
    """
    if not swaps:
        return []
    pools = find_pools(tx, chain_id=chain_id, pool_keys={swap.pool_key for swap in swaps})
    return [
        KnownSwap(swap, pool)
        for swap in swaps
        if (pool := pools.get(swap.pool_key)) is not None and _is_of(swap, pool, anchors)
    ]


def insert_known_trades(
    tx: Transaction,
    known: Sequence[KnownSwap],
    *,
    chain_id: int,
    traders: Mapping[tuple[int, int], bytes] = _NO_TRADERS,
) -> int:
    """Store swaps that are not stored yet; return how many were new.

    `traders`: the trader's 20 bytes, by block and log index of the swap.
    """
    rows = (
        (
            *(chain_id, swap.block_number, swap.log_index, pool.pool_no),
            *(swap.time_s, swap.amount0, swap.amount1),
            *(traders.get((swap.block_number, swap.log_index)), swap.tx_hash),
        )
        for swap, pool in known
    )
    return tx.execute_many("trades/insert_trade", rows) if known else 0


def list_newest_trades(
    store: Readable,
    *,
    chain_id: int,
    token: Address,
    pool_keys: Sequence[HexBytes],
    from_block: int,
    at_most: int,
) -> list[Trade]:
    """Return trades in these pools, which have the token on one side, newest first."""
    by_pool = [
        store.fetch(
            "trades/list_newest",
            Trade,
            chain_id=chain_id,
            token=blob(token),
            pool_key=blob(pool_key),
            from_block=from_block,
            at_most=at_most,
        )
        for pool_key in pool_keys
    ]
    newest = heapq.merge(*by_pool, key=lambda trade: (-trade.block_number, -trade.log_index))
    return list(itertools.islice(newest, at_most))


def delete_old_trades(store: Store, *, chain_id: int, kept_s: float) -> None:
    """Delete final trades older than the newest stored block by more than `kept_s` seconds, in
    small steps. Raises StoreError."""
    delete_in_steps(store, "trades/delete_old", chain_id=chain_id, kept_s=int(kept_s))


def _is_of(swap: SwapRow, pool: PoolFacts, anchors: Collection[Address]) -> bool:
    return (
        pool.pool == swap.emitter
        # A reorg of the pool's event must not leave earlier swaps without a pool.
        and (pool.block_number, pool.log_index) < (swap.block_number, swap.log_index)
        and pool.kind in swap.kinds
        and (pool.token0 in anchors) != (pool.token1 in anchors)
    )
