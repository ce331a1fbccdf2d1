"""Analyses of this process, each begun only if no other process analyses the token."""

import asyncio
from collections.abc import Callable, Mapping

from analysis.pipeline.analyser import Analyser, KnownReport
from assay.service.fleet.leased_runs import LeasedRun, LeasedRuns
from assay.service.fleet.row_poller import RunPoller
from assay.service.fleet.run_outcome import end_of, error_of
from core.errors import UpstreamError
from core.evm.primitives import Address
from core.report.report import Report
from sql.fleet.analysis_runs import AnalysisRuns, RunState, TokenRun, TokenRunEnd

_SETTLED = TokenRunEnd(outcome="settled")
_NOT_STORED = TokenRunEnd(outcome="failed", reason="the report could not be stored")


class SharedAnalyser:
    """A `Refresher` over the whole fleet: a token is analysed by one process at a time."""

    def __init__(
        self,
        analyser: Analyser,
        runs: AnalysisRuns,
        leased_runs: LeasedRuns,
        run_poller: RunPoller,
        *,
        chains: Mapping[str, int],
        announce: Callable[[int, Address], None] = lambda _chain_id, _address: None,
    ) -> None:
        """`analyser`: shows its reports to `leased_runs`, and stores them in a
        `GuardedReportStore`. `chains`: chain ids by slug. `announce`: called with each token whose
        run has ended."""
        self._analyser = analyser
        self._runs = runs
        self._leased_runs = leased_runs
        self._run_poller = run_poller
        self._chains = chains
        self._announce = announce

    async def recall(self, chain: str, token: Address) -> KnownReport:
        """Return the stored report, or the state of its run in this process. Raises StoreError."""
        return await self._analyser.recall(chain, token)

    async def refresh(self, chain: str, token: Address, *, redecompile: bool = False) -> Report:
        """Analyse the token now, or wait for the process that does; return the settled report.

        Raises TokenRefusedError, UpstreamError, InternalError.
        """
        chain_id = self._chains[chain]
        while True:
            run = await asyncio.to_thread(self._runs.begin, chain_id, token, is_anew=redecompile)
            if run is not None:
                return await self.run(chain, run)
            state = await self._end_elsewhere(chain_id, token)
            if state is not None and (state.ended_anew or not redecompile):
                return await self._result(state)

    async def run(self, chain: str, run: TokenRun) -> Report:
        """Analyse a token whose run has begun here, and write its end. Raises as `refresh`."""
        leased = self._leased_runs.add(run)
        try:
            report = await self._analyse(chain, leased)
        except Exception as error:
            await self._end(leased, end_of(error))
            raise
        except BaseException:
            self._leased_runs.drop(leased)  # the process ends; it gives back what it has
            raise
        await self._end(leased, _SETTLED if leased.is_stored else _NOT_STORED)
        return report

    async def _analyse(self, chain: str, leased: LeasedRun) -> Report:
        run = leased.run
        refreshing = asyncio.create_task(
            self._analyser.refresh(chain, run.address, redecompile=run.is_anew)
        )
        losing = asyncio.create_task(leased.lost.wait())
        try:
            await asyncio.wait({refreshing, losing}, return_when=asyncio.FIRST_COMPLETED)
            if refreshing.done():
                return refreshing.result()
            self._analyser.cancel(chain, run.address, redecompile=run.is_anew)
            raise UpstreamError(service="analysis", reason="another process has taken it over")
        finally:
            losing.cancel()
            refreshing.cancel()
            await asyncio.gather(losing, refreshing, return_exceptions=True)

    async def _end(self, leased: LeasedRun, end: TokenRunEnd) -> None:
        await self._leased_runs.end(leased, end)
        self._announce(leased.run.chain_id, leased.run.address)

    async def _end_elsewhere(self, chain_id: int, token: Address) -> RunState | None:
        """Wait for the end of another process's run. None: it was not ended."""
        begun = await self._run_poller.wait(chain_id, token, lambda _: True)
        if begun is None or not begun.is_running:
            return None

        def is_over(state: RunState | None) -> bool:
            return state is None or not state.is_running or state.run != begun.run

        ended = await self._run_poller.wait(chain_id, token, is_over)
        return ended if ended is not None and ended.ended_run >= begun.run else None

    async def _result(self, state: RunState) -> Report:
        error = error_of(state)
        if error is not None:
            raise error
        chain = next(slug for slug, chain_id in self._chains.items() if chain_id == state.chain_id)
        known = await self._analyser.recall(chain, state.address)
        if known.report is None:
            raise UpstreamError(service="analysis", reason="the new report was deleted at once")
        return known.report
