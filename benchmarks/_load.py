"""Callers of an HTTP server, from this process: as many calls as it takes, or so many a second.

Each connection has one call under way. A paced call is timed from when it was due, not from when
it was sent, so that a server that stalls is not asked less and looks no better for it.
"""

import heapq
import selectors
import socket
import time
from collections import Counter
from collections.abc import Iterator

from core.process.time_slice import shorten_time_slice

_LENGTH = b"content-length: "
_ROUNDED_S = 0.002


class Load:
    """What one run of calls took."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.took_s: list[float] = []
        self.statuses: Counter[int] = Counter()

    @property
    def calls_per_s(self) -> float:
        """Answered calls a second."""
        return len(self.took_s) / self.seconds

    def percentile_ms(self, percent: float) -> float:
        """How long that share of the calls took at most."""
        ordered = sorted(self.took_s)
        return 1000 * ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]


class _Connection:
    def __init__(self, port: int, at: int) -> None:
        self.at = at
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.setblocking(False)
        self.due_s = 0.0
        self.got = b""
        self.missing = 0
        """Bytes of the answer that have not come; 0: its head has not come either."""

    def send(self, request: bytes, due_s: float) -> None:
        self.due_s, self.got, self.missing = due_s, b"", 0
        self.socket.send(request)

    def receive(self) -> int | None:
        """The status, once the whole answer is here."""
        part = self.socket.recv(1 << 20)
        if not part:
            raise ConnectionError
        if self.missing:
            self.missing -= len(part)
        else:
            self.got += part
            end = self.got.find(b"\r\n\r\n")
            if end < 0:
                return None
            head = self.got[:end].lower()
            at = head.find(_LENGTH)
            length = int(head[at + len(_LENGTH) :].split(b"\r\n", 1)[0]) if at >= 0 else 0
            self.missing = end + 4 + length - len(self.got)
        return int(self.got[9:12]) if self.missing == 0 else None


def call(
    port: int,
    requests: Iterator[bytes],
    *,
    seconds: float,
    connections: int = 32,
    calls_per_s: float | None = None,
) -> Load:
    """Call for so long. Without `calls_per_s` each connection calls again at once."""
    shorten_time_slice()  # callers are on other machines: what they wait for is not measured
    load = Load()
    with selectors.DefaultSelector() as selector:
        opened = [_Connection(port, at) for at in range(connections)]
        for connection in opened:
            selector.register(connection.socket, selectors.EVENT_READ, connection.at)
        started = time.perf_counter()
        end = started + seconds
        interval_s = 0.0 if calls_per_s is None else 1 / calls_per_s
        due = [(started + at * interval_s, at) for at in range(connections)]
        sent = connections
        under_way = 0
        while due or under_way:
            now = time.perf_counter()
            while due and due[0][0] <= now:
                due_s, at = heapq.heappop(due)
                if now < end:
                    opened[at].send(next(requests), due_s if interval_s else now)
                    under_way += 1
            wait_s = due[0][0] - now if due else 1.0
            # The kernel waits whole milliseconds, too long for the next call: turn round instead.
            for key, _ in selector.select(wait_s if wait_s > _ROUNDED_S else 0):
                connection = opened[key.data]
                status = connection.receive()
                if status is None:
                    continue
                now = time.perf_counter()
                under_way -= 1
                load.statuses[status] += 1
                load.took_s.append(now - connection.due_s)
                if now < end:
                    when = started + sent * interval_s if interval_s else now
                    heapq.heappush(due, (when, connection.at))
                    sent += 1
        load.seconds = time.perf_counter() - started
        for connection in opened:
            connection.socket.close()
    return load
