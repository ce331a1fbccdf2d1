"""Scheduling shared by background jobs: a job for each chain."""

from collections.abc import Awaitable, Callable, Iterable

from apscheduler.schedulers.asyncio import AsyncIOScheduler


def schedule_by_chain(
    scheduler: AsyncIOScheduler,
    go: Callable[[str], Awaitable[None]],
    slugs: Iterable[str],
    *,
    every_s: float,
    name: str,
) -> None:
    """Add a job for each chain. One round at a time; a late round is not made up for."""
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
