"""Single flight: concurrent callers of the same key share one run.

Source of the term: golang.org/x/sync/singleflight.
"""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Result = TypeVar("Result")


class SingleFlight(Generic[Key, Result]):
    """Running calls by key. For one event loop."""

    def __init__(self) -> None:
        self._running: dict[Key, asyncio.Task[Result]] = {}

    async def run(
        self, key: Key, start: Callable[[], Awaitable[Result]], *, is_fresh: bool = False
    ) -> Result:
        """Return the result of the running task of the key, or of a new one.

        Cancelling a caller does not cancel the task; it goes on for the others, and for later
        callers. `is_fresh`: start another task, which later callers share.
        """
        task = None if is_fresh else self._running.get(key)
        if task is None:
            task = asyncio.ensure_future(_awaited(start))
            self._running[key] = task
            task.add_done_callback(lambda done: self._ended(key, done))
        return await asyncio.shield(task)

    @property
    def keys(self) -> tuple[Key, ...]:
        """Return the keys of the running tasks."""
        return tuple(self._running)

    async def aclose(self) -> None:
        """Cancel all running tasks and wait for their end."""
        tasks = list(self._running.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _ended(self, key: Key, task: asyncio.Task[Result]) -> None:
        if self._running.get(key) is task:
            del self._running[key]
        if not task.cancelled():
            task.exception()  # retrieved, so asyncio does not warn when every caller has left


async def _awaited(start: Callable[[], Awaitable[Result]]) -> Result:
    return await start()
