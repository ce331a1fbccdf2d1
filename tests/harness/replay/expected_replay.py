"""Rows and transfers that a back-fill of a replayed chain must find, computed event by event.

Computed from the events, not from their logs: no encoding and no decoding is shared.
"""

from collections.abc import Iterator, Sequence
from typing import Literal, TypeVar, get_args

import msgspec
import pytest

from core.evm.primitives import ZERO_ADDRESS
from sql.engine.store import Store
from tests.harness.indexer.expected_tables import Tables
from tests.harness.replay.block_maker import ReplayBlock, ReplaySpec
from tests.harness.replay.chain_events import (
    ChainEvent,
    EventLog,
    Launched,
    Malformed,
    OddTransfer,
    PoolMade,
    Sent,
    Swapped,
)
from tests.harness.store.store_contents import Cells, read_rows

_WORD_DIGITS = 64


class TransferCount(msgspec.Struct, kw_only=True):
    """Transfers as three sums: equal sums of different rows are unlikely."""

    rows: int = 0
    blocks: int = 0
    """Sum of their block numbers."""
    indices: int = 0
    """Sum of their log indices."""

    def add(self, block_number: int, log_index: int) -> None:
        """Count one more."""
        self.rows += 1
        self.blocks += block_number
        self.indices += log_index


TransferReading = Literal["exact", "one_word", "four_words"]
"""Definition of a transfer in addition to its topic.

exact: two indexed addresses and one word of data. one_word: two indexed words, whatever is in them,
and one word of data. four_words: topics and begun words of data are four together.
"""


class TransferTally:
    """Transfers of tokens from the block on in which a pool or a launch made them known."""

    def __init__(self, spec: ReplaySpec) -> None:
        self._anchors = {ZERO_ADDRESS, *(anchor.address for anchor in spec.chain.anchors)}
        self.tracked: dict[str, int] = {}
        """First block by token."""
        self.counts: dict[TransferReading, TransferCount] = {
            reading: TransferCount() for reading in get_args(TransferReading)
        }
        """Counts so far, by definition."""

    def add(self, block: ReplayBlock) -> None:
        """Count one block more; they must come in order."""
        for event in block.events:
            if isinstance(event, PoolMade):
                for side in {event.pool.token0, event.pool.token1} - self._anchors:
                    self.tracked.setdefault(side, block.number)
            elif isinstance(event, Launched):
                self.tracked.setdefault(event.token, block.number)
        for at, event in enumerate(block.events):
            if isinstance(event, Sent) and event.token in self.tracked:
                for count in self.counts.values():
                    count.add(block.number, at)
            elif isinstance(event, OddTransfer) and event.log.address in self.tracked:
                for reading in _readings_of(event.log):
                    self.counts[reading].add(block.number, at)


def _readings_of(log: EventLog) -> Iterator[TransferReading]:
    """Yield the programs that count a log as a transfer although it is none."""
    digits = len(log.data) - 2
    if len(log.topics) == 3 and digits == _WORD_DIGITS:
        yield "one_word"
    if len(log.topics) + -(-digits // _WORD_DIGITS) == 4:
        yield "four_words"


Event = TypeVar("Event", bound=ChainEvent)


def expect(spec: ReplaySpec, blocks: Sequence[ReplayBlock]) -> Tables:
    """For a back-fill of exactly these blocks."""
    tracked, with_pool = _tracked(spec, blocks)
    chain = spec.chain
    subjects = ["transfers", *(f"pools:{dex.factory}" for dex in chain.dexes)]
    subjects += [pad.subject for pad in chain.launchpads if pad.event]
    return Tables(
        pools=[_pool_cells(number, at, event) for number, at, event in _of(PoolMade, blocks)],
        tokens=sorted(
            (own, "pool" if own in with_pool else "launch", first, None)
            for own, first in tracked.items()
        ),
        transfers=[
            (number, at, sent.token, sent.sender, sent.recipient, hex(sent.amount_raw))
            for number, at, sent in _of(Sent, blocks)
            if tracked.get(sent.token, number + 1) <= number
        ],
        undecoded=[
            (number, at, log.address, len(log.topics))
            for number, at, log in _undecoded(blocks, tracked)
        ],
        checkpoint=None,
        coverage=sorted((one, blocks[0].number, blocks[-1].number) for one in subjects),
        launches=list(_launches(blocks)),
    )


def expect_trades(spec: ReplaySpec, blocks: Sequence[ReplayBlock]) -> list[Cells]:
    """Return the cells of swaps against an anchor, where logs have times."""
    anchors = _anchors(spec)
    return [
        (number, at, swap.pool.key, _about(swap.amount0_raw), _about(swap.amount1_raw))
        for number, at, swap in _of(Swapped, blocks)
        if (swap.pool.token0 in anchors) != (swap.pool.token1 in anchors)
    ]


def read_trades(store: Store) -> list[Cells]:
    """Read the stored ones."""
    return sorted(
        read_rows(
            store,
            "select trade.block_number, trade.log_index, pool_key, amount0, amount1"
            " from trade join pool using (pool_no)",
        )
    )


def _about(amount: int) -> object:
    """Equal to the same amount as a DOUBLE, however its four words were added up."""
    return pytest.approx(float(amount), rel=4e-16)


def _anchors(spec: ReplaySpec) -> set[str]:
    return {ZERO_ADDRESS, *(anchor.address for anchor in spec.chain.anchors)}


def _tracked(spec: ReplaySpec, blocks: Sequence[ReplayBlock]) -> tuple[dict[str, int], set[str]]:
    """The block in which each token was first seen, and the tokens that have a pool."""
    tracked: dict[str, int] = {}
    with_pool: set[str] = set()
    anchors = _anchors(spec)
    for block in blocks:
        for event in block.events:
            seen: set[str] = set()
            if isinstance(event, PoolMade):
                seen |= {event.pool.token0, event.pool.token1} - anchors
                with_pool |= seen
            elif isinstance(event, Launched):
                seen.add(event.token)
            for token in seen:
                tracked.setdefault(token, block.number)
    return tracked, with_pool


def _pool_cells(number: int, at: int, event: PoolMade) -> Cells:
    pool = event.pool
    return (
        *(pool.dex.kind, pool.address, pool.dex.factory, pool.token0, pool.token1),
        *(number, at),
    )


def _launches(blocks: Sequence[ReplayBlock]) -> Iterator[Cells]:
    for block in blocks:
        for at, event in enumerate(block.events):
            if isinstance(event, Launched):
                creator = None if event.event.creator is None else event.creator
                own = block.transaction_hash(block.transactions[at])
                place = (block.number, at)
                yield (event.slug, event.token, event.emitter, creator, own, *place)


def _undecoded(
    blocks: Sequence[ReplayBlock], tracked: dict[str, int]
) -> Iterator[tuple[int, int, EventLog]]:
    for block in blocks:
        for at, event in enumerate(block.events):
            if isinstance(event, Malformed) or (
                isinstance(event, OddTransfer)
                and tracked.get(event.log.address, block.number + 1) <= block.number
            ):
                yield block.number, at, event.log


def _of(kind: type[Event], blocks: Sequence[ReplayBlock]) -> Iterator[tuple[int, int, Event]]:
    for block in blocks:
        for at, event in enumerate(block.events):
            if isinstance(event, kind):
                yield block.number, at, event
