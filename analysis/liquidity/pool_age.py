"""Pool age: whether pools are shown to have existed a while ago.

An event of the pool in blocks before that time shows it, and nodes keep events longer than states.
A pool without any in those blocks may be as old, which is then not known.
"""

from collections.abc import Sequence
from math import ceil
from typing import Final

from analysis.liquidity.holdings import log_query
from analysis.market.venues.pool import Candidate
from analysis.reads.eth_reads import decode_logs
from analysis.reads.node import Node
from analysis.reads.read_batch import ReadBatch
from core.evm.primitives import BlockRef

_SEARCHED: Final = 2_000
"""Blocks before that time that are searched: most nodes allow so many in one query."""


async def find_older(
    pools: Sequence[Candidate], age_s: float, *, block: BlockRef, block_time_s: float, node: Node
) -> frozenset[str]:
    """Return the keys of the pools that had an event more than `age_s` seconds before a block, by
    the chain's nominal block time. Raises UpstreamError."""
    last = block.number - ceil(age_s / block_time_s)
    if last < 0 or not pools:
        return frozenset()
    batch = ReadBatch(block.hash)
    asked = [
        (
            pool.key,
            batch.request(
                log_query(
                    pool.pool,
                    [] if pool.pool_id is None else [None, pool.pool_id],
                    from_block=max(0, last - _SEARCHED),
                    to_block=last,
                ),
                returns=decode_logs,
            ),
        )
        for pool in pools
    ]
    await batch.send(node)
    return frozenset(key for key, handle in asked if batch[handle])
