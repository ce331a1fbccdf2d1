"""Events of young pools that name possible holders of their liquidity.

Stored for pools that were announced while the chain was followed; the subject
`Chain.liquidity_subject` covers all of these blocks. Kept for a month: holders of older pools are
not requested by default, and a table of all events would grow with the chain.
"""

from collections.abc import Sequence
from typing import Final

import msgspec

from config.facts.chain import Chain
from core.evm.primitives import Address, BlockRef, HexBytes
from sql.chain.pool_tables import (
    PoolFacts,
    find_coverage_start,
    find_newest_coverage,
    find_pools,
)
from sql.engine.database import Reader, Transaction
from sql.engine.small_steps import delete_in_steps
from sql.engine.store import Store
from sql.engine.table_rows import LiquidityLogRow
from sql.tokens.observations import has_block

KEPT_S: Final = 32 * 86_400.0
"""Age of a pool up to which its events are stored and read: longer than it counts as young."""

_DELETED_S: Final = KEPT_S + 86_400.0
"""Age of deletion: a day later, so that no event is deleted while it is read."""

_REREAD: Final = 4
"""Newest blocks whose events are ignored if the analysed block is not stored: it may be on another
branch. Most nodes accept a query of one block more."""

_MOST_EVENTS: Final = 20_000
_MOST_BYTES: Final = 8_000_000
"""Limit of topics and data of one pool's events. A node's response is twice as long, and most nodes
return no longer ones; beyond it the node is queried."""


class StoredEvent(msgspec.Struct, frozen=True, kw_only=True):
    """One event of a pool."""

    emitter: Address
    block_number: int
    topics: bytes
    """32 bytes each, topic 0 included."""
    data: bytes


class StoredEvents(msgspec.Struct, frozen=True, kw_only=True):
    """All events of a pool since its creation."""

    to_block: int
    """Last block whose events are all known."""
    events: tuple[StoredEvent, ...]
    """In chain order."""


def kept_blocks(chain: Chain) -> int:
    """Return the number of blocks after a pool's creation whose events are stored."""
    return chain.blocks_in(KEPT_S)


def insert_liquidity(
    tx: Transaction, logs: Sequence[LiquidityLogRow], *, chain: Chain, first: int
) -> int:
    """Store the events of young pools that are not stored yet; return how many were new.

    A log counts if its pool is stored, of one of its kinds, young and the emitter, and was
    announced since the start of the coverage that block `first` continues or begins. Raises
    StoreError.
    """
    if not logs:
        return 0
    since = find_coverage_start(tx, chain_id=chain.id, subject=chain.liquidity_subject, first=first)
    pools = find_pools(tx, chain_id=chain.id, pool_keys={log.pool_key for log in logs})
    rows = [
        (chain.id, log.block_number, log.log_index, pool.pool_no, log.topics, log.data)
        for log in logs
        if (pool := pools.get(log.pool_key)) is not None
        and pool.block_number >= since
        and _is_of(log, pool, chain)
    ]
    return tx.execute_many("liquidity/insert_event", rows) if rows else 0


def read_pool_events(
    reader: Reader, *, chain: Chain, pool_keys: Sequence[HexBytes], pin: BlockRef
) -> dict[HexBytes, StoredEvents]:
    """Return the events of pools that are completely stored up to near a block; none above it.

    Older pools, and those with very many or very long events, are left out. Raises StoreError.
    """
    covered = find_newest_coverage(reader, chain_id=chain.id, subject=chain.liquidity_subject)
    if covered is None:
        return {}
    is_held = has_block(reader, chain_id=chain.id, block=pin)
    last = min(covered.to_block if is_held else covered.to_block - _REREAD, pin.number)
    # Counted from the later of the two: events covered by a former subject may be deleted.
    oldest = max(covered.from_block, max(covered.to_block, pin.number) - kept_blocks(chain))
    pools = find_pools(reader, chain_id=chain.id, pool_keys=pool_keys)
    return {
        key: StoredEvents(to_block=last, events=_read_events(reader, pool, last))
        for key, pool in pools.items()
        if oldest <= pool.block_number <= last and _is_readable(reader, pool)
    }


def delete_old_liquidity(store: Store, *, chain: Chain, final: int) -> None:
    """Delete the events that are no longer read, in small steps. `final`: the newest final block.
    Raises StoreError."""
    below = final - chain.blocks_in(_DELETED_S)
    delete_in_steps(store, "liquidity/delete_old", chain_id=chain.id, below=below)


def _is_of(log: LiquidityLogRow, pool: PoolFacts, chain: Chain) -> bool:
    return (
        pool.pool == log.emitter
        and pool.kind in log.kinds
        and 0 <= log.block_number - pool.block_number <= kept_blocks(chain)
    )


def _is_readable(reader: Reader, pool: PoolFacts) -> bool:
    """True if a pool's events are few and short enough to be read."""
    ((events, size),) = reader.fetch_tuples(
        "liquidity/measure_pool", pool_no=pool.pool_no, at_most=_MOST_EVENTS + 1
    )
    return int(events) <= _MOST_EVENTS and int(size) <= _MOST_BYTES


def _read_events(reader: Reader, pool: PoolFacts, last: int) -> tuple[StoredEvent, ...]:
    found = reader.fetch("liquidity/list_of_pool", StoredEvent, pool_no=pool.pool_no, last=last)
    return tuple(found)
