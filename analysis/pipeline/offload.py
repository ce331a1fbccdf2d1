"""Work on very many pools goes into a thread: its callers wait for it, the others do not."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

_MANY = 1_000
"""Pools; work on fewer is done before a thread has begun."""


async def in_thread_if_large(work: Callable[[], T], *, pools: int) -> T:
    """What the work gives. `pools`: how many it is about."""
    return await asyncio.to_thread(work) if pools >= _MANY else work()
