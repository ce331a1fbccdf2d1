"""Background job that analyses due tokens before they are requested."""

import asyncio
from collections.abc import Callable, Mapping

import structlog
from apscheduler.schedulers.asyncio import AsyncIOScheduler

from analysis.background.retry_gate import RetryGate, schedule_by_chain
from analysis.pipeline.analyser import Analyser
from config.settings_model import AnalysisSettings
from core.errors import StoreError
from core.primitives import Address
from sql.reports import list_due
from sql.store import Store

_LOG = structlog.get_logger(__name__)

_LOOKED_AT = 4
"""Tokens read for each that is analysed: some may have been tried without result lately."""

_MOST_REMEMBERED = 1_000
"""Tokens remembered as tried lately; the oldest are dropped first."""


class DueTokenJob:
    """Analyses the tokens that are due, a few at a time, on every chain."""

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
        self._patience = RetryGate(now_s, at_most=_MOST_REMEMBERED)

    def schedule(self, scheduler: AsyncIOScheduler) -> None:
        """Add a job for each chain."""
        every_s = self._settings.rounds_every_s
        schedule_by_chain(
            scheduler, self.go, self._chains, every_s=every_s, name="judge due tokens"
        )

    async def go(self, slug: str) -> None:
        """Run one round of one chain: at most as many tokens as may be analysed at the same
        time."""
        try:
            due = await asyncio.to_thread(self._read_due, self._chains[slug])
        except StoreError as error:
            _LOG.error("due tokens cannot be read", chain=slug, why=str(error))
            return
        worth = [token for token in due if self._patience.is_over(slug, token)]
        chosen = worth[: self._settings.concurrency]
        # The analyser logs errors; a round goes on with the other tokens.
        await asyncio.gather(
            *(self._judge(slug, token) for token in chosen), return_exceptions=True
        )

    def _read_due(self, chain_id: int) -> list[Address]:
        rows = list_due(
            self._store,
            chain_id=chain_id,
            now_s=int(self._now_s()),
            older_than_s=int(self._settings.background_refresh_s),
            at_most=_LOOKED_AT * self._settings.concurrency,
        )
        return [row.address for row in rows]

    async def _judge(self, slug: str, token: Address) -> None:
        """Analyse one token. If it is still due afterwards (the node did not answer, the outcome
        could not be stored), it is not tried again for a while."""
        self._patience.begin(slug, token, for_s=self._settings.refresh_after_s)
        await self._analyser.refresh(slug, token)
