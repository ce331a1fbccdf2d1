"""Run a module with `time.time` read from a file that another process writes.

Replaced before anything of the product is imported. The monotonic clock stays.

python -m tests.harness.fleet.shared_clock FILE MODULE ARGUMENTS...
"""

import mmap
import runpy
import struct
import sys
import time
from pathlib import Path

from tests.harness.clock import HandClock

_FORM = struct.Struct("<d")


class SharedClock(HandClock):
    """A clock that a test sets, and that other processes read."""

    def __init__(self, path: Path, now_s: float) -> None:
        path.write_bytes(_FORM.pack(now_s))
        self._shown = _mapped(path)
        super().__init__(now_s)

    @property
    def now_s(self) -> float:
        """Unix time, everywhere."""
        return float(_FORM.unpack_from(self._shown)[0])

    @now_s.setter
    def now_s(self, now_s: float) -> None:
        _FORM.pack_into(self._shown, 0, now_s)


def _mapped(path: Path) -> mmap.mmap:
    with path.open("r+b") as file:
        return mmap.mmap(file.fileno(), _FORM.size)


def follow(path: Path) -> None:
    """Set `time.time` and `time.time_ns` of this process to the file's value."""
    shown = _mapped(path)
    time.time = lambda: float(_FORM.unpack_from(shown)[0])
    time.time_ns = lambda: int(time.time() * 1_000_000_000)


if __name__ == "__main__":
    follow(Path(sys.argv[1]))
    sys.argv = sys.argv[2:]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
