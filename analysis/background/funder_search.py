"""Background job that looks up who gave the creators of analysed tokens their first coins.

One account at a time for each chain, each once: no report and no request waits for it.
"""

import asyncio
from collections.abc import Callable, Mapping

import structlog
from apscheduler.schedulers.asyncio import AsyncIOScheduler

from analysis.background.schedule import schedule_by_chain
from analysis.pipeline.chain_context import ChainContext
from analysis.token.funding import find_funding
from config.settings_model import AnalysisSettings
from core.errors import StoreError, UpstreamError
from sql.creator_tables import read_creator
from sql.funder_tables import (
    CreatedToken,
    drop_funder_task,
    put_off_funder_task,
    read_created,
    read_funder,
    write_funder,
)
from sql.rows import FunderRow, TokenRow
from sql.store import Store
from sql.task_queue import take_tasks

_LOG = structlog.get_logger(__name__)

_PAUSE_S = 3_600
"""Seconds before an account is tried again whose first coins are not final."""

_REFUSED_PAUSE_S = 86_400
"""Seconds before it is tried again where the node did not answer, mostly for want of old states."""


class Funders:
    """Looks up one account at a time on every chain."""

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
        every_s = self._settings.rounds_every_s
        schedule_by_chain(scheduler, self.go, self._contexts, every_s=every_s, name="find funders")

    async def go(self, slug: str) -> None:
        """Look up one account of one chain. Errors are logged."""
        context = self._contexts[slug]
        try:
            token = await asyncio.to_thread(self._take_due, context.chain.id)
            if token is not None:
                await self._look_up(context, token)
        except (UpstreamError, StoreError) as error:
            _LOG.info("funder not found out", chain=slug, why=str(error))

    def _take_due(self, chain_id: int) -> TokenRow | None:
        """Take the token that is worth most. None: none is due."""
        now_s = int(self._now_s())
        tasks = take_tasks(
            self._store,
            "funder",
            chain_id=chain_id,
            now_s=now_s,
            again_s=now_s + _PAUSE_S,
            at_most=1,
        )
        return tasks[0].token if tasks else None

    async def _look_up(self, context: ChainContext, token: TokenRow) -> None:
        created = await asyncio.to_thread(self._unknown_creator, token)
        if created is None:
            await asyncio.to_thread(drop_funder_task, self._store, token)
            return
        try:
            row = await self._find(context, created)
        except UpstreamError:
            until_s = int(self._now_s()) + _REFUSED_PAUSE_S
            await asyncio.to_thread(put_off_funder_task, self._store, token, until_s=until_s)
            raise
        if row is not None:
            await asyncio.to_thread(write_funder, self._store, row, token)

    def _unknown_creator(self, token: TokenRow) -> CreatedToken | None:
        """Return the token with its creator. None: there is nothing to look up."""
        created = read_created(self._store, token_id=token.token_id)
        if created is None:
            return None
        known = read_funder(self._store, chain_id=created.chain_id, account=created.creator)
        return created if known is None else None

    async def _find(self, context: ChainContext, created: CreatedToken) -> FunderRow | None:
        """Find the first coins of a creator. None: they are not final yet."""
        head = await context.node.fetch_head()
        final = head.number - context.chain.finality_blocks
        if final < 0:
            return None
        made = await asyncio.to_thread(
            read_creator, self._store, chain_id=created.chain_id, token=created.address
        )
        # Whoever sent the creation had coins then; a shorter range is searched faster.
        has_sent = made is not None and made.creator == created.creator
        used_by = min(final, made.block_number) if made is not None and has_sent else final
        found = await find_funding(context.node, created.creator, used_by=used_by)
        if found is None:
            return None
        return FunderRow(
            chain_id=created.chain_id,
            account=created.creator,
            funder=found.funder,
            block_number=found.block_number,
            tx_hash=found.tx_hash,
        )
