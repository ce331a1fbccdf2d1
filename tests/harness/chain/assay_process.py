"""`assay` as a separate process, as a person runs it."""

import fcntl
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from assay.demo.npm_packages import PROJECT_ROOT

PATIENCE_S = 60.0
"""Longest time of a step on a slow machine."""

_SESSION_FIELD = 3
"""Field of /proc/<pid>/stat, counted after the name in brackets."""

T = TypeVar("T")


@contextmanager
def running(*arguments: str, env: Mapping[str, str]) -> Iterator[subprocess.Popen[str]]:
    """Run `assay` in a new session, killed at the end if it still runs."""
    process = subprocess.Popen(
        _words(arguments),
        cwd=PROJECT_ROOT,
        env=_environment(env),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def run(*arguments: str, env: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """To its end."""
    return subprocess.run(
        _words(arguments),
        cwd=PROJECT_ROOT,
        env=_environment(env),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )


def until(condition: Callable[[], T | None]) -> T:
    """Wait until the condition returns a value. Raises TimeoutError."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        answer = condition()
        if answer is not None:
            return answer
        time.sleep(0.05)
    raise TimeoutError


def run_on_terminal(*arguments: str, env: Mapping[str, str]) -> tuple[int, str]:
    """Run to the end on a new terminal; return exit code and terminal output."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 120, 0, 0))
    with subprocess.Popen(
        _words(arguments),
        cwd=PROJECT_ROOT,
        env={**_environment(env), "TERM": "xterm-256color"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    ) as process:
        os.close(theirs)
        sent = bytearray()
        with suppress(OSError):  # sign of a terminal whose other end is closed
            while part := os.read(ours, 65_536):
                sent += part
        os.close(ours)
    return process.returncode, sent.decode()


def session_members(session: int) -> list[int]:
    """Processes of a session, its leader included."""
    members = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(fields[_SESSION_FIELD]) == session:
            members.append(int(stat.parent.name))
    return members


def _words(arguments: tuple[str, ...]) -> list[str]:
    return [sys.executable, "-m", "assay", *arguments]


def _environment(env: Mapping[str, str]) -> dict[str, str]:
    """Ours without any ASSAY_ variable of the person who runs the tests."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ASSAY_")}
    return {**kept, **env}
