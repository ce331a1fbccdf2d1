"""Read batch of a token's pools: addresses and reserves, in one round trip.

Factories are queried where the index has no coverage yet, and the states of the pools that they
return are read in the same batch. A contract that holds all its pools as entries keeps no list:
standard pools are read by their ids, all others are found by their creation events.
"""

from collections.abc import Sequence

import msgspec

from analysis.market.pool_discovery import candidates_of, find_lookups
from analysis.market.pool_reads import request_pool
from analysis.market.venues.pool import UNKNOWN, Candidate, PoolState, placed
from analysis.market.venues.state.pool_bounds import MOST_SUMMED, pick_deepest, within_bound
from analysis.market.venues.venue import (
    CreatedReading,
    EntriesReading,
    FloorReading,
    PoolEntries,
    PoolReading,
)
from analysis.market.venues.venue_registry import venue_of
from analysis.reads.chain_reads import AnswerAddress
from analysis.reads.indexed_facts import IndexedFacts
from analysis.reads.read_batch import ReadBatch
from config.facts.chain import Dex
from core.evm.primitives import Address


class PoolsFound(msgspec.Struct, frozen=True, kw_only=True):
    """A token's pools as read in one batch."""

    states: tuple[tuple[Candidate, PoolState | None], ...]
    """Each pool once. None: it did not answer as its kind does, or its node returned no answer."""
    unread: tuple[Candidate, ...]
    """Entries of one contract whose positions are not yet summed: found by their creation events
    only (then without a state, and there may be very many), or the deepest of too many."""
    is_complete: bool
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
        self._found = [(lookup, lookup.request(batch)) for lookup in lookups]
        self._indexed = [pool for pool in indexed if venue_of(pool.dex).entries is None]
        by_id = [(pool, venue_of(pool.dex).entries) for pool in indexed]
        self._entries = [pool for pool, how in by_id if how and how.is_readable(pool.dex)]
        self._unreadable = [pool for pool, how in by_id if how and not how.is_readable(pool.dex)]
        venues = [(dex, venue_of(dex).entries) for dex in dexes]
        self._managers = [(dex, how) for dex, how in venues if how and how.is_readable(dex)]
        self._indexed_reads: list[PoolReading] = []
        self._found_reads: list[PoolReading] = []
        self._states: list[EntriesReading] = []
        self._sweeps: list[FloorReading] = []
        self._is_bounded = False
        self._creations: list[CreatedReading] = []

    @property
    def places(self) -> list[Address | AnswerAddress]:
        """Return the addresses that hold the pools' tokens: pools, some of them in a factory's
        answer, and managers or their vaults."""
        return [
            *(pool.holder for pool in self._indexed),
            *(AnswerAddress(address) for _, address in self._found),
            *(dex.vault or dex.factory for dex, _ in self._managers),
        ]

    def request_states(self, *, to_block: int | None) -> None:
        """Add the reads of what the pools hold, including pools that the factories have yet to
        return.

        They call the token's `balanceOf`, and the token may be hostile, so they come after the
        trusted reads. `to_block` None: the batch's block is not known yet.
        """
        batch = self._batch
        self._indexed_reads = [request_pool(batch, pool, pool.pool) for pool in self._indexed]
        self._found_reads = [
            request_pool(batch, lookup, AnswerAddress(address)) for lookup, address in self._found
        ]
        for dex, how in self._managers:
            pools = self._pools_by_id(dex, how)
            if len(pools) > MOST_SUMMED:
                swept = within_bound(pools)
                self._is_bounded |= len(swept) < len(pools)
                self._sweeps.append(how.request_floors(batch, dex, swept))
            elif pools:
                self._states.append(how.request_states(batch, dex, pools, to_block=to_block))
            if dex in self._unasked:
                created = how.request_created(batch, dex, self._token, to_block=to_block)
                self._creations.append(created)

    def _pools_by_id(self, dex: Dex, how: PoolEntries) -> Sequence[Candidate]:
        """Return the indexed pools, and the standard ones that may exist where the index has no
        coverage."""
        indexed = [pool for pool in self._entries if pool.dex.factory == dex.factory]
        if dex not in self._unasked:
            return indexed
        usual = how.standard_pools(dex, self._token, self._quotes)
        return tuple({pool.key: pool for pool in (*usual, *indexed)}.values())

    def read(self) -> PoolsFound:
        """Decode the answers. Raises UpstreamError."""
        found = [lookup.candidate(self._batch[address]) for lookup, address in self._found]
        single = (
            *zip(self._indexed, self._indexed_reads, strict=True),
            *zip(found, self._found_reads, strict=True),
        )
        contracts = [(pool, reads.read(pool)) for pool, reads in single if pool is not None]
        states = {(own := placed(pool, state)).key: (own, state) for pool, state in contracts}
        states |= {pool.key: (pool, UNKNOWN) for pool in self._unreadable}
        indexed = {pool.key for pool in self._entries}
        for reads in self._states:
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
            deepest += pick_deepest(swept)
        created = [pool for events in self._creations for pool in events.read(self._quotes)]
        unread = {pool.key: pool for pool in created if pool.key not in states}
        return PoolsFound(
            states=tuple(states.values()),
            unread=(*deepest, *unread.values()),
            is_complete=not self._is_bounded
            and not any(events.is_refused for events in self._creations),
        )
