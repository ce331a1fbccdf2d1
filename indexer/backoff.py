"""When to try again: exponential back-off with jitter, on a clock that tests can replace."""

import asyncio
import random
import time
from typing import Protocol


class SleepClock(Protocol):
    """Time that passes, for waiting and for measuring."""

    def now_s(self) -> float:
        """Seconds from an arbitrary start, never going back."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        ...


class SystemClock:
    """The machine's own."""

    def now_s(self) -> float:
        """Monotonic seconds."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait without holding up the event loop."""
        await asyncio.sleep(seconds)


def backoff_s(tries: int, *, first_s: float, most_s: float) -> float:
    """Seconds to wait after `tries` failures in a row: doubling, then between half and all of it.

    The jitter keeps many clients that failed together from coming back together.
    """
    whole = min(first_s * 2.0 ** min(max(tries - 1, 0), 32), most_s)
    return whole * random.uniform(0.5, 1.0)  # noqa: S311 - spreads load, guards nothing
