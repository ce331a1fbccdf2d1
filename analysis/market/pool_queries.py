"""Read batch of a token's pools: where they are and what they hold, in one round trip.

Factories are queried where the index has no coverage yet, and the states of the pools that they
return are read in the same batch. V4's manager keeps no list: pools without hooks at the usual fees
are read by their ids, all others are found by their creation events.
"""

from collections.abc import Sequence

import msgspec

from analysis.market import pool_reserves
from analysis.market.pool_discovery import candidates_of, find_lookups, standard_v4
from analysis.market.venues import uniswap_v4, uniswap_v4_sweep
from analysis.market.venues.pool import UNKNOWN, Candidate, PoolState
from analysis.reads.eth_reads import decode_uint, read_reply
from analysis.reads.indexed_facts import IndexedFacts
from analysis.reads.read_batch import ReadBatch
from config.chains import Dex
from core.primitives import Address
from core.rpc.messages import RpcFault


class PoolsFound(msgspec.Struct, frozen=True, kw_only=True):
    """A token's pools as read in one batch."""

    states: tuple[tuple[Candidate, PoolState | None], ...]
    """Each pool once. None: it did not answer as its kind does, or its node returned no answer."""
    unread: tuple[Candidate, ...]
    """AmmV4 pools whose positions are not yet summed: found by their creation events only (then
    without a state, and there may be very many), or the deepest of too many."""
    is_all_asked: bool
    """False: a node refused a query for pools, so there may be more of them."""


class PoolQuestions:
    """The reads of one token's pools in a read batch, and the decoding of their answers."""

    def __init__(
        self,
        trip: ReadBatch,
        dexes: Sequence[Dex],
        token: Address,
        quotes: Sequence[Address],
        known: IndexedFacts,
    ) -> None:
        self._trip = trip
        self._token = token
        self._quotes = quotes
        unasked = [dex for dex in dexes if dex.factory not in known.covered_factories]
        indexed = candidates_of(known.pools, token=token, dexes=dexes)
        self._indexed = [pool for pool in indexed if pool.dex.kind in pool_reserves.READABLE_KINDS]
        self._lookups = find_lookups(unasked, token, quotes)
        self._found = trip.ask([lookup.request(block=trip.block) for lookup in self._lookups])
        by_id = [pool for pool in indexed if pool.dex.kind == "AmmV4"]
        self._indexed_v4 = [pool for pool in by_id if pool.dex.variant is None]
        self._unreadable = [pool for pool in by_id if pool.dex.variant is not None]
        self._managers = [dex for dex in dexes if dex.kind == "AmmV4" and dex.variant is None]
        self._unasked = unasked
        self._asked: list[slice] = []
        self.places: list[Address] = []
        """Addresses that hold the pools' tokens: pools, some of them promised by a factory's
        answer, and managers."""
        self._asked_v4: list[tuple[Sequence[Candidate], slice]] = []
        self._swept: list[tuple[Sequence[Candidate], slice]] = []
        self._is_bounded = False
        self._created: list[tuple[Dex, slice]] = []

    def ask_states(self, *, to_block: int | None) -> None:
        """Add the reads of what the pools hold, including pools that the factories have yet to
        return.

        They call the token's `balanceOf`, and the token may be hostile, so they come after the
        trusted reads. `to_block` None: the batch's block is not known yet.
        """
        trip = self._trip
        named = [
            lookup.candidate(promised)
            for lookup, promised in zip(self._lookups, self._promises(), strict=True)
        ]
        single = [pool for pool in (*self._indexed, *named) if pool is not None]
        self.places = [pool.pool for pool in single] + [dex.factory for dex in self._managers]
        self._asked = [trip.ask(pool_reserves.requests(pool, block=trip.block)) for pool in single]
        for dex in self._managers:
            pools = self._pools_by_id(dex)
            if len(pools) > uniswap_v4.MOST_POOLS:
                swept = uniswap_v4_sweep.within_bound(pools)
                self._is_bounded |= len(swept) < len(pools)
                self._swept.append(
                    (swept, trip.ask(uniswap_v4_sweep.requests(dex, swept, block=trip.block)))
                )
            elif pools:
                asked = uniswap_v4.state_requests(dex, pools, block=trip.block, to_block=to_block)
                self._asked_v4.append((pools, trip.ask(asked)))
            if dex in self._unasked:
                asked = uniswap_v4.find_requests(dex, self._token, to_block=to_block)
                self._created.append((dex, trip.ask(asked)))

    def _promises(self) -> list[Address]:
        """Return placeholders for the addresses that the factories will return."""
        return [self._trip.promise(at) for at in range(self._found.start, self._found.stop)]

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
        trip = self._trip
        for answer in trip[self._found]:
            read_reply(answer)  # raises where it was the node that failed
        found = [
            lookup.candidate(trip.kept(promised))
            for lookup, promised in zip(self._lookups, self._promises(), strict=True)
        ]
        states = {
            pool.key: (pool, pool_reserves.read(pool, trip[at]))
            for pool, at in zip((*self._indexed, *found), self._asked, strict=True)
            if pool is not None
        }
        states |= {pool.key: (pool, UNKNOWN) for pool in self._unreadable}
        indexed = {pool.key for pool in self._indexed_v4}
        for pools, at in self._asked_v4:
            told = uniswap_v4.read_states(pools, trip[at])
            for (pool, state), word in zip(told, trip[at][1::2], strict=True):
                if pool.key in indexed or decode_uint(read_reply(word)):
                    states[pool.key] = pool, state
        deepest: list[Candidate] = []
        for pools, at in self._swept:
            swept = uniswap_v4_sweep.read(pools, trip[at])
            states |= {
                pool.key: (pool, state)
                for pool, state in swept
                if state is not None or pool.key in indexed
            }
            deepest += uniswap_v4_sweep.pick(swept, at_most=uniswap_v4.MOST_POOLS)
        created = [
            pool
            for dex, at in self._created
            for pool in uniswap_v4.read_found(dex, self._token, self._quotes, trip[at])
        ]
        unread = {pool.key: pool for pool in created if pool.key not in states}
        return PoolsFound(
            states=tuple(states.values()),
            unread=(*deepest, *unread.values()),
            is_all_asked=not self._is_bounded
            and not any(
                isinstance(answer, RpcFault) for _, at in self._created for answer in trip[at]
            ),
        )
