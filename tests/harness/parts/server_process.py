"""Server as a separate process: a free port, ready or a clear error, reliably ended."""

import signal
import socket
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

_START_S = 20.0
_STOP_S = 10.0
_LOOK_EVERY_S = 0.01
_LOG_TAIL_CHARS = 2_000


class PartFailedError(Exception):
    """A server did not start; the message is the end of its log."""


def is_listening(port: int) -> bool:
    """True if a server accepts connections on a port of 127.0.0.1."""
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


class ServerProcess:
    """One process that logs to a file. `options` go to Popen as they are."""

    def __init__(self, command: Sequence[str | Path], *, log: Path, **options: Any) -> None:
        self._command = [str(word) for word in command]
        self._log = log
        self._options = options
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """Return the id of the running process. Raises PartFailedError when there is none."""
        if self._process is None:
            raise PartFailedError(self._command[0])
        return self._process.pid

    def start(self, is_ready: Callable[[], bool], *, within_s: float = _START_S) -> None:
        """Start the process and wait until it is ready. Raises PartFailedError."""
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                **self._options,
            )
        until_s = time.monotonic() + within_s
        while not is_ready():
            has_ended = self._process.poll() is not None
            if has_ended or time.monotonic() > until_s:
                self.end(signal.SIGKILL)
                tail = self._log.read_text(errors="replace")[-_LOG_TAIL_CHARS:]
                why = "ended" if has_ended else f"was not ready within {within_s:g} s"
                message = f"{self._command[0]} {why}: {tail}"
                raise PartFailedError(message)
            time.sleep(_LOOK_EVERY_S)

    def end(self, by: signal.Signals) -> None:
        """Send a signal and wait; kill the process if it stays. Nothing is done if it has ended."""
        if self._process is None:
            return
        self._process.send_signal(by)
        try:
            self._process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(_STOP_S)
        self._process = None
