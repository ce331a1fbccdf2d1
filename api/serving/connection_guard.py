"""Guard of the server's connections: closes those beyond the bounds.

The server accepts connections by itself and reveals only whole calls. Its sockets are open files of
this process, so they are listed and closed from here.
"""

import asyncio
import os
import socket
import stat
import time
from collections import Counter
from contextlib import suppress
from typing import Final

import prometheus_client
import structlog

from api.auth.networks import IpNetwork, client_network, is_trusted
from api.serving.connection_bounds import (
    Connection,
    ConnectionBounds,
    ConnectionCalls,
    Peer,
    choose_surplus,
)
from core.process.open_files import list_open_files

_EVERY_S: Final = 0.1
_CROWDED_S: Final = 0.02
"""Seconds between two looks while half of the connections are in use."""

_LONGEST_REST_S: Final = 0.5
"""A look is followed by a rest as long as the look, up to this."""

_WITHOUT_PAUSE: Final = 100
"""Connections that are listed or closed before calls get their turn."""

_LOG_EVERY_S: Final = 60.0

_OPEN = prometheus_client.Gauge("assay_api_connections", "Open connections of the server")
_CLOSED = prometheus_client.Counter(
    "assay_api_closed_connections", "Connections closed by their bounds", ["reason"]
)

_LOG = structlog.get_logger(__name__)


class ConnectionGuard:
    """Open connections to one port, and their calls."""

    def __init__(
        self, bounds: ConnectionBounds, *, port: int, trusted: tuple[IpNetwork, ...] = ()
    ) -> None:
        """`trusted`: networks of proxies, whose connections no bound but the whole applies to."""
        self._bounds = bounds
        self._port = port
        self._trusted = trusted
        self._known: dict[int, Connection | int] = {}
        """Connections by file; for a file that is none to the port, its inode."""
        self._open: dict[Peer, Connection] = {}
        self._calls: dict[Peer, ConnectionCalls] = {}
        self._closed: Counter[str] = Counter()
        self._logged_s = 0.0

    def begin(self, peer: Peer) -> None:
        """Note that a call was received whole."""
        called = self._calls.get(peer)
        if called is None:
            called = self._calls[peer] = ConnectionCalls()
        called.running += 1

    def end(self, peer: Peer) -> None:
        """Note the end of a call for which `begin` was called."""
        called = self._calls[peer]
        called.running -= 1
        called.ended_s = time.monotonic()

    async def run(self) -> None:
        """Close what is beyond the bounds, until cancelled."""
        while True:
            begun_s = time.monotonic()
            with suppress(OSError):  # no file is free, and the list itself needs one
                await self.look()
            took_s = time.monotonic() - begun_s
            is_crowded = len(self._open) * 2 > self._bounds.most
            pause_s = _CROWDED_S if is_crowded else _EVERY_S
            await asyncio.sleep(max(pause_s, min(took_s, _LONGEST_REST_S)))

    async def look(self) -> None:
        """List the connections once, and close those beyond the bounds."""
        now_s = time.monotonic()
        await self._list(now_s)
        _OPEN.set(len(self._open))
        surplus = choose_surplus(self._open.values(), self._calls, self._bounds, now_s=now_s)
        for at, (connection, reason) in enumerate(surplus):
            if at % _WITHOUT_PAUSE == 0:
                await asyncio.sleep(0)
            _shut(connection)
            _CLOSED.labels(reason).inc()
            self._closed[connection.network or "proxy"] += 1
        self._forget()
        if self._closed and now_s - self._logged_s >= _LOG_EVERY_S:
            self._logged_s = now_s
            network, number = self._closed.most_common(1)[0]
            in_all = self._closed.total()
            _LOG.warning("connections closed", closed=in_all, network=network, of_network=number)
            self._closed.clear()

    def close(self, peer: Peer) -> None:
        """Close one connection, if it is still open."""
        connection = self._open.get(peer)
        if connection is not None:
            _shut(connection)

    async def close_all(self) -> None:
        """Close every connection."""
        await self._list(time.monotonic())
        for connection in self._open.values():
            _shut(connection)

    async def _list(self, now_s: float) -> None:
        known: dict[int, Connection | int] = {}
        for at, file in enumerate(list_open_files()):
            if at % _WITHOUT_PAUSE == 0:
                await asyncio.sleep(0)
            try:
                status = os.fstat(file)
            except OSError:
                continue  # closed since it was listed
            entry = self._known.get(file)
            inode = entry.inode if isinstance(entry, Connection) else entry
            if entry is None or inode != status.st_ino:
                entry = self._connection(file, status, now_s)
            known[file] = entry
        self._known = known
        self._open = {one.peer: one for one in known.values() if isinstance(one, Connection)}

    def _connection(self, file: int, status: os.stat_result, now_s: float) -> Connection | int:
        """Describe an open file; the inode if it is no connection to the port."""
        if not stat.S_ISSOCK(status.st_mode):
            return status.st_ino
        try:
            with _copy_of(file) as copy:
                if copy.family not in (socket.AF_INET, socket.AF_INET6):
                    return status.st_ino
                if copy.getsockname()[1] != self._port:
                    return status.st_ino
                peer: Peer = copy.getpeername()[:2]
        except OSError:
            return status.st_ino
        network = (
            None if is_trusted(peer[0], self._trusted) else client_network(peer[0], (), trusted=())
        )
        return Connection(file=file, inode=status.st_ino, peer=peer, network=network, since_s=now_s)

    def _forget(self) -> None:
        """Forget the calls of connections that are gone."""
        gone = [
            peer
            for peer, called in self._calls.items()
            if not called.running and peer not in self._open
        ]
        for peer in gone:
            del self._calls[peer]


def _copy_of(file: int) -> socket.socket:
    """Open a socket a second time. Raises OSError if the file is closed, or no socket any more."""
    copy = os.dup(file)
    try:
        return socket.socket(fileno=copy)
    except OSError:
        os.close(copy)
        raise


def _shut(connection: Connection) -> None:
    """Shut a connection down; the server then closes it.

    A copy of the file cannot become another file, so nothing else is shut when the server closes
    the connection at the same time.
    """
    with suppress(OSError), _copy_of(connection.file) as copy:
        if os.fstat(copy.fileno()).st_ino == connection.inode:
            copy.shutdown(socket.SHUT_RDWR)
