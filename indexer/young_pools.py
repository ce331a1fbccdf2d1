"""In-memory set of recent pools, for selecting their events.

Very many unrelated contracts emit events with the same topics.
"""

from collections.abc import Sequence

import numpy as np

from config.facts.chain import Chain
from core.process.arrays import BoolArray, ByteArray, IndexArray, Int64Array, Uint64Array
from core.report.rows import PoolRow
from sql.chain.liquidity_events import kept_blocks
from sql.chain.pool_tables import read_pools_since
from sql.engine.columns import blob
from sql.engine.database import Reader

_HEAD_BYTES = 8
_MOST_ADDED = 4_096
"""Most additions before a merge, which copies the whole set."""


class YoungPools:
    """First bytes of the addresses of pools that are separate contracts.

    A superset of those announced in followed blocks: another contract may have the same first
    bytes, and pools of a transaction that was rolled back, or of a block that was unwound, remain
    until they are old. The table of pools decides. None is missing: committed pools are read, and
    those of the open transaction are added from its logs before it ends. Not for concurrent use.
    """

    def __init__(self, chain: Chain, *, unwound_blocks: int) -> None:
        """`unwound_blocks`: most blocks that are unwound."""
        self._chain_id = chain.id
        self._unwound_blocks = unwound_blocks
        # After unwinding this much, pools are young again.
        self._kept_blocks = kept_blocks(chain) + self._unwound_blocks
        self._heads: Uint64Array = np.empty(0, np.uint64)
        """Ascending."""
        self._blocks: Int64Array = np.empty(0, np.int64)
        """Block of the creation of each."""
        self._added: dict[int, int] = {}
        """Creation blocks of pools that are not merged yet."""
        self._added_heads: Uint64Array | None = None
        """None: to be rebuilt."""
        self._known_to: int | None = None
        """Last block of which all pools are in memory. None: not read yet."""

    def load(self, reader: Reader, *, tip: int) -> None:
        """Load the pools announced up to `tip`, the last stored block. Raises StoreError.

        Read by block, not by row number: followed blocks are committed one after another, under a
        lock, while a back-fill can commit lower numbers later (PostgreSQL), or a rollback lets them
        be reused (SQLite). The first call reads all young ones.
        """
        first = tip - self._kept_blocks
        if self._known_to is not None:
            # Another process may have followed in the meantime, and unwound any block above the
            # floor.
            first = max(first, self._known_to - self._unwound_blocks)
        pages = [
            (page.heads, np.array(page.blocks, np.int64))
            for page in read_pools_since(reader, chain_id=self._chain_id, number=first)
        ]
        if pages:
            heads, blocks = zip(*pages, strict=True)
            self._merge(_as_numbers(b"".join(heads)), np.concatenate(blocks), tip=tip)
        self._known_to = tip

    def add(self, pools: Sequence[PoolRow], *, first: int) -> None:
        """Add pools that are announced in block `first` or later, in a span that is being stored:
        earlier ones are committed."""
        for pool in pools:
            if pool.pool_id is None:
                (head,) = _as_numbers(blob(pool.pool)[:_HEAD_BYTES]).tolist()
                self._added[head] = pool.block_number
                self._added_heads = None
        if len(self._added) > _MOST_ADDED:
            heads = np.fromiter(self._added, np.uint64, len(self._added))
            blocks = np.fromiter(self._added.values(), np.int64, len(self._added))
            self._merge(heads, blocks, tip=first)
            self._added, self._added_heads = {}, None
        self._known_to = first - 1

    def may_contain(self, addresses: ByteArray) -> BoolArray:
        """True for each address, uint8[n, 20], that may be that of a young pool."""
        heads = _as_numbers(np.ascontiguousarray(addresses[:, :_HEAD_BYTES]).tobytes())
        found = self._are_merged(heads)[0]
        if self._added:
            if self._added_heads is None:
                self._added_heads = np.fromiter(self._added, np.uint64, len(self._added))
            found |= np.isin(heads, self._added_heads)
        return found

    def _are_merged(self, heads: Uint64Array) -> tuple[BoolArray, IndexArray]:
        """Return for each whether it is in the merged set, and its place in it."""
        at = np.searchsorted(self._heads, heads)
        inside = at < self._heads.size
        found: BoolArray = np.zeros(heads.size, np.bool_)
        found[inside] = self._heads[at[inside]] == heads[inside]
        return found, at

    def _merge(self, heads: Uint64Array, blocks: Int64Array, *, tip: int) -> None:
        """Add pools in any order, and drop those too old at `tip`, a block at or near the head."""
        young = self._blocks >= tip - self._kept_blocks
        self._heads, self._blocks = self._heads[young], self._blocks[young]
        order = np.argsort(heads)
        heads, blocks = heads[order], blocks[order]
        is_known, at = self._are_merged(heads)
        known, new = at[is_known], ~is_known
        self._blocks[known] = np.maximum(self._blocks[known], blocks[is_known])
        self._heads = np.insert(self._heads, at[new], heads[new])
        self._blocks = np.insert(self._blocks, at[new], blocks[new])


def _as_numbers(heads: bytes) -> Uint64Array:
    return np.frombuffer(heads, ">u8").astype(np.uint64)
