"""Judges tokens that nobody has asked about yet, so that the answer is there when somebody does."""

import asyncio
from collections.abc import Callable, Mapping

from apscheduler.schedulers.asyncio import AsyncIOScheduler

from analysis.service import Analyser
from config.errors import TokenRefusedError, UpstreamError
from config.primitives import Address
from config.settings import AnalysisSettings
from sql.reports import list_due
from sql.store import Store

_LOOKED_AT = 4
"""Tokens looked at for each that is judged: some may have failed lately."""

_MOST_REMEMBERED = 1_000
"""Tokens remembered as having failed lately; the oldest are forgotten first."""


class Rounds:
    """Takes the tokens that are due, a few at a time, on every chain."""

    def __init__(
        self,
        *,
        analyser: Analyser,
        store: Store,
        chains: Mapping[str, int],
        settings: AnalysisSettings,
        now_s: Callable[[], float],
    ) -> None:
        """`chains`: slug to chain id, of the served chains."""
        self._analyser = analyser
        self._store = store
        self._chains = chains
        self._settings = settings
        self._now_s = now_s
        self._not_before: dict[tuple[str, Address], float] = {}

    def schedule(self, scheduler: AsyncIOScheduler) -> None:
        """Add the job. One round at a time; a round that is late is not made up for."""
        scheduler.add_job(
            self.go,
            "interval",
            seconds=self._settings.rounds_every_s,
            max_instances=1,
            coalesce=True,
            id="judge due tokens",
        )

    async def go(self) -> None:
        """One round: at most as many tokens a chain as are analysed at the same time."""
        for slug, chain_id in self._chains.items():
            due = await asyncio.to_thread(
                list_due,
                self._store,
                chain_id=chain_id,
                now_s=int(self._now_s()),
                older_than_s=int(self._settings.background_refresh_s),
                at_most=_LOOKED_AT * self._settings.concurrency,
            )
            worth = [row.address for row in due if self._is_worth_it(slug, row.address)]
            chosen = worth[: self._settings.concurrency]
            await asyncio.gather(*(self._judge(slug, token) for token in chosen))

    def _is_worth_it(self, slug: str, token: Address) -> bool:
        return self._not_before.get((slug, token), 0.0) <= self._now_s()

    async def _judge(self, slug: str, token: Address) -> None:
        """A token that the node could not be asked about is left alone for a while."""
        try:
            await self._analyser.refresh(slug, token)
        except TokenRefusedError:
            return  # remembered in the tables
        except UpstreamError:
            while len(self._not_before) >= _MOST_REMEMBERED:
                del self._not_before[next(iter(self._not_before))]
            self._not_before[slug, token] = self._now_s() + self._settings.refresh_after_s
