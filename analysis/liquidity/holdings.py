"""Holdings: the parts of one pool's liquidity, by who holds them, before anything is said of the
holders. The base of the readers of each pool family.
"""

from collections.abc import Sequence
from typing import Protocol

import msgspec

from analysis.market.venues.pool import Candidate
from analysis.reads.read_batch import ReadBatch
from core.primitives import Address
from core.rpc.messages import RpcRequest


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """One LP balance, or one position."""

    amount: int
    """LP tokens in smallest units, or the liquidity of a position."""
    token_id: int | None = None
    """Id of the position at the position manager. None: an LP balance, or a position that is no
    token."""


class LiquidityHolding(msgspec.Struct, frozen=True, kw_only=True):
    """What one address holds of one pool's liquidity."""

    holder: Address
    weight: float
    """LP tokens in smallest units; for positions, their value in smallest units of the quote token
    at the pool's price."""
    parts: tuple[Part, ...]


class PoolHoldings(msgspec.Struct, frozen=True, kw_only=True):
    """All holdings of one pool that were found."""

    holdings: tuple[LiquidityHolding, ...] = ()
    """Largest first."""
    total: float = 0.0
    """Weight of all liquidity. 0: the pool has none, or it is not known."""
    gap: str = ""
    """Why liquidity may be missing from the holdings. Empty: nothing is missing."""


class HoldingReads(Protocol):
    """Reads of one pool's holdings, in three rounds. What a round adds may depend on the answers
    of the one before."""

    def ask_history(self, batch: ReadBatch) -> None:
        """Add the reads that name holders or positions."""
        ...

    def ask_positions(self, batch: ReadBatch) -> None:
        """Add the reads of what those hold. Raises UpstreamError."""
        ...

    def ask_owners(self, batch: ReadBatch) -> None:
        """Add the reads of who owns the positions. Raises UpstreamError."""
        ...

    def read(self) -> PoolHoldings:
        """Decode what the three rounds brought. Raises UpstreamError."""
        ...


def gather(owned: Sequence[tuple[Address, float, Part]], *, total: float, gap: str) -> PoolHoldings:
    """Return the holdings of parts, each with its holder and weight."""
    weights: dict[Address, float] = {}
    parts: dict[Address, list[Part]] = {}
    for holder, weight, part in owned:
        weights[holder] = weights.get(holder, 0.0) + weight
        parts.setdefault(holder, []).append(part)
    largest = sorted(weights, key=lambda holder: (-weights[holder], holder))
    return PoolHoldings(
        holdings=tuple(
            LiquidityHolding(holder=holder, weight=weights[holder], parts=tuple(parts[holder]))
            for holder in largest
            if weights[holder] > 0
        ),
        total=total,
        gap=gap,
    )


def history_query(
    pool: Candidate, topics: Sequence[object], *, from_block: int | None, to_block: int
) -> RpcRequest:
    """Return the query for a pool's events. `from_block` None: the exchange's first, or 0."""
    first = pool.dex.from_block or 0 if from_block is None else from_block
    query = {
        "address": pool.pool,
        "topics": list(topics),
        "fromBlock": hex(min(first, to_block)),
        "toBlock": hex(to_block),
    }
    return RpcRequest("eth_getLogs", (query,))


HISTORY_REFUSED = "the node does not give all events of the pool"
"""PoolHoldings.gap where the query for events was refused."""
