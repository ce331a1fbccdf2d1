"""Waiting for a condition in an event loop."""

import asyncio
from collections.abc import Callable


async def until(is_true: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not is_true():  # noqa: ASYNC110 - a store has no event for new rows
            await asyncio.sleep(0.01)
