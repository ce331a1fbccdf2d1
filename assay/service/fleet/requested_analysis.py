"""Analyses that a fleet requests: stored reports are served, the others wait for an analyser."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Protocol

import structlog

from analysis.pipeline.analyser import KnownReport
from analysis.pipeline.report_age import is_recent, is_servable
from assay.service.fleet.leased_runs import LeasedRuns
from assay.service.fleet.row_poller import RunPoller
from assay.service.fleet.run_outcome import error_of
from assay.service.fleet.shared_analyser import SharedAnalyser
from config.settings import AnalysisSettings
from core.errors import StoreError, TokenRefusedError, UpstreamError
from core.evm.primitives import Address
from core.report.report import Report
from sql.fleet.analysis_runs import AnalysisRuns, RequestedRun, RunState, TokenRun
from sql.reports.report_bodies import decode_body

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


_REFUSAL_KEPT_S = 30.0
"""Time for which a refusal holds in every process without another analysis."""

_READ_WITHIN_S = 8.0


class StoredReports(Protocol):
    """Reader of stored reports."""

    async def read(self, chain_id: int, token: Address) -> Report | None:
        """Return the last report. None: there is none."""
        ...


class RequestedAnalysis:
    """Serves stored reports and requests new ones from other processes."""

    def __init__(
        self,
        runs: AnalysisRuns,
        run_poller: RunPoller,
        report_store: StoredReports,
        *,
        chains: Mapping[str, int],
        settings: AnalysisSettings,
        now_s: Callable[[], float],
        announce: Callable[[int, Address], None] = lambda _chain_id, _address: None,
    ) -> None:
        """`chains`: ids by slug, of the chains of the fleet. `announce`: called with each requested
        token."""
        self._runs = runs
        self._run_poller = run_poller
        self._report_store = report_store
        self._chains = chains
        self._settings = settings
        self._now_s = now_s
        self._announce = announce

    async def report(
        self, chain: str, token: Address, /, *, refresh: bool = False, redecompile: bool = False
    ) -> Report:
        """Return a recent report, or wait `wait_s` for a new one.

        Checks that have not settled by then are pending or None. Raises TokenRefusedError for an
        address that is not admitted, UpstreamError if there is no report and no result in time,
        InternalError.
        """
        chain_id = self._chains[chain]
        stored = await self._read(chain_id, token)
        if not (refresh or redecompile):
            if stored is not None and self._is_recent(stored):
                return stored
            await self._raise_known_refusal(chain_id, token)
        requested = await asyncio.to_thread(self._runs.ask, chain_id, token, is_anew=redecompile)
        if requested is None:
            raise UpstreamError(service="analysis", reason="too many analyses are waiting")
        self._announce(chain_id, token)
        state = await self._end_in_time(requested)
        if state is not None:
            return await self._result(state, stored)
        return await self._so_far(requested, stored)

    async def recall(self, chain: str, token: Address, /) -> KnownReport:
        """Return the stored report and the state of its run; analyse nothing. Raises StoreError."""
        chain_id = self._chains[chain]
        stored = await self._read(chain_id, token)
        is_fresh = stored is not None and self._is_recent(stored)
        states = (
            [] if is_fresh else await asyncio.to_thread(self._runs.states_of, [(chain_id, token)])
        )
        return KnownReport(
            report=stored,
            is_recent=is_fresh,
            is_running=any(state.is_running or state.is_wanted for state in states),
        )

    async def _raise_known_refusal(self, chain_id: int, token: Address) -> None:
        """Raise TokenRefusedError for an address that any process refused a moment ago.

        Refusals are not stored, as callers can name any number of addresses; without this each
        process behind a balancer would request an analysis every time.
        """
        for state in await asyncio.to_thread(self._runs.states_of, [(chain_id, token)]):
            error = error_of(state)
            if isinstance(error, TokenRefusedError) and error.age_s < _REFUSAL_KEPT_S:
                raise error

    async def _read(self, chain_id: int, token: Address) -> Report | None:
        """Return the last report. None: there is none. Raises UpstreamError for a silent store,
        long before its statement times out."""
        try:
            return await asyncio.wait_for(self._report_store.read(chain_id, token), _READ_WITHIN_S)
        except TimeoutError:
            reason = f"the store does not answer within {_READ_WITHIN_S:g} s"
            raise UpstreamError(service="analysis", reason=reason) from None

    async def _end_in_time(self, requested: RequestedRun) -> RunState | None:
        def is_over(state: RunState | None) -> bool:
            return state is not None and requested.is_answered_by(state)

        ended = self._run_poller.wait(requested.chain_id, requested.address, is_over)
        try:
            return await asyncio.wait_for(ended, self._settings.wait_s)
        except TimeoutError:
            return None

    async def _result(self, state: RunState, stored: Report | None) -> Report:
        error = error_of(state)
        if isinstance(error, UpstreamError) and stored is not None and self._is_servable(stored):
            return stored
        if error is not None:
            raise error
        report = await self._read(state.chain_id, state.address)
        if report is None:
            raise UpstreamError(service="analysis", reason="the new report was deleted at once")
        return report

    async def _so_far(self, requested: RequestedRun, stored: Report | None) -> Report:
        pending = await asyncio.to_thread(self._runs.pending_of, requested)
        # None also for one that another release wrote.
        report = None if pending is None else decode_body(pending)
        if report is not None:
            return report
        if stored is not None and self._is_servable(stored):
            return stored
        raise UpstreamError(
            service="analysis", reason=f"nothing settled in {self._settings.wait_s:g} s"
        )

    def _is_recent(self, report: Report) -> bool:
        return is_recent(report, self._settings, now_s=self._now_s())

    def _is_servable(self, report: Report) -> bool:
        return is_servable(report, self._settings, now_s=self._now_s())
