"""Native coin price from its pools with stables, in one read batch."""

from analysis.market import native_price
from analysis.market.pool_discovery import find_lookups
from analysis.market.pool_reads import ask_pool
from analysis.reads.chain_reads import AnswerAddress
from analysis.reads.read_batch import ReadBatch
from config.chains import Chain


class NativePools:
    """The reads that find the native/stable pools and their reserves, and the price from their
    answers."""

    def __init__(self, batch: ReadBatch, chain: Chain) -> None:
        stables = [stable.address for stable in chain.stables]
        self._batch = batch
        self._chain = chain
        lookups = find_lookups(chain.dexes, chain.wrapped_native.address, stables)
        found = [(lookup, AnswerAddress(lookup.ask(batch))) for lookup in lookups]
        self._pools = [(lookup, pool, ask_pool(batch, lookup, pool)) for lookup, pool in found]

    def read(self) -> float | None:
        """Return USD of one native coin. None: no pool has a price. Raises UpstreamError."""
        return native_price.price_from_pools(
            self._chain,
            [
                (pool, reserves.read(pool))
                for lookup, address, reserves in self._pools
                if (pool := lookup.candidate(self._batch.resolve(address))) is not None
            ],
        )
