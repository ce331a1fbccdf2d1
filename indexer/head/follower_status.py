"""Status of a follower, for /ready and the status command."""

from collections.abc import Callable

import msgspec

from core.evm.primitives import BlockRef
from indexer.head.second_reads import SecondReadTotals
from indexer.ingest import WrittenSpan
from indexer.watched.token_watch import WatchTotals


class FollowTotals(msgspec.Struct, frozen=True, kw_only=True):
    """Totals of a follower since its start."""

    blocks: int = 0
    """Blocks stored."""
    written: WrittenSpan = WrittenSpan()
    """Their logs and rows."""
    reorgs: int = 0
    unwound_blocks: int = 0
    """Blocks taken back in reorgs."""
    watched: WatchTotals = WatchTotals()
    second_reads: SecondReadTotals = SecondReadTotals()


class FollowStatus(msgspec.Struct, frozen=True, kw_only=True):
    """Status of one chain's follower at one moment."""

    chain_id: int
    head: BlockRef | None = None
    """The node's newest block at the last query. None: it has not answered yet."""
    tip: BlockRef | None = None
    """Our newest block. None: nothing ingested yet."""
    updated_at_s: float = 0.0
    """Unix seconds of the last time the tip was level with the head, or came closer to it."""
    totals: FollowTotals = FollowTotals()
    is_on_wrong_chain: bool = False
    """True while every endpoint that answers serves another chain."""
    last_error: str | None = None
    """Current error, in words. None: there is none."""

    @property
    def lag_blocks(self) -> int | None:
        """Return the number of blocks behind the head. None: unknown."""
        if self.head is None or self.tip is None:
            return None
        return max(0, self.head.number - self.tip.number)


Publish = Callable[[FollowStatus], None]
"""Receives every change of a follower's status, on the event loop's thread."""
