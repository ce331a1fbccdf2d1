"""Locks: when a locker returns what it holds of an LP token, read from the locker's own records.

A locker is a contract that the chain's facts name. What its records say is believed up to its
balance. Sources: UNCX's UniswapV2Locker (getNumLocksForToken, tokenLocks), PinkLock and PinkLock02
(getLocksForToken), whose locks differ in shape.
"""

from collections.abc import Callable, Mapping
from typing import Final

import msgspec
from eth_abi.exceptions import DecodingError

from analysis.reads.eth_reads import NoAnswer, Reply, decode_address
from analysis.reads.read_batch import ReadBatch
from config.chains import LockRecords
from core.abi import decode_values
from core.primitives import Address

MOST_LOCKS: Final = 20
"""Locks of one token in one locker that are read."""

_WORD: Final = 32
_UNCX_WORDS: Final = 6
_UNCX_AMOUNT, _UNCX_UNTIL, _UNCX_OWNER = 1, 3, 5
_PINKLOCK_1: Final = "((uint256,address,address,uint256,uint256,uint256)[])"
_PINKLOCK_2: Final = (
    "((uint256,address,address,uint256,uint256,uint256,uint256,uint256,uint256,uint256,string)[])"
)


NEVER_S: Final = 2**40
"""Latest time that is told: later ones are taken for it."""


class Lock(msgspec.Struct, frozen=True, kw_only=True):
    """One lock of an LP token."""

    owner: Address
    """Who can withdraw it then."""
    amount: int
    """LP tokens in smallest units."""
    until_s: int
    """Unix seconds from which any part of it can be withdrawn."""


class LockReads:
    """Reads of the locks of one token in one locker."""

    def __init__(
        self, batch: ReadBatch, records: LockRecords, locker: Address, token: Address
    ) -> None:
        self._batch = batch
        self._token = token
        self._read = _READERS[records]
        if records == "uncx_v2":
            self._replies = [
                batch.call(locker, "tokenLocks(address,uint256)", token, at)
                for at in range(MOST_LOCKS)
            ]
        else:
            # The last index is included, and cut to the last there is.
            call = "getLocksForToken(address,uint256,uint256)"
            self._replies = [batch.call(locker, call, token, 0, MOST_LOCKS - 1)]

    def read(self) -> tuple[Lock, ...]:
        """Decode the locks, soonest first; none where the locker answers nothing that is one.
        Raises UpstreamError."""
        replies = [self._batch[reply] for reply in self._replies]
        locks = [lock for reply in replies for lock in self._read(reply, self._token)]
        return tuple(sorted(locks, key=lambda lock: lock.until_s))


def _read_uncx(reply: Reply, _token: Address) -> list[Lock]:
    """A place beyond the last lock reverts."""
    owner = decode_address(reply, at=_UNCX_OWNER)
    if isinstance(reply, NoAnswer) or owner is None or len(reply) < _UNCX_WORDS * _WORD:
        return []
    words = [int.from_bytes(reply[at : at + _WORD]) for at in range(0, len(reply), _WORD)]
    return [Lock(owner=owner, amount=words[_UNCX_AMOUNT], until_s=min(words[_UNCX_UNTIL], NEVER_S))]


def _read_pinklock(reply: Reply, token: Address) -> list[Lock]:
    """A vesting lock counts as free whole when its first part is."""
    if isinstance(reply, NoAnswer):
        return []
    for types in (_PINKLOCK_2, _PINKLOCK_1):
        try:
            (rows,) = decode_values(types, "0x" + reply.hex())
        except (DecodingError, ValueError, OverflowError):
            continue
        locks = [_pinklock(row) for row in _rows(rows) if str(row[1]).lower() == token]
        if len(locks) == len(_rows(rows)):
            return locks
    return []


def _rows(rows: object) -> list[tuple[object, ...]]:
    return [tuple(row) for row in rows] if isinstance(rows, tuple | list) else []


def _pinklock(row: tuple[object, ...]) -> Lock:
    amount, until = int(str(row[3])), int(str(row[5]))
    unlocked = int(str(row[9])) if len(row) > _UNCX_WORDS else 0
    return Lock(
        owner=Address(str(row[2]).lower()),
        amount=max(0, amount - unlocked),
        until_s=min(until, NEVER_S),
    )


_READERS: Final[Mapping[LockRecords, Callable[[Reply, Address], list[Lock]]]] = {
    "uncx_v2": _read_uncx,
    "pinklock": _read_pinklock,
}
