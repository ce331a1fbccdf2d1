"""Runs the application inside the event loop that also follows chains and judges tokens."""

import asyncio
import signal
import socket
import sys
import threading
from pathlib import Path

from granian.constants import HTTPModes, Interfaces
from granian.log import LogLevels
from granian.server.embed import Server
from litestar.types import ASGIApp

from config.errors import ConfigError, InternalError

GRACE_S = 15.0
"""Calls under way get this long to end after the stop."""

_SWITCH_S = 0.0005
"""How long a thread may keep the interpreter from others. Python's own 5 ms are what one call in a
hundred would wait, behind the thread that writes the counts."""

_KNOCK_S = 0.02

_THREADS = Path("/proc/self/task")
"""Where Linux lists the threads of this process."""

_LOOKS_FOR_THREADS = 25


class ServerEndedError(InternalError):
    """The HTTP server ended without being told to."""


async def serve(
    app: ASGIApp,
    *,
    host: str,
    port: int,
    stop: asyncio.Event,
    listening: asyncio.Future[int] | None = None,
) -> None:
    """Answer calls on the address until `stop` is set, then let those under way end.

    `listening` gets the port once calls are answered; port 0 takes any free one.
    Raises ConfigError when the address cannot be listened on, ServerEndedError when the server
    ends by itself.
    """
    port = check_address(host, port)
    sys.setswitchinterval(_SWITCH_S)
    others = _foreign_threads()
    server = Server(
        app,
        address=host,
        port=port,
        interface=Interfaces.ASGI,
        # Without TLS nobody speaks HTTP/2, and there a call may have 16 MB of headers.
        http=HTTPModes.http1,
        websockets=False,
        log_level=LogLevels.error,  # its one warning says that embedding is experimental
    )
    serving = asyncio.create_task(server.serve())
    stopping = asyncio.create_task(stop.wait())
    announcing = asyncio.create_task(_announce(host, port, listening))
    try:
        await asyncio.wait({serving, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if not stopping.done():
            raise ServerEndedError from serving.exception()
    finally:
        announcing.cancel()
        stopping.cancel()
        server.stop()  # type: ignore[no-untyped-call]  # granian's own, without annotations
        await asyncio.wait({serving}, timeout=GRACE_S)
        serving.cancel()
        await asyncio.gather(serving, stopping, announcing, return_exceptions=True)
        await _until_ended(others)


def _foreign_threads() -> set[str]:
    """Threads that Python did not start. Empty where the system does not list them."""
    ours = {str(thread.native_id) for thread in threading.enumerate()}
    return {task.name for task in _THREADS.iterdir()} - ours if _THREADS.is_dir() else set()


async def _until_ended(others: set[str]) -> None:
    """Wait for the server's threads, which still need the interpreter when it has said it ended.

    One that comes for it when Python has ended prints a panic. What stays is another library's.
    """
    for _ in range(_LOOKS_FOR_THREADS):
        await asyncio.sleep(_KNOCK_S)
        if not _foreign_threads() - others:
            return


async def _announce(host: str, port: int, listening: asyncio.Future[int] | None) -> None:
    """Knock until the server, which does not say when it listens, opens."""
    while True:
        try:
            _, writer = await asyncio.open_connection(host, port)
        except OSError:
            await asyncio.sleep(_KNOCK_S)
        else:
            writer.close()
            break
    if listening is not None and not listening.done():
        listening.set_result(port)


def check_address(host: str, port: int) -> int:
    """The port to listen on: the one given, or any free one for 0.

    Raises ConfigError when the address is taken or not ours: the server itself listens with
    SO_REUSEPORT, so two processes would share a port in silence, each answering some of the calls.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
            return int(probe.getsockname()[1])
    except OSError as error:
        raise ConfigError(
            source="listen address", key=f"{host}:{port}", reason=error.strerror or str(error)
        ) from error


def stop_on_signals(stop: asyncio.Event) -> None:
    """Set the event on SIGINT and SIGTERM, in the running loop."""
    loop = asyncio.get_running_loop()
    for name in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(name, stop.set)
