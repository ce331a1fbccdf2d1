"""Free TCP ports: below those of outgoing connections, and apart for each worker of a test run.

A port of the system's own choice may be taken by a connection before the server listens on it.
"""

import os
import socket
from itertools import cycle
from typing import Final

_FIRST: Final = 10_000
_OF_ONE_WORKER: Final = 2_000
_MOST_WORKERS: Final = 11
"""Linux and others give outgoing connections ports from 32,768 on."""

_worker: Final = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
_low: Final = _FIRST + _worker % _MOST_WORKERS * _OF_ONE_WORKER
_places: Final = cycle(range(_OF_ONE_WORKER))
# Another run of tests on the machine begins elsewhere.
_start: Final = os.getpid() % _OF_ONE_WORKER


def free_port() -> int:
    """Return a TCP port of 127.0.0.1 that nobody listens on now."""
    while True:
        port = _low + (_start + next(_places)) % _OF_ONE_WORKER
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port
