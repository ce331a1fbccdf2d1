"""glibc malloc tuning: one arena for all threads."""

import ctypes
from contextlib import suppress

_M_ARENA_MAX = -8


def share_one_arena() -> None:
    """Let all threads allocate from one arena. Call before threads are started.

    By default glibc gives each thread its own arena, which keeps the thread's peak. The store's
    threads take turns at the same blocks, so that peak would be kept several times.
    """
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1)
