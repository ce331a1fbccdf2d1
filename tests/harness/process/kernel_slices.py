"""Time slices as reported by the kernel, for tests and for their child processes."""

import ctypes
import platform
import sys

import pytest

_SCHED_GETATTR = {"x86_64": 315, "aarch64": 275}
_SIZE, _RUNTIME_AT = 48, 24

_HAS_SLICES = (
    platform.system() == "Linux"
    and platform.machine() in _SCHED_GETATTR
    and tuple(map(int, platform.release().split("-")[0].split(".")[:2])) >= (6, 12)
)
needs_slices = pytest.mark.skipif(not _HAS_SLICES, reason="no slices of one's own in this kernel")


def slice_ns() -> int:
    """Return the length of the calling thread's slices."""
    buffer = ctypes.create_string_buffer(_SIZE)
    number = _SCHED_GETATTR[platform.machine()]
    assert ctypes.CDLL(None).syscall(number, 0, buffer, _SIZE, 0) == 0
    return int.from_bytes(buffer.raw[_RUNTIME_AT : _RUNTIME_AT + 8], "little")


def main() -> None:
    """Write nanoseconds."""
    sys.stdout.write(f"{slice_ns()}\n")
