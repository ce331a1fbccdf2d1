"""One process of a fleet with separate links to each server, as on a machine of a deployment."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Final, Literal, get_args

import httpx

from assay.demo.npm_packages import PROJECT_ROOT
from tests.harness.parts.free_ports import free_port
from tests.harness.parts.server_process import PartFailedError
from tests.harness.parts.tcp_proxy import TcpProxy, proxied

Role = Literal["follow", "analyse", "api"]

Part = Literal["postgres", "valkey", "objects", "node"]
"""objects: the S3 server of the lake's files."""

PARTS: Final[tuple[Part, ...]] = get_args(Part)

_ANSWER_S = 4.0
_START_S = 90.0
_STOP_S = 40.0
_LOOK_EVERY_S = 0.1
_LOG_TAIL_CHARS = 4_000
_SESSION_FIELD = 3
"""Field of /proc/<pid>/stat, counted after the name in brackets."""
_STATE_FIELD = 0


Links = Mapping[Part, TcpProxy]
"""The proxies between one process and the parts."""


@contextmanager
def linked(ports: Mapping[Part, int]) -> Iterator[Links]:
    """Run proxies to the ports of all parts."""
    with ExitStack() as stack:
        yield {part: stack.enter_context(proxied(ports[part])) for part in PARTS}


class FleetMember:
    """A process `assay serve --role ...` that is started, hurt and started again at one address."""

    def __init__(
        self, name: str, role: Role, links: Links, env: Mapping[str, str], folder: Path
    ) -> None:
        """`env`: its whole environment. `folder`: for its log."""
        self.name: Final = name
        self.role: Final = role
        self.links: Final = links
        self.pids: Final[list[int]] = []
        """Ids of all processes so far, the newest last."""
        self._port = free_port()
        self.url: Final = f"http://127.0.0.1:{self._port}"
        self.env: Final = env
        self._log = folder / f"{name}.log"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, *, skew_s: float = 0.0) -> None:
        """Start a process. `skew_s`: how far its clock is ahead; below 0: behind."""
        serve = ("assay", "serve", "--role", self.role, "--port", str(self._port))
        clock = ("tests.harness.fleet.skewed_clock", str(skew_s)) if skew_s else ()
        with self._log.open("ab") as output:
            self._process = subprocess.Popen(
                (sys.executable, "-m", *clock, *serve),
                cwd=PROJECT_ROOT,
                env=self.env,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        self.pids.append(self._process.pid)

    def is_ready(self) -> bool:
        """True if it reports ready."""
        try:
            answer = httpx.get(f"{self.url}/ready", timeout=_ANSWER_S)
        except httpx.TransportError:
            return False
        return answer.status_code == httpx.codes.OK

    def until_ready(self) -> None:
        """Wait until it is ready. Raises PartFailedError when it has ended, or takes too long."""
        until_s = time.monotonic() + _START_S
        while not self.is_ready():
            if self._running().poll() is not None or time.monotonic() > until_s:
                message = f"{self.name} is not ready: {self.log_tail()}"
                raise PartFailedError(message)
            time.sleep(_LOOK_EVERY_S)

    def kill(self) -> None:
        """End the process without any warning; its children are left to themselves."""
        self._running().kill()
        self._running().wait()

    def pause(self) -> None:
        """Have the process stand still."""
        self._running().send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let a paused process go on."""
        self._running().send_signal(signal.SIGCONT)

    def stop(self) -> int | None:
        """Stop the process and return its exit code. None: it had to be killed."""
        self._running().send_signal(signal.SIGTERM)
        try:
            return self._running().wait(_STOP_S)
        except subprocess.TimeoutExpired:
            self.kill()
            return None

    def end(self) -> None:
        """Leave nothing of it, children included."""
        if self._process is not None and self._process.poll() is None:
            self.kill()
        for pid in self.left_behind():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def left_behind(self) -> list[int]:
        """Processes of former processes of this member that have not ended with them."""
        former = set(
            self.pids[:-1] if self._process and self._process.poll() is None else self.pids
        )
        return sorted(pid for pid, session in _sessions() if session in former)

    def log_tail(self) -> str:
        """Return the end of its log."""
        return self._log.read_text(errors="replace")[-_LOG_TAIL_CHARS:]

    def _running(self) -> "subprocess.Popen[bytes]":
        if self._process is None:
            message = f"{self.name} was not started"
            raise PartFailedError(message)
        return self._process


def _sessions() -> Iterator[tuple[int, int]]:
    """Process ids with the session that each belongs to, but of zombies."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields: Sequence[str] = stat.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if fields[_STATE_FIELD] != "Z":
            yield int(stat.parent.name), int(fields[_SESSION_FIELD])
