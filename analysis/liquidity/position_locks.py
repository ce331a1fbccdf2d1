"""Locks of one pool's positions in lockers.

UNCX's lockers for positions number their locks, and no getter finds the lock of a position. The
position manager's Transfer event shows in which block the locker received it, the locker's own
event in that block which lock it is; the record itself is then read, as dates and owners change.
Source: uncx-network/liquidity-locker-univ3-contracts, whose three versions have the same records.
"""

from collections.abc import Sequence
from typing import Final

import msgspec

from analysis.liquidity.holdings import LiquidityHolding, Part, ReadRound, log_query
from analysis.liquidity.locks import NEVER_S, Lock
from analysis.liquidity.pool_history import PoolHistory, PoolSpan
from analysis.reads.chain_reads import Handle, RequestHandle
from analysis.reads.eth_reads import (
    WORD,
    Log,
    MinedLog,
    NoAnswer,
    Reply,
    decode_address,
    decode_logs,
    decode_mined_logs,
    words_of,
)
from analysis.reads.read_batch import ReadBatch
from core.evm.abi import address_word, topic_of
from core.evm.primitives import ZERO_ADDRESS, Address

MOST_POSITIONS: Final = 20
"""Positions in one locker whose locks are read, those of the largest value first."""

_TRANSFER: Final = topic_of("Transfer(address,address,uint256)")
_LOCKED: Final = topic_of(
    "onLock(uint256,address,uint256,address,address,address,uint256,uint16,uint256,address,"
    "(uint96,address,address,address,uint24,int24,int24,uint128,uint256,uint256,uint128,uint128))"
)
_LOCK_WORDS: Final = 11
_MANAGER, _TOKEN_ID, _OWNER, _UNTIL = 1, 3, 4, 8
"""Words of a record."""
_EVENT_WORDS: Final = 3
"""Words of the event that are read: lock, manager, token id."""


class PermanentLocks:
    """The lock of all positions in a locker that has no way to give them back."""

    def __init__(self, holding: LiquidityHolding) -> None:
        self._holding = holding

    def rounds(self) -> tuple[ReadRound, ...]:
        """Return none: nothing has to be read."""
        return ()

    def read(self) -> tuple[Lock, ...]:
        """Return one lock of everything."""
        return (Lock(owner=None, weight=self._holding.weight, until_s=NEVER_S),)


class _Record(msgspec.Struct, frozen=True, kw_only=True):
    part: Part
    reply: Handle[Reply]


class UncxPositionLocks:
    """Reads of the locks of one pool's positions in one of UNCX's lockers."""

    def __init__(self, span: PoolSpan, holding: LiquidityHolding) -> None:
        """`holding`: the locker's."""
        self._span, self._locker = span, holding.holder
        self._manager = span.pool.dex.position_manager or ZERO_ADDRESS
        tokens = [part for part in holding.parts if part.token_id is not None]
        self._parts = sorted(tokens, key=lambda part: -part.weight)[:MOST_POSITIONS]
        self._received: list[PoolHistory[MinedLog]] = []
        self._locked: tuple[ReadBatch, list[RequestHandle[tuple[Log, ...] | None]]]
        self._records: tuple[ReadBatch, list[_Record]]

    def rounds(self) -> tuple[ReadRound, ...]:
        """Return the three rounds."""
        return self._request_arrivals, self._request_events, self._request_records

    def _request_arrivals(self, batch: ReadBatch) -> None:
        receiver = address_word(self._locker)
        self._received = [
            self._span.request(
                batch,
                [_TRANSFER, None, receiver, f"0x{part.token_id:064x}"],
                address=self._manager,
                returns=decode_mined_logs,
            )
            for part in self._parts
        ]

    def _request_events(self, batch: ReadBatch) -> None:
        """Add the locker's events in the blocks in which it last received a position. Raises
        UpstreamError."""
        blocks = {int(logs[-1].block_number, 16) for one in self._received if (logs := one.read())}
        events = [
            batch.request(
                log_query(self._locker, [_LOCKED], from_block=at, to_block=at),
                returns=decode_logs,
            )
            for at in sorted(blocks)
        ]
        self._locked = batch, events

    def _request_records(self, batch: ReadBatch) -> None:
        """Add the records of the locks. Raises UpstreamError."""
        before, events = self._locked
        numbers = dict(
            found
            for event in events
            for log in before[event] or ()
            if log.address == self._locker
            for found in _numbered(log, self._manager)
        )
        self._records = (
            batch,
            [
                _Record(
                    part=part,
                    reply=batch.call(self._locker, "getLock(uint256)", numbers[part.token_id]),
                )
                for part in self._parts
                if part.token_id in numbers
            ],
        )

    def read(self) -> tuple[Lock, ...]:
        """Decode the locks; none where a record is of another position. Raises UpstreamError."""
        batch, records = self._records
        locks = (_lock(batch[one.reply], one.part, self._manager) for one in records)
        return tuple(lock for lock in locks if lock is not None)


def _numbered(log: Log, manager: Address) -> Sequence[tuple[int, int]]:
    """Return token id and lock of an event; none where it is of another manager."""
    data = bytes.fromhex(log.data[2:])
    if log.topics[:1] != (_LOCKED,) or len(data) < _EVENT_WORDS * WORD:
        return ()
    lock, named, token_id = (
        int.from_bytes(data[at : at + WORD]) for at in range(0, _EVENT_WORDS * WORD, WORD)
    )
    return ((token_id, lock),) if named == int(manager, 16) else ()


def _lock(reply: Reply, part: Part, manager: Address) -> Lock | None:
    """Return a record as a lock. None: it has ended, or is not of this position."""
    owner = decode_address(reply, at=_OWNER)
    if isinstance(reply, NoAnswer) or owner is None or len(reply) != _LOCK_WORDS * WORD:
        return None
    words = words_of(reply)
    if (words[_MANAGER], words[_TOKEN_ID]) != (int(manager, 16), part.token_id):
        return None
    return Lock(owner=owner, weight=part.weight, until_s=min(words[_UNTIL], NEVER_S))
