"""Cost of other processes: wall clock, processor time and memory. Reads /proc, so Linux only."""

import os
import resource
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

_FAILED_OUTPUT = 2_000
"""Characters kept from the end of a failed process's output."""
_PARENT, _USER, _SYSTEM = 1, 11, 12
"""Fields of /proc/<pid>/stat, counted after the name in brackets."""


class Process:
    """A process by its id."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._path = Path(f"/proc/{pid}")

    def memory_mb(self) -> float:
        """Return the resident memory."""
        return self._status_mb("VmRSS")

    def peak_mb(self) -> float:
        """Return the peak of the resident memory since the start."""
        return self._status_mb("VmHWM")

    def cpu_s(self) -> float:
        """Return the processor time used since the start."""
        fields = _read_stat(self._path)
        return (int(fields[_USER]) + int(fields[_SYSTEM])) / os.sysconf("SC_CLK_TCK")

    def family(self) -> "list[Process]":
        """Return the process and its living descendants."""
        parents: dict[int, list[int]] = {}
        for path in Path("/proc").glob("[0-9]*"):
            try:
                parents.setdefault(int(_read_stat(path)[_PARENT]), []).append(int(path.name))
            except (FileNotFoundError, ProcessLookupError):
                continue
        pids = [self.pid]
        for pid in pids:
            pids += parents.get(pid, ())
        return [Process(pid) for pid in pids]

    def name(self) -> str:
        """Return the name of the program."""
        return (self._path / "comm").read_text(encoding="utf-8").strip()

    def _status_mb(self, field: str) -> float:
        lines = (self._path / "status").read_text(encoding="ascii").splitlines()
        return int(next(line for line in lines if line.startswith(field)).split()[1]) / 1024


def _read_stat(path: Path) -> list[str]:
    return (path / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()


class Cost(msgspec.Struct, frozen=True, kw_only=True):
    """Cost of one run, start and end of the process included."""

    wall_s: float
    cpu_s: float
    """Processor time of all threads and of the child processes it waited for."""
    peak_mb: float
    """Peak resident memory of the largest process."""


class RunFailedError(Exception):
    """A process failed; the message is the end of its output."""


def run_timed(
    command: Sequence[str | Path], *, env: Mapping[str, str], folder: Path, longest_s: float
) -> Cost:
    """Run a command in a folder. Raises RunFailedError when it fails or takes too long."""
    with tempfile.TemporaryFile() as output:
        started_s = time.monotonic()
        child = subprocess.Popen(
            command, env=env, cwd=folder, stdin=subprocess.DEVNULL, stdout=output, stderr=output
        )
        status, usage = _wait(child.pid, until_s=started_s + longest_s)
        wall_s = time.monotonic() - started_s
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            output.seek(0)
            raise RunFailedError(output.read().decode(errors="replace")[-_FAILED_OUTPUT:])
    return Cost(
        wall_s=wall_s, cpu_s=usage.ru_utime + usage.ru_stime, peak_mb=usage.ru_maxrss / 1024
    )


def _wait(pid: int, *, until_s: float) -> tuple[int, resource.struct_rusage]:
    """Wait for one child; `getrusage` would add up the usage of all children."""
    while True:
        ended, status, usage = os.wait4(pid, os.WNOHANG)
        if ended:
            return status, usage
        if time.monotonic() > until_s:
            os.kill(pid, 9)
        time.sleep(0.005)
