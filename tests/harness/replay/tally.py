"""Transfers that a back-fill of a replayed chain must find, counted while the chain is made."""

from collections.abc import Iterator
from typing import Literal, get_args

import msgspec

from core.evm.primitives import ZERO_ADDRESS
from tests.harness.replay.block_maker import ReplayBlock, ReplaySpec
from tests.harness.replay.chain_events import EventLog, Launched, OddTransfer, PoolMade, Sent

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
