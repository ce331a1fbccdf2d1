"""Scheduling shared by background jobs: a job for each chain."""

import logging
from collections.abc import Awaitable, Callable, Iterable

from apscheduler.schedulers.asyncio import AsyncIOScheduler

# It warns of every round left out because the last one is not over, which is how it is meant.
logging.getLogger("apscheduler.scheduler").setLevel(logging.ERROR)


def schedule_by_chain(
    scheduler: AsyncIOScheduler,
    go: Callable[[str], Awaitable[None]],
    slugs: Iterable[str],
    *,
    every_s: float,
    name: str,
) -> None:
    """Add a job for each chain. One round at a time; a missed round is skipped."""
    for slug in slugs:
        scheduler.add_job(
            go,
            "interval",
            args=[slug],
            seconds=every_s,
            max_instances=1,
            coalesce=True,
            id=f"{name} of {slug}",
        )
