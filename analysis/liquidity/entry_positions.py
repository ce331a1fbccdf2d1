"""Holders of the positions of a Uniswap V4 or PancakeSwap Infinity (CL) pool.

The manager's ModifyLiquidity events name the contract that holds each position and its salt. The
exchange's position manager uses the token id as salt and returns the token's owner; of any other
contract only the contract itself is known. Where a node returns only the first events, the
manager's positions among them are read in their present state. Source: v4-core IPoolManager,
v4-periphery PositionManager; infinity-core ICLPoolManager, infinity-periphery CLPositionManager.
"""

from collections.abc import Sequence
from typing import Final

import msgspec

from analysis.liquidity.holdings import (
    HISTORY_REFUSED,
    Part,
    PoolHoldings,
    ReadRound,
    gather,
)
from analysis.liquidity.pool_history import PoolHistory, PoolSpan
from analysis.liquidity.position_value import Valuation
from analysis.market.venues.state.uniswap_v4_state import MODIFY_LIQUIDITY, Position
from analysis.reads.chain_reads import AnswerAddress, Handle
from analysis.reads.eth_reads import Log, decode_address, decode_logs, decode_uint
from analysis.reads.read_batch import ReadBatch
from core.evm.primitives import Address

MOST_POSITIONS: Final = 60
"""Positions whose owners are read, largest first."""

_WORD_DIGITS: Final = 64
_Key = tuple[Address, int, int, int]
"""Contract that holds the position, ticks, salt."""


class _Token(msgspec.Struct, frozen=True, kw_only=True):
    """The reads of one token of the position manager."""

    batch: ReadBatch
    owner: Handle[Address | None]
    liquidity: Handle[int | None] | None
    """None: it follows from the events."""


class EntryPositions:
    """Reads of one pool."""

    def __init__(self, span: PoolSpan, value: Valuation) -> None:
        self._span, self._pool, self._value = span, span.pool, value
        self._history: PoolHistory[Log]
        self._positions: dict[_Key, int] = {}
        """Liquidity of each position, by the events that were found."""
        self._tokens: dict[_Key, _Token] = {}

    def rounds(self) -> tuple[ReadRound, ...]:
        """Return the two rounds."""
        return self._request_history, self._request_owners

    def _request_history(self, batch: ReadBatch) -> None:
        self._history = self._span.request(
            batch,
            [MODIFY_LIQUIDITY, self._pool.key],
            returns=decode_logs,
        )

    def _request_owners(self, batch: ReadBatch) -> None:
        """Add the owners of the largest positions of the position manager. Raises UpstreamError."""
        self._positions = _sum_changes(self._history.read())
        largest = sorted(self._positions, key=self._weight, reverse=True)
        managed = [key for key in largest if key[0] == self._pool.dex.position_manager]
        for key in managed[:MOST_POSITIONS]:
            manager, token_id = key[0], key[3]
            owner = batch.call(manager, "ownerOf(uint256)", token_id, returns=decode_address)
            liquidity = None
            if not self._history.is_whole:
                # Later events, which the node does not return, may have removed some.
                liquidity = batch.call(
                    manager, "getPositionLiquidity(uint256)", token_id, returns=decode_uint
                )
            self._tokens[key] = _Token(batch=batch, owner=owner, liquidity=liquidity)

    def named(self) -> Sequence[Address | AnswerAddress]:
        """Return the owners of the manager's positions, and the other contracts."""
        owners = (AnswerAddress(token.owner) for token in self._tokens.values())
        others = (key[0] for key in self._positions if key not in self._tokens)
        return *owners, *others

    def read(self) -> PoolHoldings:
        """Decode the positions. Raises UpstreamError."""
        if not self._history.is_whole:
            return self._read_part()
        owned, unread = [], 0
        for key, liquidity in self._positions.items():
            part, holder = Part(amount=liquidity), key[0]
            if holder == self._pool.dex.position_manager:
                token = self._tokens.get(key)
                found = None if token is None else token.batch[token.owner]
                if found is None:
                    unread += 1
                    continue
                part, holder = Part(amount=liquidity, token_id=key[3]), found
            owned.append((holder, self._weight(key), part))
        every = [_position(key, liquidity) for key, liquidity in self._positions.items()]
        total, gap = self._value.of(every), ""
        if unread:
            gap = f"the owners of {unread} positions are not read"
        if not self._value.is_whole(every):
            total, gap = self._value.least_total(every), "the pool's events do not add up"
        return gather(owned, total=total, gap=gap)

    def _read_part(self) -> PoolHoldings:
        """Return the present liquidity of the manager's positions in the first events."""
        owned, every = [], []
        for key, token in self._tokens.items():
            owner = token.batch[token.owner]
            liquidity = 0 if token.liquidity is None else token.batch[token.liquidity] or 0
            if owner is not None and liquidity:
                position = _position(key, liquidity)
                every.append(position)
                part = Part(amount=liquidity, token_id=key[3])
                owned.append((owner, self._value.of([position]), part))
        return gather(owned, total=self._value.least_total(every), gap=HISTORY_REFUSED)

    def _weight(self, key: _Key) -> float:
        return self._value.of([_position(key, self._positions[key])])


def _sum_changes(logs: Sequence[Log]) -> dict[_Key, int]:
    """Return the liquidity that the manager's events leave in each position."""
    found: dict[_Key, int] = {}
    for log in logs:
        lower, upper, delta, salt = (
            int(log.data[at : at + _WORD_DIGITS], 16)
            for at in range(2, 2 + 4 * _WORD_DIGITS, _WORD_DIGITS)
        )
        key = Address("0x" + log.topics[2][-40:]), _signed(lower), _signed(upper), salt
        found[key] = found.get(key, 0) + _signed(delta)
    return {key: liquidity for key, liquidity in found.items() if liquidity > 0}


def _position(key: _Key, liquidity: int) -> Position:
    return Position(lower=key[1], upper=key[2], liquidity=liquidity)


def _signed(word: int) -> int:
    return word - 2**256 if word >> 255 else word
