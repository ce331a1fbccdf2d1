"""The clock that a contract sees: `block.number` and `block.timestamp` as the EVM returns them.

It is read by an eth_call, never from a block header: on some chains contracts see Ethereum's block
number, not the chain's own.
"""

import msgspec

from analysis.reads.chain_reads import CallRead
from analysis.reads.eth_reads import WORD, Reply
from analysis.reads.read_batch import ReadBatch

_CODE = bytes.fromhex("436000524260205260406000f3")
"""NUMBER, TIMESTAMP: both words returned. Sent as creation code, whose result an eth_call returns,
so that nothing has to be deployed and the node needs no state overrides."""


class ClockReading(msgspec.Struct, frozen=True, kw_only=True):
    """Both values, from one call."""

    block_number: int
    """`block.number`: on chains that use Ethereum's clock, Ethereum's."""
    time_s: int
    """`block.timestamp`, Unix seconds."""


class ContractClock(msgspec.Struct, frozen=True, kw_only=True):
    """`block.number` and `block.timestamp` as a contract of one chain sees them, with the block
    interval."""

    time_s: int
    """Unix seconds."""
    block_number: int
    """On chains that show contracts Ethereum's block number, that one."""
    block_time_s: float
    """Unix seconds at which `block_number` began."""
    block_interval_s: float
    """Nominal seconds between two values of `block_number`."""

    def moved_on(self, by_s: int) -> "ContractClock":
        """Return the clock `by_s` seconds later: blocks advance by their nominal interval."""
        blocks = int(by_s / self.block_interval_s)
        return ContractClock(
            time_s=self.time_s + by_s,
            block_number=self.block_number + blocks,
            block_time_s=self.block_time_s + blocks * self.block_interval_s,
            block_interval_s=self.block_interval_s,
        )


def clock_at(reading: ClockReading, *, block_interval_s: float) -> ContractClock:
    """Return the clock at the reading; its block is taken to begin then."""
    return ContractClock(
        time_s=reading.time_s,
        block_number=reading.block_number,
        block_time_s=reading.time_s,
        block_interval_s=block_interval_s,
    )


class ClockRead:
    """The call that reads both values."""

    def __init__(self, batch: ReadBatch) -> None:
        self._batch = batch
        self._words = batch.add(CallRead(to=None, data=_CODE), returns=_decode)

    def read(self) -> ClockReading | None:
        """Decode the answer. None: the node failed the call, or returned other than two words.

        Raises UpstreamError for an answer that no call can have.
        """
        return self._batch.get(self._words)


def _decode(reply: Reply) -> ClockReading | None:
    if not isinstance(reply, bytes) or len(reply) != 2 * WORD:
        return None
    return ClockReading(
        block_number=int.from_bytes(reply[:WORD]), time_s=int.from_bytes(reply[WORD:])
    )
