"""Child processes with a JSON specification as argument and JSON lines as reports.

A child prints one line once it runs and, after a line of input, one with its results.
"""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

from tests.harness.measure.machine import ROOT
from tests.harness.measure.process_cost import Process

_LONGEST_END_S = 60.0


class Child:
    """A running child process."""

    def __init__(self, module: str, spec: msgspec.Struct) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", module, msgspec.json.encode(spec).decode()],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self.started = self._read_line()
        self.usage = Process(self._process.pid)

    def finish(self) -> bytes:
        """Request the end of the run and return the results."""
        if self._process.stdin is not None:
            self._process.stdin.write(b"finish\n")
            self._process.stdin.flush()
        return self._read_line()

    def stop(self) -> None:
        """End the process, by force where it does not end within a minute."""
        self._process.terminate()
        try:
            self._process.wait(_LONGEST_END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _read_line(self) -> bytes:
        line = self._process.stdout.readline() if self._process.stdout else b""
        if not line:
            sys.exit("a child process ended early; its reason is above")
        return line


@contextmanager
def running(module: str, spec: msgspec.Struct) -> Iterator[Child]:
    """Run a child process, stopped at the end."""
    child = Child(module, spec)
    try:
        yield child
    finally:
        child.stop()


def report(value: object) -> None:
    """Print a value as a line of JSON to the parent."""
    sys.stdout.buffer.write(msgspec.json.encode(value) + b"\n")
    sys.stdout.flush()
