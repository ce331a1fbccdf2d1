"""Signals that end the program, within a bounded time."""

import asyncio
import os
import signal
import sys
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def stop_on_signals(stop: asyncio.Event, *, within_s: float | None = None) -> None:
    """Set the event on SIGINT and SIGTERM, in the running loop.

    `within_s`: seconds after which a process that has not ended is ended by force, as a thread that
    hangs in the system would keep it alive. None: never.
    """

    def begin_stop() -> None:
        if within_s is not None and not stop.is_set():
            timer = threading.Timer(within_s, _end_by_force, (within_s,))
            timer.daemon = True
            timer.start()
        stop.set()

    loop = asyncio.get_running_loop()
    for name in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(name, begin_stop)


async def run_until_stop(
    work: Coroutine[Any, Any, T], stop: asyncio.Event, *, patience_s: float = 0.0
) -> T | None:
    """Run the work, and cancel it that many seconds after the stop. Returns its result.

    None: it was cancelled. Raises what the work raises.
    """
    working = asyncio.create_task(work)
    stopping = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait({working, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done() and patience_s:
            await asyncio.wait({working}, timeout=patience_s)
        return working.result() if working.done() else None
    finally:
        for task in (working, stopping):
            task.cancel()
        await asyncio.gather(working, stopping, return_exceptions=True)


def _end_by_force(within_s: float) -> None:
    sys.stderr.write(f"not ended {within_s:g} s after the signal: ended by force\n")
    sys.stderr.flush()
    os._exit(1)
