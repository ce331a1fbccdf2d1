"""Holders of the positions of a Uniswap V3, Algebra or Slipstream pool, or of a fork.

The pool's Mint events name the holder of each position: the exchange's position manager, or another
contract. The manager's IncreaseLiquidity event in the same block names the token of a mint, whose
liquidity and owner are then read from the manager. The sum is compared with the pool's liquidity in
range. Where a node lacks the events, a few tokens of the manager are searched. Source: v3-core
IUniswapV3PoolEvents, v3-periphery INonfungiblePositionManager, and Algebra's.
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
    log_query,
)
from analysis.liquidity.pool_history import PoolHistory, PoolSpan
from analysis.liquidity.position_search import EnumeratedTokens, decode_listed
from analysis.liquidity.position_value import Valuation
from analysis.market.venues.pool import Candidate
from analysis.market.venues.state.uniswap_v4_state import Position
from analysis.reads.chain_reads import AnswerAddress, Handle, RequestHandle
from analysis.reads.eth_reads import (
    Log,
    MinedLog,
    NoAnswer,
    Reply,
    decode_address,
    decode_logs,
    decode_mined_logs,
    decode_uint,
    words_of,
)
from analysis.reads.read_batch import ReadBatch
from core.evm.abi import topic_of
from core.evm.keccak import keccak
from core.evm.primitives import Address

MOST_BLOCKS: Final = 40
"""Blocks that are searched for token ids, those of the largest mints first."""

MOST_POSITIONS: Final = 60
"""Positions that are read, of either kind."""

_MINT: Final = topic_of("Mint(address,address,int24,int24,uint128,uint256,uint256)")
_INCREASES: Final = (
    topic_of("IncreaseLiquidity(uint256,uint128,uint256,uint256)"),
    topic_of("IncreaseLiquidity(uint256,uint128,uint128,uint256,uint256,address)"),  # Algebra
)
_AMOUNT_AT: Final = 2 + 64
_WORD: Final = 32
_TICK_BYTES: Final = 3


_Range = tuple[Address, int, int]
"""Holder and ticks."""


class _Token(msgspec.Struct, frozen=True, kw_only=True):
    """The reads of one token of the position manager."""

    batch: ReadBatch
    position: Handle[Reply]
    owner: Handle[Address | None]
    is_searched: bool
    """True if no event names it."""


class MintedPositions(HoldingReads):
    """Reads of one pool."""

    def __init__(self, span: PoolSpan, value: Valuation, known: Sequence[Address]) -> None:
        """`known`: accounts whose newest tokens are searched where events are missing."""
        self._span, self._pool, self._value = span, span.pool, value
        self._manager = span.pool.dex.position_manager
        self._search = _search_of(span.pool, known)
        self._history: PoolHistory[MinedLog]
        self._increases: tuple[ReadBatch, list[RequestHandle[tuple[Log, ...] | None]]]
        self._others: dict[_Range, Handle[int | None]] = {}
        self._tokens: dict[int, _Token] = {}
        self._gap = ""

    def rounds(self) -> tuple[ReadRound, ...]:
        """Return the four rounds; the last one is empty unless events are missing."""
        return (
            self._request_history,
            self._request_positions,
            self._request_owners,
            self._request_searched,
        )

    def _request_history(self, batch: ReadBatch) -> None:
        self._history = self._span.request(
            batch,
            [_MINT],
            returns=decode_mined_logs,
        )

    def _request_positions(self, batch: ReadBatch) -> None:
        """Add the manager's events in the blocks of its mints, and the positions of other
        contracts. Raises UpstreamError."""
        if self._history.is_missing:
            self._gap = HISTORY_REFUSED
            if self._search is not None:
                self._search.request_counts(batch)
        ordered = sorted(self._history.read(), key=lambda log: -_amount(log))
        managed = [log.block_number for log in ordered if _range(log)[0] == self._manager]
        blocks = [int(number, 16) for number in dict.fromkeys(managed)]
        if len(blocks) > MOST_BLOCKS:
            self._gap = f"mints in {len(blocks) - MOST_BLOCKS} blocks are not read"
        self._increases = (
            batch,
            [
                batch.request(
                    log_query(self._manager, [list(_INCREASES)], from_block=at, to_block=at),
                    returns=decode_logs,
                )
                for at in blocks[:MOST_BLOCKS]
                if self._manager is not None
            ],
        )
        others = dict.fromkeys(_range(log) for log in ordered if _range(log)[0] != self._manager)
        if len(others) > MOST_POSITIONS:
            self._gap = f"{len(others) - MOST_POSITIONS} positions are not read"
        for key in list(others)[:MOST_POSITIONS]:
            self._others[key] = batch.call(
                self._pool.pool, "positions(bytes32)", _position_key(*key), returns=decode_uint
            )

    def _request_owners(self, batch: ReadBatch) -> None:
        """Add the liquidity and the owner of each token. Raises UpstreamError."""
        before, handles = self._increases
        increases = [before[handle] for handle in handles]
        if None in increases:
            self._gap = "the node does not give the events of the position manager"
        # Tokens of other pools that are minted in these blocks are left out when read.
        found = dict.fromkeys(
            int(log.topics[1], 16)
            for logs in increases
            for log in logs or ()
            if log.address == self._manager and log.topics[0] in _INCREASES
        )
        if self._search is not None and self._history.is_missing:
            self._search.request_ids(batch)
        self._request_tokens(batch, list(found)[:MOST_POSITIONS], is_searched=False)

    def _request_searched(self, batch: ReadBatch) -> None:
        """Add the tokens that no event names. Raises UpstreamError."""
        if self._search is not None:
            ids = [one for one in self._search.read() if one not in self._tokens]
            self._request_tokens(batch, ids, is_searched=True)

    def _request_tokens(self, batch: ReadBatch, ids: Sequence[int], *, is_searched: bool) -> None:
        if self._manager is None:
            return
        for token_id in ids:
            self._tokens[token_id] = _Token(
                batch=batch,
                position=batch.call(self._manager, "positions(uint256)", token_id),
                owner=batch.call(
                    self._manager, "ownerOf(uint256)", token_id, returns=decode_address
                ),
                is_searched=is_searched,
            )

    def named(self) -> Sequence[Address | AnswerAddress]:
        """Return the owners of the manager's positions, and the other contracts."""
        tokens = self._tokens.values()
        # Most of the searched tokens are of other pools.
        owners = (AnswerAddress(token.owner) for token in tokens if not token.is_searched)
        return *owners, *(owner for owner, _, _ in self._others)

    def read(self) -> PoolHoldings:
        """Decode the positions. Raises UpstreamError."""
        return self._read(self._value)

    def read_quote(self) -> PoolHoldings:
        """Decode the positions by their quote tokens alone. Raises UpstreamError."""
        return self._read(self._value.quote_only())

    def _read(self, value: Valuation) -> PoolHoldings:
        owned, every = [], []
        for holder, position, token_id in (*self._read_tokens(), *self._read_others()):
            every.append(position)
            part = Part(amount=position.liquidity, token_id=token_id)
            owned.append((holder, value.of([position]), part))
        total, gap = value.of(every), self._gap
        if not gap and not value.is_whole(every):
            gap = "the positions that were found are not all of the pool's liquidity"
        return gather(owned, total=max(total, value.reserves) if gap else total, gap=gap)

    def _read_tokens(self) -> Sequence[tuple[Address, Position, int | None]]:
        mints = self._history.read()
        ranges = {_range(log)[1:] for log in mints if _range(log)[0] == self._manager}
        read: list[tuple[Address, Position, int | None]] = []
        for token_id, token in self._tokens.items():
            reply = token.batch[token.position]
            if token.is_searched:
                position = decode_listed(reply, self._pool)
            else:
                position = _decode_position(reply, self._pool, ranges)
            owner = token.batch[token.owner]
            if owner is not None and position is not None and position.liquidity:
                read.append((owner, position, token_id))
        return read

    def _read_others(self) -> Sequence[tuple[Address, Position, int | None]]:
        batch, _ = self._increases
        return [
            (owner, Position(lower=lower, upper=upper, liquidity=liquidity), None)
            for (owner, lower, upper), handle in self._others.items()
            if (liquidity := batch[handle])
        ]


def _search_of(pool: Candidate, known: Sequence[Address]) -> EnumeratedTokens | None:
    """Return the search. None: there is no manager, or its tokens do not name the pool's key."""
    has_key = pool.fee is not None or pool.tick_spacing is not None
    manager = pool.dex.position_manager
    return EnumeratedTokens(manager, known) if manager is not None and has_key else None


def _decode_position(
    reply: Reply, pool: Candidate, ranges: set[tuple[int, int]]
) -> Position | None:
    """Return the position of a token, at any place in the fork's reply. None: of another pool.

    The two tokens are adjacent, followed by the pool's key. The liquidity follows two ticks that a
    mint named.
    """
    if isinstance(reply, NoAnswer):
        return None
    words = words_of(reply)
    tokens = sorted((int(pool.token, 16), int(pool.quote, 16)))
    keys = {pool.fee, pool.tick_spacing} - {None}
    behind = [words[at + 2] for at in range(len(words) - 2) if words[at : at + 2] == tokens]
    if not behind or (keys and behind[0] not in keys):
        return None
    for at in range(len(words) - 2):
        ticks = tuple(map(_signed_word, words[at : at + 2]))
        if ticks in ranges:
            return Position(lower=ticks[0], upper=ticks[1], liquidity=words[at + 2])
    return None


def _position_key(owner: Address, lower: int, upper: int) -> bytes:
    """Source: v3-core Position.get."""
    ticks = (tick.to_bytes(_TICK_BYTES, "big", signed=True) for tick in (lower, upper))
    return bytes(keccak(bytes.fromhex(owner[2:]) + b"".join(ticks)))


def _range(log: MinedLog) -> _Range:
    owner, lower, upper = log.topics[1:4]
    return Address("0x" + owner[-40:]), _signed(lower), _signed(upper)


def _amount(log: MinedLog) -> int:
    return int(log.data[_AMOUNT_AT : _AMOUNT_AT + 64], 16)


def _signed(topic: str) -> int:
    return _signed_word(int(topic, 16))


def _signed_word(word: int) -> int:
    return word - 2**256 if word >> 255 else word
