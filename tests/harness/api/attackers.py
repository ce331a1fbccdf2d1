"""Callers that hold connections open, and a victim who calls at the same time.

python -m tests.harness.api.attackers PORT SOURCES KINDS COUNT

Opens COUNT connections from the addresses SOURCES (separated by commas) to a port of this machine,
of each of KINDS in turn. Prints a line once all were opened. Opens those again that the server
closes, until standard input ends; then prints how many it opened and how many are open.
"""

import http.client
import selectors
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import cycle
from typing import Final

import msgspec

from tests.harness.measure.http_load import Load
from tests.harness.measure.machine import ROOT

_FORM: Final = (
    b"POST /t/ethereum/0x0000000000000000000000000000000000000001 HTTP/1.1\r\nHost: a\r\n"
    b"Content-Type: application/x-www-form-urlencoded\r\n"
)

SHAPES: Final[dict[str, bytes]] = {
    "idle": b"",
    "kept": b"GET /health HTTP/1.1\r\nHost: a\r\n\r\n",
    "head": b"GET /health HTTP/1.1\r\nHost: a\r\nX-Long: ",
    "form": _FORM + b"Content-Length: 100\r\n\r\napi_key=",
    "chunked": _FORM + b"Transfer-Encoding: chunked\r\n\r\n9\r\napi_key=",
    "unread": b"GET / HTTP/1.1\r\nHost: a\r\n\r\n" * 40,
    "slow": b"GET /health HTTP/1.1\r\nHost: a\r\nX-Slow: ",
}
"""First bytes of a connection by kind. slow: one more byte follows every half second."""

_AT_ONCE: Final = 200
_AGAIN: Final = 20
"""Connections that are opened again in each round: a thousand a second."""

_PAUSE_S: Final = 0.02
_DRIP_S: Final = 0.5


class AttackEnd(msgspec.Struct, frozen=True, kw_only=True):
    """Outcome of an attack."""

    opened: int
    """Connections that were opened, those again included."""
    open_now: int
    """Connections that were open at the end."""


class _Attacker:
    def __init__(self, port: int, sources: Sequence[str], firsts: Sequence[bytes]) -> None:
        self._port = port
        self._sources = cycle(sources)
        self._firsts = cycle(firsts)
        self._selector = selectors.DefaultSelector()
        self._slow: list[socket.socket] = []
        self.opened = 0
        self.open_now = 0

    def open(self) -> None:
        """Open a connection. One that is refused is opened later."""
        one = socket.socket()
        one.settimeout(1)
        first = next(self._firsts)
        try:
            one.bind((next(self._sources), 0))
            one.connect(("127.0.0.1", self._port))
            one.setblocking(False)
            if first:
                one.send(first)
        except OSError:
            one.close()
            return
        self.opened += 1
        self.open_now += 1
        is_unread = first == SHAPES["unread"]
        if first == SHAPES["slow"]:
            self._slow.append(one)
        if not is_unread:
            self._selector.register(one, selectors.EVENT_READ)

    def read(self) -> None:
        """Take what has come, and forget what the server closed."""
        for key, _ in self._selector.select(0):
            one = key.fileobj
            assert isinstance(one, socket.socket)
            received = b""
            with suppress(OSError):
                received = one.recv(65_536)
            if not received:
                self._selector.unregister(one)
                if one in self._slow:
                    self._slow.remove(one)
                one.close()
                self.open_now -= 1

    def drip(self) -> None:
        """Send another byte over the slow connections."""
        for one in self._slow:
            with suppress(OSError):
                one.send(b"a")


def _run(port: int, sources: Sequence[str], firsts: Sequence[bytes], count: int) -> AttackEnd:
    attacker = _Attacker(port, sources, firsts)
    with selectors.DefaultSelector() as ending:
        ending.register(sys.stdin, selectors.EVENT_READ)
        is_announced = False
        drips_s = time.monotonic()
        while not ending.select(_PAUSE_S):
            most = _AGAIN if is_announced else _AT_ONCE
            for _ in range(min(most, count - attacker.open_now)):
                attacker.open()
            attacker.read()
            if time.monotonic() - drips_s >= _DRIP_S:
                drips_s = time.monotonic()
                attacker.drip()
            if attacker.opened >= count and not is_announced:
                is_announced = True
                sys.stdout.write("open\n")
                sys.stdout.flush()
    attacker.read()
    return AttackEnd(opened=attacker.opened, open_now=attacker.open_now)


@contextmanager
def attacking(
    port: int, kinds: Sequence[str], count: int, *, sources: Sequence[str] = ("127.0.0.2",)
) -> Iterator[list[AttackEnd]]:
    """Hold connections in another process; it begins once all were opened. The list has the outcome
    after the end."""
    ends: list[AttackEnd] = []
    command = [sys.executable, "-m", __name__, str(port), ",".join(sources), ",".join(kinds)]
    process = subprocess.Popen(
        [*command, str(count)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "open\n"
        yield ends
        said, _ = process.communicate(timeout=60)
        ends.append(msgspec.json.decode(said, type=AttackEnd))
    finally:
        process.kill()
        process.communicate()


def call_as_victim(
    port: int, path: str, *, seconds: float, calls_per_s: float = 20, key: str = ""
) -> Load:
    """Call at a rate from 127.0.0.1, each time over a new connection. A failure has status 0."""
    load = Load()
    started = time.perf_counter()
    for number in range(int(seconds * calls_per_s)):
        due_s = started + number / calls_per_s
        time.sleep(max(0.0, due_s - time.perf_counter()))
        load.statuses[_status(port, path, key)] += 1
        load.took_s.append(time.perf_counter() - due_s)
    load.seconds = time.perf_counter() - started
    return load


def _status(port: int, path: str, key: str) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("GET", path, headers={"X-API-Key": key} if key else {})
        response = connection.getresponse()
        response.read()
    except (OSError, http.client.HTTPException):
        return 0
    finally:
        connection.close()
    return response.status


def main() -> None:
    """Attack as the arguments demand."""
    port, sources, kinds, count = sys.argv[1:]
    firsts = [SHAPES[kind] for kind in kinds.split(",")]
    end = _run(int(port), sources.split(","), firsts, int(count))
    sys.stdout.write(msgspec.json.encode(end).decode())


if __name__ == "__main__":
    main()
