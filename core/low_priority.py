"""Priority of processes that must not slow the service down."""

import os
from typing import Final

ANALYST: Final = 10
"""Niceness of what an analyst waits for: callers of the API go first."""


def lower_priority(niceness: int) -> None:
    """Give this process that niceness (see nice(2)) unless it has a higher one, and have it wake up
    behind others (SCHED_BATCH, where there is such a thing). Children have the same."""
    own = os.PRIO_PROCESS, 0
    os.setpriority(*own, max(niceness, os.getpriority(*own)))
    if hasattr(os, "SCHED_BATCH") and os.sched_getscheduler(0) == os.SCHED_OTHER:
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
