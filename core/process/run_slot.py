"""Slot of a running analysis, lent to others while the run waits for a long static analysis."""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import Final, TypeVar

T = TypeVar("T")

_PATIENCE_S: Final = 1.0
"""Seconds of waiting after which the slot is lent."""


class RunSlot:
    """One slot of a semaphore, held by a run. For one event loop."""

    def __init__(self, slots: asyncio.Semaphore) -> None:
        self._slots = slots
        self._is_held = False
        self._waits = 0
        """Long waits of the run."""

    @asynccontextmanager
    async def hold(self) -> AsyncIterator[None]:
        """Hold the slot in the block, except during long waits of this task and its children."""
        await self._take()
        known = _CURRENT.set(self)
        try:
            yield
        finally:
            _CURRENT.reset(known)
            self._give()

    @asynccontextmanager
    async def lent(self) -> AsyncIterator[None]:
        """Leave the slot to other runs in the block."""
        self._waits += 1
        self._give()
        try:
            yield
        finally:
            self._waits -= 1
        if not self._waits:
            await self._take()

    async def _take(self) -> None:
        await self._slots.acquire()
        self._is_held = True

    def _give(self) -> None:
        if self._is_held:
            self._is_held = False
            self._slots.release()


_CURRENT: ContextVar[RunSlot | None] = ContextVar("run_slot", default=None)


async def lend_slot_during(work: Awaitable[T]) -> T:
    """Return the result of work that needs no node; the run's slot is lent if it takes long."""
    slot = _CURRENT.get()
    running = asyncio.ensure_future(work)
    try:
        await asyncio.wait({running}, timeout=_PATIENCE_S)
        if slot is None or running.done():
            return await running
        async with slot.lent():
            return await running
    except asyncio.CancelledError:
        running.cancel()
        raise
