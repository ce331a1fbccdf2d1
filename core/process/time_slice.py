"""Time slices of threads: short ones for those that callers wait for, from Linux 6.12 on.

Source: sched_setattr(2); sched-eevdf of the kernel's documentation.
"""

import ctypes
import os
import platform
from typing import Final

SHORT_SLICE_S: Final = 0.0003
"""About the processor time of an answer from memory; the kernel's default is some 3 ms."""

_SCHED_SETATTR: Final = {"x86_64": 314, "aarch64": 274}
"""Number of the system call, by architecture."""


class _SchedAttr(ctypes.Structure):
    _fields_ = (
        ("size", ctypes.c_uint32),
        ("policy", ctypes.c_uint32),
        ("flags", ctypes.c_uint64),
        ("nice", ctypes.c_int32),
        ("priority", ctypes.c_uint32),
        ("runtime_ns", ctypes.c_uint64),
        ("deadline_ns", ctypes.c_uint64),
        ("period_ns", ctypes.c_uint64),
    )


def shorten_time_slice() -> bool:
    """Have the calling thread, and threads and processes that it starts, run in short slices.

    A thread that wakes up then interrupts one with a longer slice, instead of waiting for its end.
    Its share of the processor stays as it is. Kernels before 6.12 take the call and ignore the
    length. Returns False where there is no such call or it is refused.
    """
    return _set_slice(SHORT_SLICE_S)


def restore_time_slice() -> bool:
    """Have the calling thread, and what it starts, run in the kernel's own slices again.

    Returns as `shorten_time_slice`.
    """
    return _set_slice(0)


def _set_slice(slice_s: float) -> bool:
    """Set the length for the calling thread; 0: the kernel's own."""
    number = _SCHED_SETATTR.get(platform.machine())
    if platform.system() != "Linux" or number is None:
        return False
    wanted = _SchedAttr(
        size=ctypes.sizeof(_SchedAttr),
        policy=os.sched_getscheduler(0),
        nice=os.getpriority(os.PRIO_PROCESS, 0),
        runtime_ns=round(slice_s * 1e9),
    )
    return not ctypes.CDLL(None).syscall(number, 0, ctypes.byref(wanted), 0)
