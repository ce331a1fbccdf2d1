"""What the C library's allocator is told: only glibc listens."""

import ctypes
from contextlib import suppress

_M_ARENA_MAX = -8


def share_one_arena() -> None:
    """Let all threads allocate from one arena. Call before threads are started.

    By itself glibc gives each thread an arena of its own, which keeps the most that the thread ever
    had at once: a store's threads take turns at the same blocks, so that is kept several times.
    """
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1)
