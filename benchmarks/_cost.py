"""What a process of its own cost: by the clock, by the processor, in memory."""

import os
import resource
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

FAILED_OUTPUT = 2_000
"""Last characters of what a failed process wrote that are shown."""


class Cost(msgspec.Struct, frozen=True, kw_only=True):
    """Of one run, start and end of the process included."""

    wall_s: float
    cpu_s: float
    """Of all its threads, and of the processes that it waited for."""
    peak_mb: float
    """Resident, of the largest process."""


class RunFailedError(Exception):
    """A process ended with an error, in its own last words."""


def run_timed(
    command: Sequence[str | Path], *, env: Mapping[str, str], folder: Path, longest_s: float
) -> Cost:
    """Run it in a folder. Raises RunFailedError when it fails or takes too long."""
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
            raise RunFailedError(output.read().decode(errors="replace")[-FAILED_OUTPUT:])
    return Cost(
        wall_s=wall_s, cpu_s=usage.ru_utime + usage.ru_stime, peak_mb=usage.ru_maxrss / 1024
    )


def _wait(pid: int, *, until_s: float) -> tuple[int, resource.struct_rusage]:
    """Of this child alone: `getrusage` would add up all there were."""
    while True:
        ended, status, usage = os.wait4(pid, os.WNOHANG)
        if ended:
            return status, usage
        if time.monotonic() > until_s:
            os.kill(pid, 9)
        time.sleep(0.005)
