"""Holders of the positions of a Uniswap V4 or PancakeSwap Infinity (CL) pool.

The manager's ModifyLiquidity events name the contract that holds each position and its salt. The
exchange's position manager uses the token id as salt and returns the token's owner; of any other
contract only the contract itself is known. Where a node returns only the first events, the
manager's positions among them, and its newest tokens, are read in their present state. Source:
v4-core IPoolManager, v4-periphery PositionManager; infinity-core ICLPoolManager,
infinity-periphery CLPositionManager.
"""

from collections.abc import Sequence
from typing import Final

import msgspec

from analysis.liquidity.holdings import (
    HISTORY_REFUSED,
    HoldingReads,
    Part,
    PoolHoldings,
    ReadRound,
    gather,
)
from analysis.liquidity.pool_history import PoolHistory, PoolSpan
from analysis.liquidity.position_search import decode_packed, newest_ids
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


class EntryPositions(HoldingReads):
    """Reads of one pool."""

    def __init__(self, span: PoolSpan, value: Valuation) -> None:
        self._span, self._pool, self._value = span, span.pool, value
        self._history: PoolHistory[Log]
        self._positions: dict[_Key, int] = {}
        """Liquidity of each position, by the events that were found."""
        self._tokens: dict[_Key, _Token] = {}
        self._next_id: tuple[ReadBatch, Handle[int | None]] | None = None
        self._newest: dict[int, tuple[Handle[int | None], _Token]] = {}
        """Tokens by id, each with the read of its pool and ticks."""

    def rounds(self) -> tuple[ReadRound, ...]:
        """Return the three rounds; the last one is empty unless events are missing."""
        return self._request_history, self._request_owners, self._request_newest

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
        manager, is_missing = self._pool.dex.position_manager, self._history.is_missing
        managed = [key for key in largest if key[0] == manager]
        for key in managed[:MOST_POSITIONS]:
            # Later events, which the node does not return, may have removed some.
            self._tokens[key] = _request_token(batch, key[0], key[3], is_present=is_missing)
        if is_missing and manager is not None:
            self._next_id = batch, batch.call(manager, "nextTokenId()", returns=decode_uint)

    def _request_newest(self, batch: ReadBatch) -> None:
        """Add the newest tokens, of whatever pool. Raises UpstreamError."""
        manager = self._pool.dex.position_manager
        if self._next_id is None or manager is None:
            return
        before, handle = self._next_id
        for token_id in newest_ids(before[handle]):
            info = batch.call(manager, "positionInfo(uint256)", token_id, returns=decode_uint)
            token = _request_token(batch, manager, token_id, is_present=True)
            self._newest[token_id] = info, token

    def named(self) -> Sequence[Address | AnswerAddress]:
        """Return the owners of the manager's positions, and the other contracts."""
        owners = (AnswerAddress(token.owner) for token in self._tokens.values())
        others = (key[0] for key in self._positions if key not in self._tokens)
        return *owners, *others

    def read(self) -> PoolHoldings:
        """Decode the positions. Raises UpstreamError."""
        return self._read(self._value)

    def read_quote(self) -> PoolHoldings:
        """Decode the positions by their quote tokens alone. Raises UpstreamError."""
        return self._read(self._value.quote_only())

    def _read(self, value: Valuation) -> PoolHoldings:
        if self._history.is_missing:
            return self._read_part(value)
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
            owned.append((holder, value.of([_position(key, liquidity)]), part))
        every = [_position(key, liquidity) for key, liquidity in self._positions.items()]
        total, gap = value.of(every), ""
        if unread:
            gap = f"the owners of {unread} positions are not read"
        if not value.is_whole(every):
            total, gap = value.least_total(every), "the pool's events do not add up"
        return gather(owned, total=total, gap=gap)

    def _read_part(self, value: Valuation) -> PoolHoldings:
        """Return the present liquidity of the manager's positions in the first events."""
        owned, every = [], []
        for key, token in (self._tokens | self._read_newest()).items():
            owner = token.batch[token.owner]
            liquidity = 0 if token.liquidity is None else token.batch[token.liquidity] or 0
            if owner is not None and liquidity:
                position = _position(key, liquidity)
                every.append(position)
                part = Part(amount=liquidity, token_id=key[3])
                owned.append((owner, value.of([position]), part))
        return gather(owned, total=value.least_total(every), gap=HISTORY_REFUSED)

    def _read_newest(self) -> dict[_Key, _Token]:
        """Return those of the newest tokens that are of this pool. Raises UpstreamError."""
        manager, found = self._pool.dex.position_manager, dict[_Key, _Token]()
        for token_id, (info, token) in self._newest.items():
            ticks = decode_packed(token.batch[info], self._pool.key)
            if ticks is not None and manager is not None:
                found[manager, *ticks, token_id] = token
        return found

    def _weight(self, key: _Key) -> float:
        return self._value.of([_position(key, self._positions[key])])


def _request_token(
    batch: ReadBatch, manager: Address, token_id: int, *, is_present: bool
) -> _Token:
    """Add the owner of a token. `is_present`: its present liquidity too."""
    owner = batch.call(manager, "ownerOf(uint256)", token_id, returns=decode_address)
    liquidity = None
    if is_present:
        liquidity = batch.call(
            manager, "getPositionLiquidity(uint256)", token_id, returns=decode_uint
        )
    return _Token(batch=batch, owner=owner, liquidity=liquidity)


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
