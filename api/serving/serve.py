"""The HTTP server, run inside the event loop that also runs the indexers and analyses."""

import asyncio
import socket
import sys
import threading
from contextlib import suppress
from pathlib import Path

from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.log import LogLevels
from granian.server.embed import Server
from litestar.types import ASGIApp

from api.auth.networks import IpNetwork
from api.serving.connection_bounds import USUAL_BOUNDS, ConnectionBounds, fit_files
from api.serving.connection_guard import ConnectionGuard
from api.serving.guarded_calls import GuardedCalls
from core.errors import ConfigError, InternalError
from core.process.time_slice import restore_time_slice, shorten_time_slice

GRACE_S = 15.0
"""Seconds for running calls to end after the stop."""

_SWITCH_S = 0.0005
"""Seconds a thread may hold the interpreter. With Python's own 5 ms, one call in a hundred would
wait that long behind the thread that writes the counters."""

_BACKLOG = 4_096
"""Connections that may wait to be accepted; Linux cuts it to net.core.somaxconn."""

_HEAD_WITHIN_MS = 30_000
"""Milliseconds in which the head of a call has to arrive; an idle connection ends after it too."""

_MOST_HEAD_BYTES = 16_384
"""Longest head of a call, as at HAProxy. Half-sent heads take this much memory of a connection."""

_KNOCK_S = 0.02

_THREADS = Path("/proc/self/task")
"""Folder in which Linux lists the threads of this process."""

_LOOKS_FOR_THREADS = 25


class ServerEndedError(InternalError):
    """The HTTP server ended without a stop."""


async def serve(
    app: ASGIApp,
    *,
    host: str,
    port: int,
    stop: asyncio.Event,
    listening: asyncio.Future[int] | None = None,
    bounds: ConnectionBounds = USUAL_BOUNDS,
    trusted: tuple[IpNetwork, ...] = (),
) -> None:
    """Serve the application until `stop` is set, then let running calls end.

    `listening` is set to the port once calls are answered; port 0 takes any free one. `trusted` are
    the networks of proxies, whose connections no bound of a network applies to. Raises ConfigError
    when the address cannot be listened on or too few files may be open, ServerEndedError when the
    server ends by itself.
    """
    port = check_address(host, port)
    bounds = fit_files(bounds)
    guard = ConnectionGuard(bounds, port=port, trusted=trusted)
    sys.setswitchinterval(_SWITCH_S)
    # Before the server starts threads, which inherit it: else one call in a hundred waits for the
    # end of the slice of a statement or a simulation's decoder on the same core.
    shorten_time_slice()
    others = _foreign_threads()
    server = _server(GuardedCalls(app, guard), host, port, bounds)
    serving = asyncio.create_task(server.serve())
    stopping = asyncio.create_task(stop.wait())
    announcing = asyncio.create_task(_announce(host, port, listening))
    guarding = asyncio.create_task(guard.run())
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
        guarding.cancel()
        with suppress(OSError):
            await guard.close_all()
        await asyncio.gather(serving, stopping, announcing, guarding, return_exceptions=True)
        await _until_ended(others)
        restore_time_slice()


def _server(app: ASGIApp, host: str, port: int, bounds: ConnectionBounds) -> Server:
    return Server(
        app,
        address=host,
        port=port,
        interface=Interfaces.ASGI,
        # Without TLS no client uses HTTP/2, and it would allow 16 MB of headers a call.
        http=HTTPModes.http1,
        websockets=False,
        backlog=_BACKLOG,
        # Beyond it connections wait in the backlog: the store must never lack a file.
        backpressure=bounds.most,
        http1_settings=HTTP1Settings(
            header_read_timeout=_HEAD_WITHIN_MS, max_buffer_size=_MOST_HEAD_BYTES
        ),
        log_level=LogLevels.error,  # its only warning is that embedding is experimental
    )


def _foreign_threads() -> set[str]:
    """Return the threads that Python did not start. Empty where the system does not list them."""
    ours = {str(thread.native_id) for thread in threading.enumerate()}
    return {task.name for task in _THREADS.iterdir()} - ours if _THREADS.is_dir() else set()


async def _until_ended(others: set[str]) -> None:
    """Wait for the server's threads, which still need the interpreter after the server has
    returned.

    A thread that needs it after Python has ended prints a panic. Threads of other libraries stay.
    """
    for _ in range(_LOOKS_FOR_THREADS):
        await asyncio.sleep(_KNOCK_S)
        if not _foreign_threads() - others:
            return


async def _announce(host: str, port: int, listening: asyncio.Future[int] | None) -> None:
    """Poll the port until the server listens, as it does not signal that itself."""
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
    """Return the port to listen on: the given one, or any free one for 0.

    Raises ConfigError when the address is taken or not local: the server listens with SO_REUSEPORT,
    so two processes would silently share a port, each answering some of the calls.
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
