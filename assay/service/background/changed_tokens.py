"""Background job that analyses watched tokens again as soon as a change is observed.

It comes before all other background work. Its analyses run even when the hour's budget is used up,
and count against it.
"""

import asyncio
import time
from collections.abc import Callable, Mapping

import msgspec
import structlog
from apscheduler.schedulers.asyncio import AsyncIOScheduler

from analysis.pipeline.refresher import Refresher
from assay.service.background.refresh_budget import AnalysisCost, RefreshBudget
from assay.service.background.schedule import schedule_by_chain
from core.errors import AssayError, StoreError
from core.rpc.request_meter import metered
from sql.engine.store import Store
from sql.tokens.observations import find_earliest_after
from sql.tokens.task_queue import Task, has_due, take_tasks

_LOG = structlog.get_logger(__name__)

_EVERY_S = 0.25
_AGAIN_S = 2
"""Seconds after which a token that is still due is analysed again: its report was of an older block
than the change, or there was none."""


class NoticedChange(msgspec.Struct, frozen=True, kw_only=True):
    """One analysis caused by an observed change."""

    chain: str
    """Slug."""
    seconds: float
    """From the time of the first block with the change to the report that includes it."""


class ChangedTokenJob:
    """Analyses changed tokens of every chain, as many concurrently as the analyser accepts."""

    def __init__(
        self,
        *,
        analyser: Refresher,
        store: Store,
        chains: Mapping[str, int],
        budgets: Mapping[str, RefreshBudget],
        at_once: int,
        now_s: Callable[[], float],
        observe: Callable[[NoticedChange], None] = lambda _: None,
    ) -> None:
        """`chains`: ids by slug. `budgets`: by slug. `observe`: called with each change that a
        report includes."""
        self._analyser = analyser
        self._store = store
        self._chains = chains
        self._budgets = budgets
        self._at_once = at_once
        self._now_s = now_s
        self._observe = observe
        self._running: dict[str, dict[int, asyncio.Task[None]]] = {slug: {} for slug in chains}

    def schedule(self, scheduler: AsyncIOScheduler) -> None:
        """Add a job for each chain."""
        schedule_by_chain(
            scheduler, self.go, self._chains, every_s=_EVERY_S, name="analyse changed tokens"
        )

    async def go(self, slug: str) -> None:
        """Start the due analyses of one chain, without waiting for them: a slow one must not delay
        the others."""
        running = self._running[slug]
        free = self._at_once - len(running)
        if free <= 0:
            return
        try:
            due = await asyncio.to_thread(self._take_due, self._chains[slug], free)
        except StoreError as error:
            _LOG.error("changed tokens cannot be read", chain=slug, why=str(error))
            return
        for task in due:
            token_id = task.token.token_id
            if token_id not in running:
                running[token_id] = asyncio.create_task(self._analyse(slug, task))

    async def wait(self) -> None:
        """Wait for the running analyses."""
        tasks = [task for running in self._running.values() for task in running.values()]
        await asyncio.gather(*tasks, return_exceptions=True)

    def _take_due(self, chain_id: int, at_most: int) -> list[Task]:
        now_s = int(self._now_s())
        if not has_due(self._store, "changed", chain_id=chain_id, now_s=now_s):
            return []  # without the write lock
        return take_tasks(
            self._store,
            "changed",
            chain_id=chain_id,
            now_s=now_s,
            again_s=now_s + _AGAIN_S,
            at_most=at_most,
        )

    async def _analyse(self, slug: str, task: Task) -> None:
        """Analyse one token. The analyser logs errors; the task is still there and due again."""
        try:
            await self._refresh(slug, task)
        finally:
            del self._running[slug][task.token.token_id]

    async def _refresh(self, slug: str, task: Task) -> None:
        started_s = time.process_time()
        with metered() as meter:
            try:
                before = await self._analyser.recall(slug, task.token.address)
                report = await self._analyser.refresh(slug, task.token.address)
                above = before.report.token.block_number if before.report else -1
                await self._observe_change(slug, task, above=above, up_to=report.token.block_number)
            except AssayError:
                pass
        self._budgets[slug].spend(
            AnalysisCost(requests=meter.requests, cpu_s=time.process_time() - started_s)
        )

    async def _observe_change(self, slug: str, task: Task, *, above: int, up_to: int) -> None:
        first_s, next_s = await asyncio.gather(
            *(
                asyncio.to_thread(
                    find_earliest_after, self._store, task.token.token_id, above=block
                )
                for block in (above, up_to)
            )
        )
        if first_s is not None and first_s != next_s:
            self._observe(NoticedChange(chain=slug, seconds=max(0.0, self._now_s() - first_s)))
