"""Base of background jobs that look something up in the past of a chain: one task at a time for
each chain, which no report and no request waits for.
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import ClassVar, Final, Literal

import structlog
from apscheduler.schedulers.asyncio import AsyncIOScheduler

from analysis.pipeline.chain_context import ChainContext
from assay.service.background.schedule import schedule_by_chain
from config.settings_model import AnalysisSettings
from core.errors import StoreError, UpstreamError
from sql.engine.store import Store
from sql.engine.table_rows import TokenRow
from sql.tokens.task_queue import take_tasks

_LOG = structlog.get_logger(__name__)

PAUSE_S: Final = 3_600
"""Seconds before a task is tried again that was not done: its block is not final, or the node had
no answer."""


class ChainSearch(ABC):
    """Takes the task that is worth most on every chain, again and again."""

    subject: ClassVar[Literal["creator", "funder"]]
    """What is looked up: the kind of its tasks."""

    def __init__(
        self,
        *,
        contexts: Mapping[str, ChainContext],
        store: Store,
        settings: AnalysisSettings,
        now_s: Callable[[], float],
    ) -> None:
        self._contexts = contexts
        self._store = store
        self._settings = settings
        self._now_s = now_s

    def schedule(self, scheduler: AsyncIOScheduler) -> None:
        """Add a job for each chain."""
        every_s, name = self._settings.rounds_every_s, f"find {self.subject}s"
        schedule_by_chain(scheduler, self.go, self._contexts, every_s=every_s, name=name)

    async def go(self, slug: str) -> None:
        """Do one task of one chain. Errors are logged."""
        context = self._contexts[slug]
        try:
            token = await asyncio.to_thread(self._take_due, context.chain.id)
            if token is not None:
                await self._look_up(context, token)
        except (UpstreamError, StoreError) as error:
            _LOG.info(f"{self.subject} not found out", chain=slug, why=str(error))

    @abstractmethod
    async def _look_up(self, context: ChainContext, token: TokenRow) -> None:
        """Do the task of a token. Raises UpstreamError, StoreError."""

    def _take_due(self, chain_id: int) -> TokenRow | None:
        """Take the token that is worth most. None: none is due."""
        now_s = int(self._now_s())
        tasks = take_tasks(
            self._store,
            self.subject,
            chain_id=chain_id,
            now_s=now_s,
            again_s=now_s + PAUSE_S,
            at_most=1,
        )
        return tasks[0].token if tasks else None
