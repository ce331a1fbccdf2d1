"""Entry positions: who holds the positions of a pool of Uniswap V4 or PancakeSwap Infinity (CL).

The manager's ModifyLiquidity events name the contract that holds each position and its salt. The
exchange's position manager uses the token id as salt, and says who owns the token; of any other
contract only the contract itself is known. Where a node gives the first events alone, the manager's
positions among them are read as they are now. Source: v4-core IPoolManager, v4-periphery
PositionManager; infinity-core ICLPoolManager, infinity-periphery CLPositionManager.
"""

from collections.abc import Sequence
from typing import Final

import msgspec

from analysis.liquidity.holdings import (
    HISTORY_REFUSED,
    AskRound,
    Part,
    PoolHoldings,
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
    """None: events tell it."""


class EntryPositions:
    """Reads of one pool."""

    def __init__(self, span: PoolSpan, value: Valuation) -> None:
        self._span, self._pool, self._value = span, span.pool, value
        self._history: PoolHistory[Log]
        self._positions: dict[_Key, int] = {}
        """Liquidity of each position, as far as the events were searched."""
        self._tokens: dict[_Key, _Token] = {}

    def rounds(self) -> tuple[AskRound, ...]:
        """Return the two rounds."""
        return self._ask_history, self._ask_owners

    def _ask_history(self, batch: ReadBatch) -> None:
        self._history = self._span.ask(
            batch,
            [MODIFY_LIQUIDITY, self._pool.key],
            returns=decode_logs,
        )

    def _ask_owners(self, batch: ReadBatch) -> None:
        """Add the owners of the largest positions of the position manager. Raises UpstreamError."""
        self._positions = _sum_changes(self._history.read())
        largest = sorted(self._positions, key=self._weight, reverse=True)
        managed = [key for key in largest if key[0] == self._pool.dex.position_manager]
        for key in managed[:MOST_POSITIONS]:
            manager, token_id = key[0], key[3]
            owner = batch.call(manager, "ownerOf(uint256)", token_id, returns=decode_address)
            liquidity = None
            if not self._history.is_whole:
                # Later events, which the node does not give, may have taken some.
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
        for key, held in self._positions.items():
            part, holder = Part(amount=held), key[0]
            if holder == self._pool.dex.position_manager:
                token = self._tokens.get(key)
                found = None if token is None else token.batch[token.owner]
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
            total, gap = self._value.least_total(every), "the pool's events do not add up"
        return gather(owned, total=total, gap=gap)

    def _read_part(self) -> PoolHoldings:
        """Return what the manager's positions have now of which the first events tell."""
        owned, every = [], []
        for key, token in self._tokens.items():
            owner = token.batch[token.owner]
            held = 0 if token.liquidity is None else token.batch[token.liquidity] or 0
            if owner is not None and held:
                position = _position(key, held)
                every.append(position)
                part = Part(amount=held, token_id=key[3])
                owned.append((owner, self._value.of([position]), part))
        return gather(owned, total=self._value.least_total(every), gap=HISTORY_REFUSED)

    def _weight(self, key: _Key) -> float:
        return self._value.of([_position(key, self._positions[key])])


def _sum_changes(logs: Sequence[Log]) -> dict[_Key, int]:
    """Return what events of the manager, which are its own, leave of each position."""
    found: dict[_Key, int] = {}
    for log in logs:
        lower, upper, delta, salt = (
            int(log.data[at : at + _WORD_DIGITS], 16)
            for at in range(2, 2 + 4 * _WORD_DIGITS, _WORD_DIGITS)
        )
        key = Address("0x" + log.topics[2][-40:]), _signed(lower), _signed(upper), salt
        found[key] = found.get(key, 0) + _signed(delta)
    return {key: held for key, held in found.items() if held > 0}


def _position(key: _Key, held: int) -> Position:
    return Position(lower=key[1], upper=key[2], liquidity=held)


def _signed(word: int) -> int:
    return word - 2**256 if word >> 255 else word
