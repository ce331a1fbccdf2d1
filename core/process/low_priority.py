"""Priority of processes that must not slow the service down."""

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

BEHIND_CALLERS: Final = 10
"""Niceness of work that callers of the API do not wait for. On a busy processor it gets a tenth of
another's time; at 19 it would get a seventieth, also while it holds a lock."""

_AUTOGROUP: Final = Path("/proc/self/autogroup")


def lower_priority(niceness: int) -> None:
    """Raise this process to a niceness (see nice(2)), and schedule it as SCHED_BATCH where that
    exists.

    A higher niceness stays. Children inherit both. The first process of a session changes the whole
    session: where Linux shares processors among sessions first (sched(7), autogrouping), niceness
    counts within a session only.
    """
    own = os.PRIO_PROCESS, 0
    os.setpriority(*own, max(niceness, os.getpriority(*own)))
    if hasattr(os, "SCHED_BATCH") and os.sched_getscheduler(0) == os.SCHED_OTHER:
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
    if os.getsid(0) == os.getpid():
        with suppress(OSError):  # no autogroups here
            _AUTOGROUP.write_text(str(os.getpriority(*own)))
