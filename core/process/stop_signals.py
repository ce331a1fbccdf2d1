"""Signals that end the program."""

import asyncio
import signal


def stop_on_signals(stop: asyncio.Event) -> None:
    """Set the event on SIGINT and SIGTERM, in the running loop."""
    loop = asyncio.get_running_loop()
    for name in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(name, stop.set)
