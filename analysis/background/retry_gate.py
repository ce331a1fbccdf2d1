"""Scheduling shared by background jobs: a job for each chain, and a pause between tries of a
token."""

from collections.abc import Awaitable, Callable, Iterable

from apscheduler.schedulers.asyncio import AsyncIOScheduler
from cachetools import FIFOCache

from core.primitives import Address


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


class RetryGate:
    """Pauses between tries of a token: tokens tried lately, and when each may be tried again."""

    def __init__(self, now_s: Callable[[], float], *, at_most: int) -> None:
        """`at_most`: tokens remembered; the oldest are dropped first."""
        self._now_s = now_s
        self._not_before = FIFOCache[tuple[str, Address], float](at_most)

    def is_over(self, slug: str, token: Address) -> bool:
        """True if the token may be tried."""
        return self._not_before.get((slug, token), 0.0) <= self._now_s()

    def begin(self, slug: str, token: Address, *, for_s: float) -> None:
        """Start the pause of a token, in seconds from now."""
        self._not_before[slug, token] = self._now_s() + for_s
