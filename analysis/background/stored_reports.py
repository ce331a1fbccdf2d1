"""What is to be done for stored reports of an earlier release, or of other settings."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

import structlog

from core.errors import StoreError

_PAUSE_S = 0.05
"""Between two steps that hold the store's write lock."""

_BROKEN_OFF_PAUSE_S = 10.0

_LOG = structlog.get_logger(__name__)


async def work_through(step: Callable[[], bool], stop: asyncio.Event) -> None:
    """Do for stored reports what was not done when they were written, until all are done or the
    stop. `step` blocks, and returns whether there are more."""
    is_left = True
    while is_left and not stop.is_set():
        try:
            is_left = await asyncio.to_thread(step)
            pause_s = _PAUSE_S
        except StoreError as error:
            _LOG.error("stored reports cannot be worked through", why=str(error))
            pause_s = _BROKEN_OFF_PAUSE_S
        with suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), pause_s)
