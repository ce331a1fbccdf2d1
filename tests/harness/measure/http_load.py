"""HTTP load from this process: at full speed, or at a given rate.

Each connection has one call in flight. A paced call is timed from its due time, so that a stalled
server does not receive fewer calls and look better for it.
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
    """Times and statuses of one run of calls."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.took_s: list[float] = []
        self.statuses: Counter[int] = Counter()

    @property
    def calls_per_s(self) -> float:
        """Answered calls per second."""
        return len(self.took_s) / self.seconds

    def percentile_ms(self, percent: float) -> float:
        """Return the upper bound of the call time for that share of the calls."""
        ordered = sorted(self.took_s)
        return 1000 * ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]


class _Connection:
    def __init__(self, port: int, at: int) -> None:
        self.at = at
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.setblocking(False)
        self.due_s = 0.0
        self.received = b""
        self.missing = 0
        """Bytes of the body still to come; 0 until the head is complete."""

    def send(self, request: bytes, due_s: float) -> None:
        self.due_s, self.received, self.missing = due_s, b"", 0
        self.socket.send(request)

    def receive(self) -> int | None:
        """Return the status once the response is complete, else None."""
        chunk = self.socket.recv(1 << 20)
        if not chunk:
            raise ConnectionError
        if self.missing:
            self.missing -= len(chunk)
        else:
            self.received += chunk
            end = self.received.find(b"\r\n\r\n")
            if end < 0:
                return None
            head = self.received[:end].lower()
            at = head.find(_LENGTH)
            length = int(head[at + len(_LENGTH) :].split(b"\r\n", 1)[0]) if at >= 0 else 0
            self.missing = end + 4 + length - len(self.received)
        return int(self.received[9:12]) if self.missing == 0 else None


def call(
    port: int,
    requests: Iterator[bytes],
    *,
    seconds: float,
    connections: int = 32,
    calls_per_s: float | None = None,
) -> Load:
    """Call for that many seconds. Without `calls_per_s` each connection calls without a pause."""
    shorten_time_slice()  # real callers run on other machines
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
        in_flight = 0
        while due or in_flight:
            now = time.perf_counter()
            while due and due[0][0] <= now:
                due_s, at = heapq.heappop(due)
                if now < end:
                    opened[at].send(next(requests), due_s if interval_s else now)
                    in_flight += 1
            wait_s = due[0][0] - now if due else 1.0
            # The kernel waits whole milliseconds, too long for the next call: poll instead.
            for key, _ in selector.select(wait_s if wait_s > _ROUNDED_S else 0):
                connection = opened[key.data]
                status = connection.receive()
                if status is None:
                    continue
                now = time.perf_counter()
                in_flight -= 1
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
