"""Entry positions: who holds the positions of a pool of Uniswap V4 or PancakeSwap Infinity (CL).

The manager's ModifyLiquidity events name the contract that holds each position and its salt. The
exchange's position manager uses the token id as salt, and says who owns the token; of any other
contract only the contract itself is known. Source: v4-core IPoolManager, v4-periphery
PositionManager; infinity-core ICLPoolManager, infinity-periphery CLPositionManager.
"""

from collections.abc import Sequence
from typing import Final

from analysis.liquidity.holdings import (
    HISTORY_REFUSED,
    AskRound,
    Part,
    PoolHoldings,
    gather,
    history_query,
)
from analysis.liquidity.position_value import Valuation
from analysis.market.venues.pool import Candidate
from analysis.market.venues.uniswap_v4_state import MODIFY_LIQUIDITY, Position
from analysis.reads.chain_reads import AnswerAddress, Handle, RequestHandle
from analysis.reads.eth_reads import Log, decode_address, decode_logs
from analysis.reads.read_batch import ReadBatch
from core.primitives import Address

MOST_POSITIONS: Final = 60
"""Positions whose owners are read, largest first."""

_WORD_DIGITS: Final = 64
_Key = tuple[Address, int, int, int]
"""LiquidityHolding contract, ticks, salt."""


class EntryPositions:
    """Reads of one pool."""

    def __init__(
        self, pool: Candidate, value: Valuation, *, from_block: int | None, to_block: int
    ) -> None:
        self._pool, self._value = pool, value
        self._from_block, self._to_block = from_block, to_block
        self._history: tuple[ReadBatch, RequestHandle[tuple[Log, ...] | None]]
        self._positions: dict[_Key, int] | None = None
        self._owners: dict[_Key, tuple[ReadBatch, Handle[Address | None]]] = {}

    def rounds(self) -> tuple[AskRound, ...]:
        """Return the two rounds."""
        return self._ask_history, self._ask_owners

    def _ask_history(self, batch: ReadBatch) -> None:
        query = history_query(
            self._pool,
            [MODIFY_LIQUIDITY, self._pool.key],
            from_block=self._from_block,
            to_block=self._to_block,
        )
        self._history = batch, batch.request(query, returns=decode_logs)

    def _sum_changes(self) -> None:
        """Add up the manager's events, which are its own. Raises UpstreamError."""
        first, handle = self._history
        logs = first[handle]
        if logs is None:
            return
        found: dict[_Key, int] = {}
        for log in logs:
            lower, upper, delta, salt = (
                int(log.data[at : at + _WORD_DIGITS], 16)
                for at in range(2, 2 + 4 * _WORD_DIGITS, _WORD_DIGITS)
            )
            key = Address("0x" + log.topics[2][-40:]), _signed(lower), _signed(upper), salt
            found[key] = found.get(key, 0) + _signed(delta)
        self._positions = {key: held for key, held in found.items() if held > 0}

    def _ask_owners(self, batch: ReadBatch) -> None:
        """Add the owners of the largest positions of the position manager. Raises UpstreamError."""
        self._sum_changes()
        managed = [
            key
            for key in sorted(self._positions or {}, key=self._weight, reverse=True)
            if key[0] == self._pool.dex.position_manager
        ]
        for key in managed[:MOST_POSITIONS]:
            owner = batch.call(key[0], "ownerOf(uint256)", key[3], returns=decode_address)
            self._owners[key] = batch, owner

    def named(self) -> Sequence[Address | AnswerAddress]:
        """Return the owners of the manager's positions, and the other contracts."""
        others = (key[0] for key in self._positions or {} if key not in self._owners)
        return *(AnswerAddress(owner) for _, owner in self._owners.values()), *others

    def read(self) -> PoolHoldings:
        """Decode the positions. Raises UpstreamError."""
        if self._positions is None:
            return PoolHoldings(total=self._value.reserves, gap=HISTORY_REFUSED)
        owned, unread = [], 0
        for key, held in self._positions.items():
            part, holder = Part(amount=held), key[0]
            if holder == self._pool.dex.position_manager:
                batch, owner = self._owners.get(key, (None, None))
                found = None if batch is None or owner is None else batch[owner]
                if found is None:
                    unread += 1
                    continue
                part, holder = Part(amount=held, token_id=key[3]), found
            owned.append((holder, self._weight(key), part))
        every = [_position(key, held) for key, held in self._positions.items()]
        total, gap = self._value.of(every), ""
        if unread:
            gap = f"the owners of {unread} positions are not read"
        if not self._value.is_whole(every):
            total, gap = max(total, self._value.reserves), "the pool's events do not add up"
        return gather(owned, total=total, gap=gap)

    def _weight(self, key: _Key) -> float:
        return self._value.of([_position(key, (self._positions or {})[key])])


def _position(key: _Key, held: int) -> Position:
    return Position(lower=key[1], upper=key[2], liquidity=held)


def _signed(word: int) -> int:
    return word - 2**256 if word >> 255 else word
