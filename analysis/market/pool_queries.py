"""Read batch of a token's pools: where they are and what they hold, in one round trip.

Factories are queried where the index has no coverage yet, and the states of the pools that they
return are read in the same batch. V4's manager keeps no list: pools without hooks at the usual fees
are read by their ids, all others are found by their creation events.
"""

from collections.abc import Sequence

import msgspec

from analysis.market.pool_discovery import candidates_of, find_lookups, standard_v4
from analysis.market.pool_reserves import READABLE_KINDS, ReserveReads
from analysis.market.venues import uniswap_v4, uniswap_v4_sweep
from analysis.market.venues.pool import UNKNOWN, Candidate, PoolState
from analysis.market.venues.uniswap_v4 import CreationReads, V4StateReads
from analysis.market.venues.uniswap_v4_sweep import SweepReads
from analysis.reads.chain_reads import AnswerAddress
from analysis.reads.indexed_facts import IndexedFacts
from analysis.reads.read_batch import ReadBatch
from config.chains import Dex
from core.primitives import Address


class PoolsFound(msgspec.Struct, frozen=True, kw_only=True):
    """A token's pools as read in one batch."""

    states: tuple[tuple[Candidate, PoolState | None], ...]
    """Each pool once. None: it did not answer as its kind does, or its node returned no answer."""
    unread: tuple[Candidate, ...]
    """AmmV4 pools whose positions are not yet summed: found by their creation events only (then
    without a state, and there may be very many), or the deepest of too many."""
    is_all_asked: bool
    """False: a node refused a query for pools, so there may be more of them."""


class PoolReads:
    """The reads of one token's pools in a read batch, and the decoding of their answers."""

    def __init__(
        self,
        batch: ReadBatch,
        dexes: Sequence[Dex],
        token: Address,
        quotes: Sequence[Address],
        known: IndexedFacts,
    ) -> None:
        self._batch = batch
        self._token = token
        self._quotes = quotes
        self._unasked = [dex for dex in dexes if dex.factory not in known.covered_factories]
        indexed = candidates_of(known.pools, token=token, dexes=dexes)
        lookups = find_lookups(self._unasked, token, quotes)
        self._found = [(lookup, lookup.ask(batch)) for lookup in lookups]
        self._indexed = [pool for pool in indexed if pool.dex.kind in READABLE_KINDS]
        by_id = [pool for pool in indexed if pool.dex.kind == "AmmV4"]
        self._indexed_v4 = [pool for pool in by_id if pool.dex.variant is None]
        self._unreadable = [pool for pool in by_id if pool.dex.variant is not None]
        self._managers = [dex for dex in dexes if dex.kind == "AmmV4" and dex.variant is None]
        self._indexed_reads: list[ReserveReads] = []
        self._found_reads: list[ReserveReads] = []
        self._v4: list[V4StateReads] = []
        self._sweeps: list[SweepReads] = []
        self._is_bounded = False
        self._creations: list[CreationReads] = []

    @property
    def places(self) -> list[Address | AnswerAddress]:
        """Return the addresses that hold the pools' tokens: pools, some of them in a factory's
        answer, and managers."""
        return [
            *(pool.pool for pool in self._indexed),
            *(AnswerAddress(address) for _, address in self._found),
            *(dex.factory for dex in self._managers),
        ]

    def ask_states(self, *, to_block: int | None) -> None:
        """Add the reads of what the pools hold, including pools that the factories have yet to
        return.

        They call the token's `balanceOf`, and the token may be hostile, so they come after the
        trusted reads. `to_block` None: the batch's block is not known yet.
        """
        batch = self._batch
        self._indexed_reads = [ReserveReads(batch, pool, pool.pool) for pool in self._indexed]
        self._found_reads = [
            ReserveReads(batch, lookup, AnswerAddress(address)) for lookup, address in self._found
        ]
        for dex in self._managers:
            pools = self._pools_by_id(dex)
            if len(pools) > uniswap_v4.MOST_POOLS:
                swept = uniswap_v4_sweep.within_bound(pools)
                self._is_bounded |= len(swept) < len(pools)
                self._sweeps.append(SweepReads(batch, dex, swept))
            elif pools:
                self._v4.append(V4StateReads(batch, dex, pools, to_block=to_block))
            if dex in self._unasked:
                self._creations.append(CreationReads(batch, dex, self._token, to_block=to_block))

    def _pools_by_id(self, dex: Dex) -> Sequence[Candidate]:
        """Return the indexed pools, and the standard ones that may exist where the index has no
        coverage."""
        indexed = [pool for pool in self._indexed_v4 if pool.dex.factory == dex.factory]
        if dex not in self._unasked:
            return indexed
        usual = standard_v4(dex, self._token, self._quotes)
        return tuple({pool.key: pool for pool in (*usual, *indexed)}.values())

    def read(self) -> PoolsFound:
        """Decode the answers. Raises UpstreamError."""
        found = [lookup.candidate(self._batch[address]) for lookup, address in self._found]
        single = (
            *zip(self._indexed, self._indexed_reads, strict=True),
            *zip(found, self._found_reads, strict=True),
        )
        states = {
            pool.key: (pool, reserves.read(pool)) for pool, reserves in single if pool is not None
        }
        states |= {pool.key: (pool, UNKNOWN) for pool in self._unreadable}
        indexed = {pool.key for pool in self._indexed_v4}
        for reads in self._v4:
            existing = indexed | reads.read_existing()
            states |= {
                pool.key: (pool, state) for pool, state in reads.read() if pool.key in existing
            }
        deepest: list[Candidate] = []
        for sweep in self._sweeps:
            swept = sweep.read()
            states |= {
                pool.key: (pool, state)
                for pool, state in swept
                if state is not None or pool.key in indexed
            }
            deepest += uniswap_v4_sweep.pick(swept, at_most=uniswap_v4.MOST_POOLS)
        created = [pool for events in self._creations for pool in events.read(self._quotes)]
        unread = {pool.key: pool for pool in created if pool.key not in states}
        return PoolsFound(
            states=tuple(states.values()),
            unread=(*deepest, *unread.values()),
            is_all_asked=not self._is_bounded
            and not any(events.is_refused for events in self._creations),
        )
