"""Moves work on very many pools into a thread, so that it does not block the event loop."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

_MANY = 1_000
"""Pools; work on fewer is faster than starting a thread."""


async def in_thread_if_large(work: Callable[[], T], *, pools: int) -> T:
    """Return the result of `work`. `pools`: the number of pools it handles."""
    return await asyncio.to_thread(work) if pools >= _MANY else work()
