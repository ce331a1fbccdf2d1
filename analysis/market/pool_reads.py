"""Reads of the state of one pool contract of any family."""

from analysis.market.venues.lookup import Lookup
from analysis.market.venues.pool import Candidate
from analysis.market.venues.venue import PoolReading
from analysis.market.venues.venue_registry import venue_of
from analysis.reads.chain_reads import AnswerAddress
from analysis.reads.read_batch import ReadBatch
from core.evm.primitives import Address


def request_pool(
    batch: ReadBatch, pair: Candidate | Lookup, pool: Address | AnswerAddress
) -> PoolReading:
    """Add the reads. `pair`: exchange and tokens of the pool, whose address may not be known
    yet."""
    add_reads = venue_of(pair.dex).request_pool
    if add_reads is None:
        message = f"pools of {pair.dex.kind} are entries of one contract"
        raise TypeError(message)
    return add_reads(batch, pair, pool)
