"""Pools that existed some time ago, by their events.

Nodes keep events longer than states. A pool without events in the searched blocks may be as old;
its age is then unknown.
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
"""Blocks before that time that are searched. Most nodes allow this number in one query."""


async def find_older(
    pools: Sequence[Candidate], age_s: float, *, block: BlockRef, block_time_s: float, node: Node
) -> frozenset[str]:
    """Return the keys of pools with an event more than `age_s` seconds before a block.

    Uses the chain's nominal block time. Raises UpstreamError.
    """
    last = block.number - ceil(age_s / block_time_s)
    if last < 0 or not pools:
        return frozenset()
    batch = ReadBatch(block.hash)
    queries = [
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
    return frozenset(key for key, handle in queries if batch[handle])
