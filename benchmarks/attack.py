"""A caller's times while others attack the service, next to a quiet run.

The whole service (`assay serve`) runs on a node with the demo's tokens. The victim calls from
127.0.0.1, over a new connection each time; attackers come from other addresses of 127.0.0.0/8, each
a network. One row is printed for each attack: the victim's calls, failures, p50 and p99.

--only NAME: this attack alone, and the quiet run. --seconds: length of each.
"""

import argparse
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Final

import httpx
import msgspec

from assay.demo.anvil import AnvilNode
from assay.demo.embedded_chain import write_overlay
from assay.demo.world import build_world
from core.evm.primitives import checksum
from tests.harness.api.attackers import attacking, call_as_victim
from tests.harness.chain.assay_process import run, running, until
from tests.harness.measure.http_load import Load
from tests.harness.measure.machine import describe
from tests.harness.parts.free_ports import free_port

CONNECTIONS: Final = 5_000
KEYS: Final = 4
SETTLED_S: Final = 1.0
"""Seconds between the begin of an attack and the first call of the victim."""

SETTINGS: Final = '[api]\nforwarded_header = "forwarded"\n[watches]\nallow_http = true\n'

SLOW_NAMES: Final = """
import socket, time
_find = socket.getaddrinfo
def getaddrinfo(host, *arguments, **named):
    if str(host).endswith(".slow.test"):
        time.sleep(10)
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")
    return _find(host, *arguments, **named)
socket.getaddrinfo = getaddrinfo
"""
"""Module that the service imports at its start: the name server is the only part that is not
real."""

HOSTILE_HEADERS: Final = tuple(
    f"{name}: {begin}{unit * (length // len(unit))}"
    for length in (60_000, 15_000)
    for name, begin, unit in (
        ("Forwarded", "", '"'),
        ("Forwarded", "", 'for="'),
        ("Cookie", 'assay_session="', "\\a"),
        ("Accept-Encoding", "", ",;q="),
    )
)


class VictimService(msgspec.Struct, frozen=True, kw_only=True):
    """A running service."""

    port: int
    keys: tuple[str, ...]
    path: str
    """Path of the victim's calls."""
    token: str


Attack = Callable[[VictimService], AbstractContextManager[object]]


@contextmanager
def _quiet(_: VictimService) -> Iterator[None]:
    yield


@contextmanager
def _connections(
    kinds: Sequence[str], target: VictimService, *, networks: int = 1, count: int = CONNECTIONS
) -> Iterator[None]:
    sources = [f"127.1.{at // 250}.{1 + at % 250}" for at in range(networks)]
    with attacking(target.port, kinds, count, sources=sources):
        yield


@contextmanager
def _threads(work: Callable[[threading.Event], None], number: int) -> Iterator[None]:
    """Repeat the work in threads of this process until the end."""
    ended = threading.Event()
    threads = [threading.Thread(target=work, args=(ended,), daemon=True) for _ in range(number)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        ended.set()
        for thread in threads:
            thread.join(20)


def _headers(target: VictimService) -> AbstractContextManager[None]:
    """Pages with headers that take long to parse."""
    headers = cycle(HOSTILE_HEADERS)

    def work(ended: threading.Event) -> None:
        while not ended.wait(0.1):
            request = f"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n{next(headers)}\r\n\r\n"
            with suppress(OSError), socket.create_connection(("127.0.0.1", target.port)) as one:
                one.settimeout(20)
                one.sendall(request.encode())
                while one.recv(65_536):
                    pass

    return _threads(work, 4)


@contextmanager
def _streams(target: VictimService) -> Iterator[None]:
    """Event streams of several keys, opened at once."""
    opened = []
    try:
        for key in target.keys * 64:
            one = socket.create_connection(
                ("127.0.0.1", target.port), source_address=("127.1.0.9", 0)
            )
            one.sendall(
                f"GET /watches/events HTTP/1.1\r\nHost: a\r\nX-API-Key: {key}\r\n\r\n".encode()
            )
            opened.append(one)
        yield
    finally:
        for one in opened:
            one.close()


@contextmanager
def _names(target: VictimService) -> Iterator[None]:
    """Webhooks at names that resolve slowly."""
    with httpx.Client(base_url=f"http://127.0.0.1:{target.port}", timeout=30) as client:
        made = []
        for at in range(100):
            headers = {"X-API-Key": target.keys[at % len(target.keys)]}
            body = {
                "name": f"slow {at}",
                "tokens": [{"chain": "ethereum", "addresses": [target.token]}],
                "webhook_url": f"http://{at}.slow.test/",
            }
            answer = client.post("/watches", json=body, headers=headers)
            answer.raise_for_status()
            number = answer.json()["watch"]["id"]
            client.post(f"/watches/{number}/test", headers=headers).raise_for_status()
            made.append((number, headers))
        try:
            yield
        finally:
            for number, headers in made:
                client.delete(f"/watches/{number}", headers=headers)


ATTACKS: Final[dict[str, Attack]] = {
    "quiet": _quiet,
    "idle connections": partial(_connections, ("idle",)),
    "half-sent heads": partial(_connections, ("head",)),
    "half-sent bodies": partial(_connections, ("form", "chunked")),
    "slow heads": partial(_connections, ("slow",)),
    "unread answers": partial(_connections, ("unread",), count=1_000),
    "all of these": partial(_connections, ("idle", "kept", "head", "form", "slow")),
    "all, 2,000 networks": partial(
        _connections, ("idle", "kept", "head", "form", "slow"), networks=2_000
    ),
    "headers": _headers,
    "streams": _streams,
    "slow names": _names,
}
"""Attacks by name. Each begins with its context, and ends with it."""


@contextmanager
def serving(folder: Path) -> Iterator[VictimService]:
    """Run the service on a node with the demo's tokens."""
    with ExitStack() as stack:
        node = stack.enter_context(AnvilNode())
        world = build_world(node)
        write_overlay(world, folder, more=SETTINGS)
        (folder / "sitecustomize.py").write_text(SLOW_NAMES, encoding="utf-8")
        env = {
            "ASSAY_RPC_1": node.url,
            "ASSAY_CONFIG": str(folder),
            "ASSAY_STORE": str(folder / "store.duckdb"),
        }
        made = [
            run("keys", "create", "--plan", "admin", "--label", "attack", env=env).stdout.strip()
            for _ in range(KEYS)
        ]
        port = free_port()
        slow = {**env, "PYTHONPATH": str(folder)}
        process = stack.enter_context(running("serve", "--port", str(port), env=slow))
        threading.Thread(
            target=lambda: process.stdout and process.stdout.read(), daemon=True
        ).start()
        base = f"http://127.0.0.1:{port}"

        def is_ready() -> bool | None:
            with suppress(httpx.TransportError):
                return httpx.get(f"{base}/ready").status_code == httpx.codes.OK or None
            return None

        until(is_ready)
        token = checksum(world.token("honest").address)
        path = f"/token/ethereum/{token}"
        httpx.get(base + path, headers={"X-API-Key": made[0]}, timeout=60).raise_for_status()
        yield VictimService(port=port, keys=tuple(made), path=path, token=token)


def measure(target: VictimService, attack: Attack, *, seconds: float) -> Load:
    """Return the victim's calls during an attack."""
    with attack(target):
        time.sleep(SETTLED_S)
        return call_as_victim(target.port, target.path, seconds=seconds, key=target.keys[0])


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=ATTACKS)
    parser.add_argument("--seconds", type=float, default=10.0)
    arguments = parser.parse_args()
    names = [*ATTACKS] if arguments.only is None else list(dict.fromkeys(["quiet", arguments.only]))
    print(describe(f"{CONNECTIONS} connections; victim at 20 calls/s, a new connection each"))
    print(f"{'attack':22}{'calls':>7}{'failed':>8}{'p50 ms':>9}{'p99 ms':>9}")
    with (
        tempfile.TemporaryDirectory(prefix="assay-attack-") as folder,
        serving(Path(folder)) as target,
    ):
        for name in names:
            load = measure(target, ATTACKS[name], seconds=arguments.seconds)
            calls = load.statuses.total()
            failed = calls - load.statuses[200]
            times = f"{load.percentile_ms(50):9.1f}{load.percentile_ms(99):9.1f}"
            print(f"{name:22}{calls:7}{failed:8}{times}", flush=True)


if __name__ == "__main__":
    main()
