"""Events of a pool, or of another contract, since the pool's creation.

Where a node refuses to search all blocks, only the first ones are searched. Indexed events of the
pool are not requested again.
"""

from collections.abc import Callable, Sequence
from typing import Final, Generic, TypeVar

import msgspec

from analysis.liquidity.holdings import log_query
from analysis.market.venues.pool import Candidate
from analysis.reads.chain_reads import RequestHandle
from analysis.reads.indexed_facts import IndexedEvent, PoolEvents
from analysis.reads.read_batch import ReadBatch
from core.evm.primitives import Address
from core.rpc.messages import RpcAnswer

FIRST_BLOCKS: Final = (500, 5)
"""Numbers of blocks from a pool's creation that are also searched separately.

Nodes that refuse more allow one of them, and most liquidity of a young pool was added in them."""

T = TypeVar("T")


class PoolHistory(Generic[T]):
    """The indexed events of one kind, and the answers to queries for the others, in one batch."""

    def __init__(
        self,
        batch: ReadBatch,
        queries: Sequence[RequestHandle[tuple[T, ...] | None]],
        *,
        indexed: tuple[T, ...] = (),
    ) -> None:
        """`queries`: for all blocks that are not indexed, then for ever fewer."""
        self._batch = batch
        self._queries = queries
        self._indexed = indexed

    @property
    def is_whole(self) -> bool:
        """True if all blocks were searched. Raises UpstreamError."""
        return not self._queries or self._batch[self._queries[0]] is not None

    @property
    def is_missing(self) -> bool:
        """True if blocks were not searched, or no event was found, as on a node that deletes old
        ones. Raises UpstreamError."""
        return not self.is_whole or not self.read()

    def read(self) -> tuple[T, ...]:
        """Decode the events that were found, in chain order. Raises UpstreamError."""
        answers = (self._batch[query] for query in self._queries)
        return self._indexed + next((found for found in answers if found is not None), ())


class PoolSpan(msgspec.Struct, frozen=True, kw_only=True):
    """A pool, and the blocks in which its events are searched."""

    pool: Candidate
    from_block: int | None
    """Block of its creation. None: not known; the exchange's first block, or 0, is used."""
    to_block: int
    indexed: PoolEvents | None = None
    """The pool's events, up to that block or a little below. None: not indexed."""

    def request(
        self,
        batch: ReadBatch,
        topics: Sequence[object],
        *,
        address: Address | None = None,
        returns: Callable[[RpcAnswer], tuple[T, ...] | None],
    ) -> PoolHistory[T]:
        """Add the queries for events. `address`: their contract; None: the pool.

        `returns`: decoder, whose None means that the node refused.
        """
        if address is None and self.indexed is not None:
            return self._request_rest(batch, topics, self.indexed, returns)
        created, last = self.from_block, self.to_block
        first = (self.pool.dex.from_block or 0) if created is None else created
        ends = [last]
        if created is not None:
            ends += [created + count - 1 for count in FIRST_BLOCKS if created + count <= last]
        queries = (
            log_query(address or self.pool.pool, topics, from_block=min(first, end), to_block=end)
            for end in ends
        )
        return PoolHistory(batch, [batch.request(query, returns=returns) for query in queries])

    def _request_rest(
        self,
        batch: ReadBatch,
        topics: Sequence[object],
        known: PoolEvents,
        returns: Callable[[RpcAnswer], tuple[T, ...] | None],
    ) -> PoolHistory[T]:
        """Add the query for the blocks that are not indexed yet, if there are any."""
        wanted = [event for event in known.events if _has_topics(event, topics)]
        queries = []
        if known.to_block < self.to_block:
            rest = log_query(
                self.pool.pool, topics, from_block=known.to_block + 1, to_block=self.to_block
            )
            queries.append(batch.request(rest, returns=returns))
        found = returns(msgspec.Raw(msgspec.json.encode(wanted)))
        return PoolHistory(batch, queries, indexed=found or ())


def _has_topics(event: IndexedEvent, topics: Sequence[object]) -> bool:
    """True if the event has these topics. Each topic of a pool's own events is a single value."""
    return all(topic == own for topic, own in zip(topics, event.topics, strict=False))
