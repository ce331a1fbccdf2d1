"""Exponential back-off with jitter, and a clock that tests can replace."""

import asyncio
import random
import time
from typing import Protocol


class SleepClock(Protocol):
    """Clock for waiting and for measuring."""

    def now_s(self) -> float:
        """Return seconds from an arbitrary start, never going back."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait for a number of seconds."""
        ...


class SystemClock:
    """The machine's monotonic clock."""

    def now_s(self) -> float:
        """Return monotonic seconds."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait without blocking the event loop."""
        await asyncio.sleep(seconds)


def backoff_s(tries: int, *, first_s: float, most_s: float) -> float:
    """Return seconds to wait after `tries` failures in a row: doubled each time, then drawn between
    half and all of it.

    The jitter keeps clients that failed together from retrying together.
    """
    chance = random.random()  # noqa: S311 - spreads load, guards nothing
    return drawn_backoff_s(tries, first_s=first_s, most_s=most_s, chance=chance)


def drawn_backoff_s(tries: int, *, first_s: float, most_s: float, chance: float) -> float:
    """Return what `backoff_s` does. `chance`, from 0 to 1, takes up to half of it away."""
    whole = min(first_s * 2.0 ** min(max(tries - 1, 0), 32), most_s)
    return whole * (1 - 0.5 * chance)
