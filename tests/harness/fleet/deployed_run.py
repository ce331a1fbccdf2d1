"""Runs the processes of a deployment on this machine: with their own arguments and environment, but
for where the others are and where they listen."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

import httpx
from prometheus_client.parser import text_string_to_metric_families

from tests.harness.fleet.deployed_process import DeployedProcess
from tests.harness.parts.server_process import PartFailedError, free_port

PROGRAM: Final = (sys.executable, "-m", "assay")
"""This checkout's."""

_START_S: Final = 90.0
_LOOK_EVERY_S: Final = 0.1
_LOG_TAIL_CHARS: Final = 3_000


class RunningMember:
    """One process."""

    def __init__(
        self, planned: DeployedProcess, env: Mapping[str, str], folder: Path, program: Sequence[str]
    ) -> None:
        self.planned: Final = planned
        self.port: Final = free_port()
        self.metrics_port: Final = free_port()
        self._env = {
            **planned.environment,
            **env,
            "ASSAY_HOST": "127.0.0.1",
            "ASSAY_PORT": str(self.port),
            "ASSAY_METRICS_ADDRESS": f"127.0.0.1:{self.metrics_port}",
        }
        self._program = program
        self._log = folder / f"{planned.name}.log"
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                [*program, *planned.arguments],
                cwd=self._env["TMPDIR"],
                env=self._env,
                stdout=log,
                stderr=log,
            )

    @property
    def url(self) -> str:
        """Return where it answers."""
        return f"http://127.0.0.1:{self.port}"

    def status_of(self, path: str) -> int | None:
        """Return the status of an answer. None: there is none."""
        try:
            return httpx.get(self.url + path, timeout=10).status_code
        except httpx.TransportError:
            return None

    def until_ready(self) -> None:
        """Wait for /ready. Raises PartFailedError."""
        until_s = time.monotonic() + _START_S
        while self.status_of("/ready") != httpx.codes.OK:
            if self.process.poll() is not None or time.monotonic() > until_s:
                tail = self._log.read_text(errors="replace")[-_LOG_TAIL_CHARS:]
                message = f"{self.planned.name} is not ready: {tail}"
                raise PartFailedError(message)
            time.sleep(_LOOK_EVERY_S)

    def metrics(self) -> dict[str, set[tuple[tuple[str, str], ...]]]:
        """Return the names of its metrics, with the labels of each sample that is not 0."""
        text = httpx.get(f"http://127.0.0.1:{self.metrics_port}/metrics", timeout=10).text
        return {
            family.name: {tuple(one.labels.items()) for one in family.samples if one.value}
            for family in text_string_to_metric_families(text)
        }

    def run(self, *arguments: str) -> str:
        """Run another command next to the process, as `docker compose exec` would; return its
        output.

        Raises PartFailedError.
        """
        done = subprocess.run(
            [*self._program, *arguments],
            cwd=self._env["TMPDIR"],
            env=self._env,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise PartFailedError(done.stderr)
        return done.stdout

    def send_stop(self) -> None:
        """Send the stop signal of Docker and Kubernetes."""
        self.process.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Kill it, if it has not ended."""
        self.process.kill()
        self.process.wait()


@contextmanager
def running_members(
    planned: Sequence[DeployedProcess],
    env: Mapping[str, str],
    folder: Path,
    *,
    program: Sequence[str] = PROGRAM,
) -> Iterator[dict[str, RunningMember]]:
    """Start processes together, wait until all are ready, yield them by name, and kill them.

    `env`: differences of this machine; `folder`: for logs and temporary files; `program`: `assay`.
    Raises PartFailedError.
    """
    system = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    with ExitStack() as stack:
        members = {}
        for one in planned:
            temporary = folder / f"{one.name}-tmp"
            temporary.mkdir()
            own = {**system, **env, "TMPDIR": str(temporary)}
            member = members[one.name] = RunningMember(one, own, folder, program)
            stack.callback(member.kill)
        for member in members.values():
            member.until_ready()
        yield members
