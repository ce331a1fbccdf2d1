"""Background job that analyses due tokens before they are requested."""

import asyncio
import math
import time
from collections.abc import Callable, Mapping

import structlog
from apscheduler.schedulers.asyncio import AsyncIOScheduler

from analysis.pipeline.refresher import Refresher
from assay.service.background.refresh_budget import AnalysisCost, RefreshBudget
from assay.service.background.round_share import RequestedToken, RoundShare
from assay.service.background.schedule import schedule_by_chain
from config.settings import AnalysisSettings
from core.errors import StoreError
from core.rpc.request_meter import metered
from sql.engine.store import Store
from sql.tokens.task_queue import Task, take_tasks

_LOG = structlog.get_logger(__name__)


class DueTokenJob:
    """Analyses the due tokens of every chain, a few at a time."""

    def __init__(
        self,
        *,
        analyser: Refresher,
        store: Store,
        chains: Mapping[str, int],
        settings: AnalysisSettings,
        budgets: Mapping[str, RefreshBudget],
        now_s: Callable[[], float],
        share: RoundShare | None = None,
    ) -> None:
        """`chains`: ids by slug, of the served chains. `budgets`: by slug. `share`: tokens
        that are analysed in the same rounds. None: there are none."""
        self._share = share or RoundShare()
        self._analyser = analyser
        self._store = store
        self._chains = chains
        self._settings = settings
        self._now_s = now_s
        self._budgets = budgets

    def schedule(self, scheduler: AsyncIOScheduler) -> None:
        """Add a job for each chain."""
        every_s = self._settings.rounds_every_s
        schedule_by_chain(
            scheduler, self.go, self._chains, every_s=every_s, name="analyse due tokens"
        )

    async def go(self, slug: str) -> None:
        """Run one round of one chain, unless the hour's budget is used up.

        Requests of other processes reduce the number of concurrent analyses.
        """
        budget = self._budgets[slug]
        if not budget.is_left:
            return
        at_most = self._settings.concurrency - self._share.busy(slug)
        if at_most <= 0:
            return
        waiting = min(max(1, at_most // 2), self._share.waiting(slug))
        try:
            due = await asyncio.to_thread(
                self._take_due, self._chains[slug], max(1, at_most - waiting)
            )
        except StoreError as error:
            _LOG.error("due tokens cannot be read", chain=slug, why=str(error))
            return
        requested = self._share.take(slug, at_most=waiting)
        if not due and not requested:
            return
        started_s = time.process_time()
        with metered() as meter:
            # The analyser logs errors; a round continues with the other tokens.
            await asyncio.gather(
                *(self._analyser.refresh(slug, task.token.address) for task in due),
                *(self._analyse_requested(slug, one) for one in requested),
                return_exceptions=True,
            )
        budget.spend(AnalysisCost(requests=meter.requests, cpu_s=time.process_time() - started_s))

    async def _analyse_requested(self, slug: str, requested: RequestedToken) -> None:
        """Analyse a token that a caller waits for, and settle its outcome."""
        try:
            requested.settle(
                await self._analyser.refresh(slug, requested.address, redecompile=requested.is_anew)
            )
        except Exception as error:  # noqa: BLE001 - raised for the caller; the analyser logs it
            requested.settle(error)

    def _take_due(self, chain_id: int, at_most: int) -> list[Task]:
        """Take due tokens. One that is still due after its analysis (the node did not answer, the
        outcome could not be stored) is not retried for a while."""
        now_s = int(self._now_s())
        return take_tasks(
            self._store,
            "refresh",
            chain_id=chain_id,
            now_s=now_s,
            again_s=now_s + math.ceil(self._settings.refresh_after_s),
            at_most=at_most,
        )
