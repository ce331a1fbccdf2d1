"""Holders of the LP tokens of a pair (Uniswap V2, Solidly and their forks).

Holders come from the pair's Transfer events, besides burn addresses, lockers and the creator.
Balances and supply are then read from the pair, which a known factory deployed, so balances without
an event are missing from the sum, and are reported as a gap. Source: v2-core UniswapV2ERC20.
"""

from collections.abc import Sequence
from typing import Final

from analysis.liquidity.holdings import (
    HISTORY_REFUSED,
    HoldingReads,
    Part,
    PoolHoldings,
    ReadRound,
    gather,
)
from analysis.liquidity.pool_history import PoolHistory, PoolSpan
from analysis.reads.chain_reads import Handle
from analysis.reads.eth_reads import Log, decode_logs, decode_uint
from analysis.reads.read_batch import ReadBatch
from core.evm.abi import topic_of
from core.evm.primitives import Address

MOST_HOLDERS: Final = 60
"""Most balances that are read besides those of known addresses."""

_TRANSFER: Final = topic_of("Transfer(address,address,uint256)")
_TOPICS: Final = 3


class LpBalances(HoldingReads):
    """Reads of one pair."""

    def __init__(self, span: PoolSpan, known: Sequence[Address]) -> None:
        """`known`: addresses whose balances are read in any case."""
        self._span, self._pool = span, span.pool
        self._known = tuple(dict.fromkeys((*known, span.pool.pool)))
        self._history: PoolHistory[Log]
        self._supply: tuple[ReadBatch, Handle[int | None]]
        self._balances: dict[Address, tuple[ReadBatch, Handle[int | None]]] = {}
        self._named: list[Address] = []
        self._unread = 0

    def rounds(self) -> tuple[ReadRound, ...]:
        """Return the two rounds."""
        return self._request_history, self._request_holders

    def _request_history(self, batch: ReadBatch) -> None:
        """Add the query for transfers, the supply, and the balances of the known."""
        self._history = self._span.request(
            batch,
            [_TRANSFER],
            returns=decode_logs,
        )
        self._supply = (
            batch,
            batch.call(self._pool.pool, "totalSupply()", returns=decode_uint),
        )
        self._request_balances(batch, self._known)

    def _request_holders(self, batch: ReadBatch) -> None:
        """Add the balances of the largest holders by transfers. Raises UpstreamError."""
        left = _balances_by_events(self._history.read(), self._pool.pool)
        self._named = sorted(
            (holder for holder, amount in left.items() if amount > 0),
            key=lambda holder: -left[holder],
        )
        unknown = [holder for holder in self._named if holder not in self._balances]
        self._unread = max(0, len(unknown) - MOST_HOLDERS)
        self._request_balances(batch, unknown[:MOST_HOLDERS])

    def named(self) -> Sequence[Address]:
        """Return the holders by transfers, largest first."""
        return self._named

    def read(self) -> PoolHoldings:
        """Decode the balances. Raises UpstreamError."""
        first, handle = self._supply
        supply = first[handle] or 0
        balances = {holder: batch[read] or 0 for holder, (batch, read) in self._balances.items()}
        gap = ""
        if sum(balances.values()) < supply:
            gap = f"{self._unread} small holders are not read" if self._unread else ""
            gap = gap or (
                "not every holder is known" if self._history.is_whole else HISTORY_REFUSED
            )
        return gather(
            [
                (holder, float(balance), Part(amount=balance))
                for holder, balance in balances.items()
            ],
            # A pair of another kind may return balances beyond its supply.
            total=float(max(supply, sum(balances.values()))),
            gap=gap,
        )

    def _request_balances(self, batch: ReadBatch, holders: Sequence[Address]) -> None:
        for holder in holders:
            read = batch.call(self._pool.pool, "balanceOf(address)", holder, returns=decode_uint)
            self._balances[holder] = batch, read


def _balances_by_events(logs: Sequence[Log], pool: Address) -> dict[Address, int]:
    """Return balances by transfers; negative where they do not add up."""
    left: dict[Address, int] = {}
    for log in logs:
        if log.address != pool or len(log.topics) != _TOPICS:
            continue
        amount = int(log.data, 16) if log.data != "0x" else 0
        sender, receiver = (Address("0x" + topic[-40:]) for topic in log.topics[1:3])
        left[sender] = left.get(sender, 0) - amount
        left[receiver] = left.get(receiver, 0) + amount
    return left
