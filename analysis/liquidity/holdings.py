"""Holdings of one pool by holder, before holders are classified.

Base types of the readers of each pool family.
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
    """Share of LiquidityHolding.weight. `gather` sets it."""


class LiquidityHolding(msgspec.Struct, frozen=True, kw_only=True):
    """Holding of one address in one pool."""

    holder: Address
    weight: float
    """LP tokens in smallest units; for positions and bins, their value in smallest units of the
    quote token at the pool's price."""
    parts: tuple[Part, ...]
    pool_key: bytes = b""
    """Words of the pool's key, where a withdrawal has to name them. Empty: not needed or not known.
    """


class PoolHoldings(msgspec.Struct, frozen=True, kw_only=True):
    """All holdings of one pool that were found."""

    holdings: tuple[LiquidityHolding, ...] = ()
    """Largest first."""
    total: float = 0.0
    """Weight of all liquidity. 0: the pool has none, or it is not known."""
    gap: str = ""
    """Why liquidity may be missing from the holdings. Empty: nothing is missing."""


ReadRound = Callable[[ReadBatch], None]
"""Function that adds the reads of one round. Raises UpstreamError for answers of an earlier one."""


class HoldingReads(Protocol):
    """Reads of one pool's holdings, in rounds. A round may depend on the answers of earlier
    ones."""

    def rounds(self) -> Sequence[ReadRound]:
        """Return the rounds: the pool's history, then the balances of its holders."""
        ...

    def named(self) -> Sequence[Address | AnswerAddress]:
        """Return the possible holders that the rounds have named so far, largest first.

        An answer of the latest round's batch may name one.
        """
        ...

    def read(self) -> PoolHoldings:
        """Decode the answers of the rounds. Raises UpstreamError."""
        ...

    def read_quote(self) -> PoolHoldings | None:
        """Return the holdings by the quote tokens that each can withdraw. Raises UpstreamError.

        None: each share of the pool is the same share of both tokens, or bins are not weighed so.
        """
        return None


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
