"""Process that admits calls as an API node does, and notes each in memory that outlives it."""

import asyncio
import itertools
import math
import mmap
import os
import signal
import time
import traceback
from collections.abc import Sequence

import msgspec

from api.auth.keys import Caller, Keyring
from api.auth.limits import KeyLimits
from api.auth.rate_windows import LocalWindows, SharedWindows
from api.auth.usage_counters import UsageCounters
from api.error_answers import LifetimeSpentError, LimitedError
from config.plans import Plan
from config.store_address import StoreAddress
from core.errors import StoreError
from core.process.secret import Secret
from sql.accounts.ledger import Ledger

FREE = Plan(name="free", per_day=10**12, may_refresh=False)
PLANS = {
    plan.name: plan
    for plan in (
        FREE,
        *(
            Plan(name=f"lifetime-{calls}", lifetime=calls, may_refresh=False)
            for calls in (1, 3, 10, 30, 100, 300)
        ),
        *(
            Plan(name=f"minute-{calls}", per_minute=calls, may_refresh=False)
            for calls in (10, 30, 100)
        ),
    )
}

_SLICE_S = 0.01
_LONGEST_LIFE_S = 60.0
"""With the start, which takes longest on a busy machine."""
_SLICES = int(_LONGEST_LIFE_S / _SLICE_S)
_BYTES = 8
_IN_A_ROW = 150
"""Calls of a free key before a pause."""
_PAUSE_S = 0.001
"""In which other keys' calls, which wait for threads and servers, get on."""


class Told:
    """Notes of one process: admitted and refused calls by key.

    In shared memory, so that the notes survive the process.
    """

    def __init__(self, keys: int) -> None:
        self.began_at_s = time.monotonic()
        self._memory = mmap.mmap(-1, _BYTES * (2 + 3 * keys + _SLICES))
        words = memoryview(self._memory).cast("q")
        self.flags = words[:2]
        """Flags: at work, and shared windows out of reach."""
        self.admitted = words[2 : 2 + keys]
        self.refused = words[2 + keys : 2 + 2 * keys]
        self.failed = words[2 + 2 * keys : 2 + 3 * keys]
        """Calls answered with 503, as the ledger was not written in time."""
        self.free = words[2 + 3 * keys :]
        """Admitted calls of the free key, by slice of time."""

    def settled(self, until_s: float) -> int:
        """Return the calls of the free key that were surely noted before a time of
        `time.monotonic`."""
        slices = (until_s - self.began_at_s) / _SLICE_S
        return sum(self.free[: max(0, int(min(slices, _SLICES)))])

    def time_of(self, place: int) -> float:
        """Return the approximate time of the free key's call at a place, from 0.

        Infinite if there was no such call.
        """
        for at, admitted in enumerate(itertools.accumulate(self.free)):
            if admitted > place:
                return self.began_at_s + at * _SLICE_S
        return math.inf

    def note_free(self) -> None:
        """Note an admitted call of the free key."""
        self.free[int((time.monotonic() - self.began_at_s) / _SLICE_S)] += 1


class Node(msgspec.Struct, frozen=True, kw_only=True):
    """Counting parts of one process."""

    address: StoreAddress
    redis_url: Secret | None
    digests: tuple[str, ...]
    """Digests of the keys, the free one first."""

    async def serve(self, reported: Told) -> None:
        """Admit calls until the process is killed."""
        ledger = Ledger.of_store(self.address)
        usage_counters = UsageCounters(ledger, now_s=time.time)
        keyring = Keyring(ledger, PLANS, usage_counters)
        local = LocalWindows()
        windows = local if self.redis_url is None else SharedWindows(self.redis_url, local)
        limits = KeyLimits(ledger, usage_counters, windows, now_s=time.time)
        callers = [await keyring.find(digest) for digest in self.digests]
        free, *limited = [caller for caller in callers if caller is not None]
        reported.flags[0] = 1
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(_call_freely(limits, free, reported))
            for place, caller in enumerate(limited, start=1):
                tasks.create_task(_call_until_refused(limits, caller, reported, place, windows))


async def _call_freely(limits: KeyLimits, caller: Caller, reported: Told) -> None:
    parent = os.getppid()
    while os.getppid() == parent:
        try:
            for _ in range(_IN_A_ROW):
                await limits.admit(caller)
                reported.note_free()
        except StoreError:
            reported.failed[0] += 1
        await asyncio.sleep(_PAUSE_S)
    os._exit(1)  # nobody is left who would kill it


async def _call_until_refused(
    limits: KeyLimits,
    caller: Caller,
    reported: Told,
    place: int,
    windows: LocalWindows | SharedWindows,
) -> None:
    while not reported.refused[place]:
        try:
            await limits.admit(caller)
        except (LifetimeSpentError, LimitedError):
            reported.refused[place] = 1
        except StoreError:
            reported.failed[place] += 1
        else:
            # Noted before the call: this process's own windows may have admitted it.
            reported.flags[1] |= isinstance(windows, SharedWindows) and windows.is_resting()
            reported.admitted[place] += 1


def fork(node: Node, reported: Told) -> int:
    """Start a process that counts until it is killed; return its id."""
    process = os.fork()
    if process == 0:
        try:
            asyncio.run(node.serve(reported))
        except BaseException:  # noqa: BLE001 - the fork must not go on as its parent
            traceback.print_exc()
        finally:
            os._exit(1)
    return process


def await_work(processes: Sequence[int], tolds: Sequence[Told]) -> None:
    """Wait until all processes admit calls. Raises ChildProcessError if one ended."""
    while not all(reported.flags[0] for reported in tolds):
        for process in processes:
            if os.waitpid(process, os.WNOHANG) != (0, 0):
                raise ChildProcessError(process)
        time.sleep(0.002)


def kill(process: int) -> None:
    """Kill a process. Raises ChildProcessError if it had already ended."""
    os.kill(process, signal.SIGKILL)
    _, status = os.waitpid(process, 0)
    if not os.WIFSIGNALED(status):
        raise ChildProcessError(process)
