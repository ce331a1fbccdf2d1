"""Holdings: the parts of one pool's liquidity, by who holds them, before anything is said of the
holders. The base of the readers of each pool family.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

import msgspec

from analysis.reads.chain_reads import AnswerAddress
from analysis.reads.read_batch import ReadBatch
from core.evm.primitives import Address
from core.rpc.messages import RpcRequest


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """One LP balance, or one position."""

    amount: int
    """LP tokens in smallest units, the liquidity of a position, or shares of a bin."""
    token_id: int | None = None
    """Id of the position at the position manager, or of the token of a bin's shares. None: an LP
    balance, or a position that is no token."""
    bin_id: int | None = None
    """Number of the bin whose shares these are. None: the pool has no bins."""
    weight: float = 0.0
    """What it adds to LiquidityHolding.weight, which `gather` fills in."""


class LiquidityHolding(msgspec.Struct, frozen=True, kw_only=True):
    """What one address holds of one pool's liquidity."""

    holder: Address
    weight: float
    """LP tokens in smallest units; for positions and bins, their value in smallest units of the
    quote token at the pool's price."""
    parts: tuple[Part, ...]
    pool_key: bytes = b""
    """The words of the pool's key, where a withdrawal has to name them. Empty: it has not, or they
    are not known."""


class PoolHoldings(msgspec.Struct, frozen=True, kw_only=True):
    """All holdings of one pool that were found."""

    holdings: tuple[LiquidityHolding, ...] = ()
    """Largest first."""
    total: float = 0.0
    """Weight of all liquidity. 0: the pool has none, or it is not known."""
    gap: str = ""
    """Why liquidity may be missing from the holdings. Empty: nothing is missing."""


AskRound = Callable[[ReadBatch], None]
"""Adds the reads of one round. Raises UpstreamError for answers of an earlier one."""


class HoldingReads(Protocol):
    """Reads of one pool's holdings, in rounds: what one adds may depend on the answers of those
    before it."""

    def rounds(self) -> Sequence[AskRound]:
        """Return the rounds: who is named by the pool's history, then what those hold."""
        ...

    def named(self) -> Sequence[Address | AnswerAddress]:
        """Return who may turn out to be a holder, those with most first, as the rounds so far name
        them; an answer of the latest round's batch may name one."""
        ...

    def read(self) -> PoolHoldings:
        """Decode what the rounds brought. Raises UpstreamError."""
        ...


def gather(
    owned: Sequence[tuple[Address, float, Part]], *, total: float, gap: str, pool_key: bytes = b""
) -> PoolHoldings:
    """Return the holdings of parts, each with its holder and weight."""
    weights: dict[Address, float] = {}
    parts: dict[Address, list[Part]] = {}
    for holder, weight, part in owned:
        weights[holder] = weights.get(holder, 0.0) + weight
        parts.setdefault(holder, []).append(msgspec.structs.replace(part, weight=weight))
    largest = sorted(weights, key=lambda holder: (-weights[holder], holder))
    return PoolHoldings(
        holdings=tuple(
            LiquidityHolding(
                holder=holder,
                weight=weights[holder],
                parts=tuple(parts[holder]),
                pool_key=pool_key,
            )
            for holder in largest
            if weights[holder] > 0
        ),
        total=total,
        gap=gap,
    )


def log_query(
    address: Address, topics: Sequence[object], *, from_block: int, to_block: int
) -> RpcRequest:
    """Return the query for a contract's events in some blocks."""
    query = {
        "address": address,
        "topics": list(topics),
        "fromBlock": hex(from_block),
        "toBlock": hex(to_block),
    }
    return RpcRequest("eth_getLogs", (query,))


HISTORY_REFUSED = "the node does not give all events of the pool"
"""PoolHoldings.gap where the query for events was refused."""
