"""Analyses tokens that any process of the fleet has requested."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress

import structlog

from assay.service.fleet.leased_runs import LeasedRuns
from assay.service.fleet.shared_analyser import SharedAnalyser
from core.errors import StoreError
from sql.fleet.analysis_runs import AnalysisRuns, TokenRun

_LOOK_EVERY_S = 0.1
"""Poll interval; a message shortens it."""

_BUSY_PATIENCE_S = 1.0
"""A process without a free slot takes requests that have waited this long."""

_END_WITHIN_S = 8.0
"""Time for running analyses to end after the stop; other processes finish the rest."""

_LOG = structlog.get_logger(__name__)


class RequestedWork:
    """Analyses requested tokens, oldest request first."""

    def __init__(
        self,
        shared: SharedAnalyser,
        runs: AnalysisRuns,
        leased_runs: LeasedRuns,
        *,
        chains: Mapping[str, int],
        at_once: int,
    ) -> None:
        """`chains`: ids by slug, of the chains that this process analyses. `at_once`: most
        concurrent tokens of one chain."""
        self._shared = shared
        self._runs = runs
        self._leased_runs = leased_runs
        self._chains = chains
        self._at_once = at_once
        self._wake = asyncio.Event()
        self._tasks: dict[str, set[asyncio.Task[None]]] = {slug: set() for slug in chains}

    def wake(self) -> None:
        """Poll immediately: a token was requested."""
        self._wake.set()

    def busy(self, chain: str) -> int:
        """Count the requested tokens of a chain that are being analysed here."""
        return len(self._tasks[chain])

    async def run(self, stop: asyncio.Event) -> None:
        """Analyse tokens until the stop; analyses still running then have some seconds to end."""
        is_answering = True
        while not stop.is_set():
            self._wake.clear()
            try:
                for slug in self._chains:
                    await self._take(slug)
            except StoreError as error:
                if is_answering:
                    _LOG.error("requested tokens cannot be read", why=str(error))
                is_answering = False
            else:
                is_answering = True
            await self._pause(stop)
        running = [task for tasks in self._tasks.values() for task in tasks]
        if running:
            await asyncio.wait(running, timeout=_END_WITHIN_S)

    async def _pause(self, stop: asyncio.Event) -> None:
        """Wait for the next poll."""
        waits = [asyncio.create_task(event.wait()) for event in (self._wake, stop)]
        await asyncio.wait(waits, timeout=_LOOK_EVERY_S, return_when=asyncio.FIRST_COMPLETED)
        for wait in waits:
            wait.cancel()

    async def _take(self, slug: str) -> None:
        chain_id = self._chains[slug]
        if self.busy(slug) >= self._at_once:
            return
        # A token that was just taken has no leased run before its task starts.
        free = self._at_once - max(self._leased_runs.count(chain_id), self.busy(slug))
        taken = await asyncio.to_thread(
            self._runs.take_asked,
            chain_id,
            at_most=max(1, free),
            older_s=0.0 if free > 0 else _BUSY_PATIENCE_S,
        )
        for run in taken:
            task = asyncio.create_task(self._analyse(slug, run))
            self._tasks[slug].add(task)
            task.add_done_callback(self._tasks[slug].discard)

    async def _analyse(self, slug: str, run: TokenRun) -> None:
        # The analyser logs errors and reports them to the waiting callers.
        with suppress(Exception):
            await self._shared.run(slug, run)
        self._wake.set()  # a slot is free
