"""Analysis slots of networks over all processes: one for each, through Redis or Valkey.

A process enters its subject while callers wait for it. The last subject of a network stays known
after that, as an analysis may go on without a caller.
"""

import secrets
from typing import Final

import msgspec

from api.auth.rate_windows import SharedWindows

_HELD_S: Final = 120
"""Seconds after which a place is free again, as the process that took it was killed."""

_REMEMBERED_S: Final = 900
"""Seconds for which the last subject of a network is known."""

_TAKE: Final = """
local now = tonumber(redis.call('TIME')[1])
local process, subject, over = ARGV[1], ARGV[2], ARGV[3]
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
for _, member in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
    local split = string.find(member, ' ', 1, true)
    if string.sub(member, 1, split - 1) == process then
        redis.call('ZREM', KEYS[1], member)
    elseif string.sub(member, split + 1) ~= subject then
        return {'held', ''}
    end
end
local last = redis.call('GET', KEYS[2])
if last and last ~= subject and last ~= over then
    return {'last', last}
end
redis.call('ZADD', KEYS[1], now + ARGV[4], process .. ' ' .. subject)
redis.call('EXPIRE', KEYS[1], ARGV[4])
redis.call('SET', KEYS[2], subject, 'EX', ARGV[5])
return {'taken', ''}
"""
"""Enters a subject of a process, unless other processes have another one. Answers `last` with the
last subject, whose analysis may go on: the caller looks, and repeats with it as `over`."""

_LEAVE: Final = "return redis.call('ZREM', KEYS[1], ARGV[1])"


class AnalysisSubject(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """Chain and subject of one analysis or simulation."""

    chain: str
    """Slug."""
    name: str
    token: str | None
    """Address whose analysis may go on without a caller. None: it ends with its callers."""


class SharedAnalysisSlots:
    """Slots of this process among those of all."""

    def __init__(self, windows: SharedWindows) -> None:
        self._windows = windows
        self._process = secrets.token_hex(8)

    async def take(
        self, network: str, subject: AnalysisSubject, *, over: AnalysisSubject | None = None
    ) -> AnalysisSubject | bool:
        """Enter a subject; True if that was possible, also while the server is unreachable.

        False: another process has a caller with another subject. A subject: the last one of the
        network; it is in the way unless it is named as `over`.
        """
        answer = await self._windows.run(
            _TAKE,
            keys=_keys(network),
            arguments=(
                *(self._process, _encode(subject), "" if over is None else _encode(over)),
                *(str(_HELD_S), str(_REMEMBERED_S)),
            ),
        )
        if not isinstance(answer, list):
            return True
        state, last = (bytes(part) for part in answer)
        if state == b"last":
            return msgspec.json.decode(last, type=AnalysisSubject)
        return state == b"taken"

    def leave(self, network: str, subject: AnalysisSubject) -> None:
        """Give the slot back, in the background."""
        self._windows.run_soon(
            _LEAVE,
            keys=_keys(network)[:1],
            arguments=(f"{self._process} {_encode(subject)}",),
        )


def _encode(subject: AnalysisSubject) -> str:
    return msgspec.json.encode(subject).decode()


def _keys(network: str) -> tuple[str, str]:
    """Return the keys of a network; the braces keep both on one server of a cluster."""
    name = f"assay:turn:{{{network}}}"
    return name, f"{name}:last"
