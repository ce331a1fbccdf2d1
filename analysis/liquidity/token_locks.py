"""Locks of one pair's LP tokens, by the records of lockers.

Sources: UNCX's UniswapV2Locker (getNumLocksForToken, tokenLocks); PinkLock and PinkLock02
(getLocksForToken), whose locks differ in shape; Team Finance's LockToken (Deposit, lockedToken),
which lists its locks by owner, so that events are needed to find those of a token.
"""

from typing import Final

from analysis.liquidity.holdings import ReadRound
from analysis.liquidity.locks import NEVER_S, Lock
from analysis.liquidity.pool_history import PoolHistory, PoolSpan
from analysis.reads.chain_reads import Handle
from analysis.reads.eth_reads import (
    WORD,
    Log,
    NoAnswer,
    Reply,
    decode_address,
    decode_logs,
    words_of,
)
from analysis.reads.read_batch import ReadBatch
from core.evm.abi import address_word, decode_values
from core.evm.primitives import Address

MOST_LOCKS: Final = 20
"""Locks of one token in one locker that are read."""

_UNCX_WORDS: Final = 6
_UNCX_AMOUNT, _UNCX_UNTIL, _UNCX_OWNER = 1, 3, 5
_TEAM_TOKEN, _TEAM_OWNER, _TEAM_AMOUNT, _TEAM_UNTIL, _TEAM_ENDED = range(5)
_TEAM_WORDS: Final = 5
"""Words of a record. Newer versions append more."""

_PINKLOCK_1: Final = "((uint256,address,address,uint256,uint256,uint256)[])"
_PINKLOCK_2: Final = (
    "((uint256,address,address,uint256,uint256,uint256,uint256,uint256,uint256,uint256,string)[])"
)


class UncxTokenLocks:
    """Reads of one token's locks in one of UNCX's lockers for pairs."""

    def __init__(self, locker: Address, token: Address) -> None:
        self._locker, self._token = locker, token
        self._replies: tuple[ReadBatch, list[Handle[Reply]]]

    def rounds(self) -> tuple[ReadRound, ...]:
        """Return the one round."""
        return (self._request_locks,)

    def _request_locks(self, batch: ReadBatch) -> None:
        call = "tokenLocks(address,uint256)"
        replies = [batch.call(self._locker, call, self._token, at) for at in range(MOST_LOCKS)]
        self._replies = batch, replies

    def read(self) -> tuple[Lock, ...]:
        """Decode the locks: a place beyond the last one reverts. Raises UpstreamError."""
        batch, replies = self._replies
        locks = (_uncx_lock(batch[reply]) for reply in replies)
        return tuple(lock for lock in locks if lock is not None)


class PinkLockTokenLocks:
    """Reads of one token's locks in one PinkLock."""

    def __init__(self, locker: Address, token: Address) -> None:
        self._locker, self._token = locker, token
        self._reply: tuple[ReadBatch, Handle[Reply]]

    def rounds(self) -> tuple[ReadRound, ...]:
        """Return the one round."""
        return (self._request_locks,)

    def _request_locks(self, batch: ReadBatch) -> None:
        # The last index is included, and cut to the last there is.
        call = "getLocksForToken(address,uint256,uint256)"
        self._reply = batch, batch.call(self._locker, call, self._token, 0, MOST_LOCKS - 1)

    def read(self) -> tuple[Lock, ...]:
        """Decode the locks. A vesting lock counts as free whole when its first part is. Raises
        UpstreamError."""
        batch, handle = self._reply
        reply = batch[handle]
        if isinstance(reply, NoAnswer):
            return ()
        for types in (_PINKLOCK_2, _PINKLOCK_1):
            try:
                (rows,) = decode_values(types, "0x" + reply.hex())
            except ValueError:
                continue
            locks = [_pinklock(row) for row in _rows(rows) if str(row[1]).lower() == self._token]
            if len(locks) == len(_rows(rows)):
                return tuple(locks)
        return ()


class TeamFinanceTokenLocks:
    """Reads of one token's locks in one of Team Finance's lockers."""

    def __init__(self, span: PoolSpan, locker: Address) -> None:
        self._span, self._locker, self._token = span, locker, span.pool.pool
        self._events: PoolHistory[Log]
        self._replies: tuple[ReadBatch, list[Handle[Reply]]]

    def rounds(self) -> tuple[ReadRound, ...]:
        """Return the two rounds."""
        return self._request_events, self._request_locks

    def _request_events(self, batch: ReadBatch) -> None:
        # Deposit has other arguments in each version. All of them index the token first, and begin
        # with the lock's number, as the other events that index a token do.
        self._events = self._span.request(
            batch,
            [None, address_word(self._token)],
            address=self._locker,
            returns=decode_logs,
        )

    def _request_locks(self, batch: ReadBatch) -> None:
        """Add the newest of the locks that events name. Raises UpstreamError."""
        logs = (log for log in self._events.read() if log.address == self._locker)
        words = (log.data[2 : 2 + 2 * WORD] for log in logs)
        numbers = dict.fromkeys(int(word, 16) for word in words if len(word) == 2 * WORD)
        call = "lockedToken(uint256)"
        newest = list(numbers)[-MOST_LOCKS:]
        self._replies = batch, [batch.call(self._locker, call, number) for number in newest]

    def read(self) -> tuple[Lock, ...]:
        """Decode the locks of the token that were not withdrawn. Raises UpstreamError."""
        batch, replies = self._replies
        locks = (_team_lock(batch[reply], self._token) for reply in replies)
        return tuple(lock for lock in locks if lock is not None)


def _uncx_lock(reply: Reply) -> Lock | None:
    owner = decode_address(reply, at=_UNCX_OWNER)
    if isinstance(reply, NoAnswer) or owner is None or len(reply) < _UNCX_WORDS * WORD:
        return None
    words = words_of(reply)
    until_s = min(words[_UNCX_UNTIL], NEVER_S)
    return Lock(owner=owner, weight=float(words[_UNCX_AMOUNT]), until_s=until_s)


def _team_lock(reply: Reply, token: Address) -> Lock | None:
    locked, owner = decode_address(reply, at=_TEAM_TOKEN), decode_address(reply, at=_TEAM_OWNER)
    if isinstance(reply, NoAnswer) or owner is None or len(reply) < _TEAM_WORDS * WORD:
        return None
    words = words_of(reply)
    if locked != token or words[_TEAM_ENDED]:
        return None
    until_s = min(words[_TEAM_UNTIL], NEVER_S)
    return Lock(owner=owner, weight=float(words[_TEAM_AMOUNT]), until_s=until_s)


def _rows(rows: object) -> list[tuple[object, ...]]:
    return [tuple(row) for row in rows] if isinstance(rows, tuple | list) else []


def _pinklock(row: tuple[object, ...]) -> Lock:
    amount, until = int(str(row[3])), int(str(row[5]))
    unlocked = int(str(row[9])) if len(row) > _UNCX_WORDS else 0
    return Lock(
        owner=Address(str(row[2]).lower()),
        weight=float(max(0, amount - unlocked)),
        until_s=min(until, NEVER_S),
    )
