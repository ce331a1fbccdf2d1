"""Takes the tokens that were asked for in any process, and judges them here."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress

import structlog

from assay.service.fleet.leased_runs import LeasedRuns
from assay.service.fleet.shared_analyser import SharedAnalyser
from core.errors import StoreError
from sql.fleet.analysis_runs import AnalysisRuns, TokenRun

_LOOK_EVERY_S = 0.1
"""Between two looks, if no message comes before."""

_BUSY_PATIENCE_S = 1.0
"""A process that has no free slot takes what another one has not taken for so long."""

_END_WITHIN_S = 8.0
"""For analyses under way to end after the stop; others go on with the rest."""

_LOG = structlog.get_logger(__name__)


class RequestedWork:
    """Judges tokens that were asked for: those asked for longest ago first."""

    def __init__(
        self,
        shared: SharedAnalyser,
        runs: AnalysisRuns,
        held: LeasedRuns,
        *,
        chains: Mapping[str, int],
        at_once: int,
    ) -> None:
        """`chains`: slug to chain id, of those that this process analyses. `at_once`: tokens of a
        chain that it judges at the same time."""
        self._shared = shared
        self._runs = runs
        self._held = held
        self._chains = chains
        self._at_once = at_once
        self._wake = asyncio.Event()
        self._playing: dict[str, set[asyncio.Task[None]]] = {slug: set() for slug in chains}

    def wake(self) -> None:
        """Look at once: a token was asked for."""
        self._wake.set()

    def busy(self, chain: str) -> int:
        """Return how many tokens of a chain are judged here because they were asked for."""
        return len(self._playing[chain])

    async def run(self, stop: asyncio.Event) -> None:
        """Take and judge tokens until the stop; those under way then have some seconds to end."""
        is_answering = True
        while not stop.is_set():
            self._wake.clear()
            try:
                for slug in self._chains:
                    await self._take(slug)
            except StoreError as error:
                if is_answering:
                    _LOG.error("asked tokens cannot be read", why=str(error))
                is_answering = False
            else:
                is_answering = True
            await self._pause(stop)
        under_way = [task for tasks in self._playing.values() for task in tasks]
        if under_way:
            await asyncio.wait(under_way, timeout=_END_WITHIN_S)

    async def _pause(self, stop: asyncio.Event) -> None:
        """Wait for the next look."""
        waits = [asyncio.create_task(event.wait()) for event in (self._wake, stop)]
        await asyncio.wait(waits, timeout=_LOOK_EVERY_S, return_when=asyncio.FIRST_COMPLETED)
        for wait in waits:
            wait.cancel()

    async def _take(self, slug: str) -> None:
        chain_id = self._chains[slug]
        if self.busy(slug) >= self._at_once:
            return
        # One that was just taken is not held before its task runs.
        free = self._at_once - max(self._held.count(chain_id), self.busy(slug))
        taken = await asyncio.to_thread(
            self._runs.take_asked,
            chain_id,
            at_most=max(1, free),
            older_s=0.0 if free > 0 else _BUSY_PATIENCE_S,
        )
        for run in taken:
            task = asyncio.create_task(self._play(slug, run))
            self._playing[slug].add(task)
            task.add_done_callback(self._playing[slug].discard)

    async def _play(self, slug: str, run: TokenRun) -> None:
        # The analyser logs errors, and those who wait are told.
        with suppress(Exception):
            await self._shared.play(slug, run)
        self._wake.set()  # a slot is free
