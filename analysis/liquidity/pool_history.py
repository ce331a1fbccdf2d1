"""Pool history: the events of a pool, or of another contract, since the pool began, or of its first
blocks where a node refuses to search them all.

What the index has of a pool's own events is not asked for again."""

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
"""Blocks from a pool's creation on that are searched alone too, each so many: nodes that refuse
more allow one of them, and most liquidity of a young pool came in them."""

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
        """`queries`: for all blocks that are not indexed, then for fewer and fewer."""
        self._batch = batch
        self._queries = queries
        self._indexed = indexed

    @property
    def is_whole(self) -> bool:
        """True if all blocks were searched. Raises UpstreamError."""
        return not self._queries or self._batch[self._queries[0]] is not None

    def read(self) -> tuple[T, ...]:
        """Decode the events that were found, in chain order. Raises UpstreamError."""
        answers = (self._batch[query] for query in self._queries)
        return self._indexed + next((found for found in answers if found is not None), ())


class PoolSpan(msgspec.Struct, frozen=True, kw_only=True):
    """A pool, and the blocks in which its events are searched."""

    pool: Candidate
    from_block: int | None
    """Block of its creation. None: not known, so the exchange's first, or 0."""
    to_block: int
    indexed: PoolEvents | None = None
    """The pool's events, up to that block or a little below. None: not indexed."""

    def ask(
        self,
        batch: ReadBatch,
        topics: Sequence[object],
        *,
        address: Address | None = None,
        returns: Callable[[RpcAnswer], tuple[T, ...] | None],
    ) -> PoolHistory[T]:
        """Add the queries for events. `address`: whose; None: the pool's. `returns`: decoder; None:
        the node refused."""
        if address is None and self.indexed is not None:
            return self._ask_rest(batch, topics, self.indexed, returns)
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

    def _ask_rest(
        self,
        batch: ReadBatch,
        topics: Sequence[object],
        known: PoolEvents,
        returns: Callable[[RpcAnswer], tuple[T, ...] | None],
    ) -> PoolHistory[T]:
        """Add the query for the blocks that are not indexed yet, if there are any."""
        wanted = [event for event in known.events if _is_asked_for(event, topics)]
        queries = []
        if known.to_block < self.to_block:
            rest = log_query(
                self.pool.pool, topics, from_block=known.to_block + 1, to_block=self.to_block
            )
            queries.append(batch.request(rest, returns=returns))
        found = returns(msgspec.Raw(msgspec.json.encode(wanted)))
        return PoolHistory(batch, queries, indexed=found or ())


def _is_asked_for(event: IndexedEvent, topics: Sequence[object]) -> bool:
    """Return whether the node would return an event for these topics. A pool's own events are
    asked for by single topics."""
    return all(topic == own for topic, own in zip(topics, event.topics, strict=False))
