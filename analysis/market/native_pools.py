"""Native coin price from its pools with stables, in one read batch."""

from analysis.market import native_price, pool_reserves
from analysis.market.pool_discovery import find_lookups
from analysis.reads.read_batch import ReadBatch
from config.chains import Chain
from core.primitives import Hash32


class NativePools:
    """The reads that find the native/stable pools and their reserves, and the price from their
    answers."""

    def __init__(self, trip: ReadBatch, chain: Chain, *, block: Hash32) -> None:
        stables = [stable.address for stable in chain.stables]
        self._trip = trip
        self._chain = chain
        self._lookups = find_lookups(chain.dexes, chain.wrapped_native.address, stables)
        asked = trip.ask([lookup.request(block=block) for lookup in self._lookups])
        self._promises = [trip.promise(at) for at in range(asked.start, asked.stop)]
        self._states = [
            trip.ask(pool_reserves.requests(pool, block=block))
            for lookup, promised in zip(self._lookups, self._promises, strict=True)
            if (pool := lookup.candidate(promised)) is not None
        ]

    def read(self) -> float | None:
        """Return USD of one native coin. None: no pool has a price. Raises UpstreamError."""
        asked = zip(self._lookups, self._promises, self._states, strict=True)
        return native_price.price_from_pools(
            self._chain,
            [
                (pool, self._trip[at])
                for lookup, promised, at in asked
                if (pool := lookup.candidate(self._trip.kept(promised))) is not None
            ],
        )
