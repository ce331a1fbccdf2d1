"""Analysis runs leased by this process, renewed each second and shown to waiting processes."""

import asyncio
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import structlog

from core.errors import StoreError
from core.evm.primitives import Address
from core.report.report import Report
from sql.fleet.analysis_runs import AnalysisRuns, LostRunError, TokenRun, TokenRunEnd
from sql.reports.report_bodies import encode_body

_RENEW_EVERY_S = 1.0
_CLEAN_EVERY_S = 60.0

_END_WITHIN_S = 60.0
"""Time for retries of writing the end of a run while the database does not answer."""

_AGAIN_S = 0.5

_LOG = structlog.get_logger(__name__)


class LeasedRun:
    """One run leased by this process."""

    def __init__(self, run: TokenRun) -> None:
        self.run = run
        self.is_awaited = run.is_awaited
        """True if another process waits for it, as far as known."""
        self.latest: Report | None = None
        """Latest report so far."""
        self.is_stored = False
        """True once its outcome has been stored."""
        self.lost = asyncio.Event()
        """Set when another process has taken it over."""
        self.showing: asyncio.Task[None] | None = None


class LeasedRuns:
    """Runs leased by this process, by chain id and token. For one event loop."""

    def __init__(self, runs: AnalysisRuns) -> None:
        self._runs = runs
        self._leased_runs: dict[tuple[int, Address], LeasedRun] = {}
        self.taken_over: Counter[int] = Counter()
        """Runs taken over from lost processes, by chain id."""
        self.lost: Counter[int] = Counter()
        """Runs that another process has taken over, by chain id."""
        # A separate thread: the others may all be waiting for a node or for the database.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="renew-runs")

    def add(self, run: TokenRun) -> LeasedRun:
        """Add a run that has begun."""
        self.taken_over[run.chain_id] += run.is_taken_over
        leased = self._leased_runs[run.chain_id, run.address] = LeasedRun(run)
        return leased

    def find(self, chain_id: int, address: Address) -> LeasedRun | None:
        """Return the run of a token. None: this process has none."""
        return self._leased_runs.get((chain_id, address))

    def count(self, chain_id: int) -> int:
        """Count the tokens of a chain that this process analyses."""
        return sum(leased.run.chain_id == chain_id for leased in self._leased_runs.values())

    def show(self, report: Report) -> None:
        """Show a report of a running analysis to processes that wait for it."""
        leased = self.find(report.token.chain_id, report.token.address)
        if leased is not None and not report.token.is_settled:
            leased.latest = report
            self._begin_showing(leased)

    async def end(self, leased: LeasedRun, end: TokenRunEnd) -> None:
        """Write the end of a run, and drop it."""
        deadline_s = asyncio.get_running_loop().time() + _END_WITHIN_S
        try:
            while not leased.lost.is_set():
                try:
                    await asyncio.to_thread(self._runs.end, leased.run, end)
                except StoreError as error:
                    if asyncio.get_running_loop().time() > deadline_s:
                        _LOG.error("end of an analysis not written", why=str(error))
                        return
                    await asyncio.sleep(_AGAIN_S)
                else:
                    return
        finally:
            self.drop(leased)

    def drop(self, leased: LeasedRun) -> None:
        """Forget a run without writing its end."""
        if leased.showing is not None:
            leased.showing.cancel()
        key = (leased.run.chain_id, leased.run.address)
        if self._leased_runs.get(key) is leased:
            del self._leased_runs[key]

    async def keep(self, stop: asyncio.Event) -> None:
        """Renew the leases until the stop. Retries while the database does not answer."""
        clean_at_s = 0.0
        while not stop.is_set():
            now_s = asyncio.get_running_loop().time()
            try:
                await self._renew()
                if now_s >= clean_at_s:
                    await asyncio.to_thread(self._runs.delete_ended)
                    clean_at_s = now_s + _CLEAN_EVERY_S
            except StoreError as error:
                _LOG.error("runs cannot be renewed", why=str(error))
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), _RENEW_EVERY_S)

    async def aclose(self) -> None:
        """Hand the remaining runs over to other processes."""
        for leased in list(self._leased_runs.values()):
            self.drop(leased)
        try:
            await asyncio.to_thread(self._runs.give_back)
        except StoreError as error:
            _LOG.warning("runs not handed over; their leases expire", why=str(error))
        self._thread.shutdown(wait=False)

    async def _renew(self) -> None:
        loop = asyncio.get_running_loop()
        leased_runs = list(self._leased_runs.values())
        if leased_runs:
            renewed = await loop.run_in_executor(
                self._thread, self._runs.renew, [leased.run for leased in leased_runs]
            )
            renewed_by_run = {run.run: run for run in renewed}
            for leased in leased_runs:
                self._update(leased, renewed_by_run.get(leased.run.run))
        for chain_id, address in await loop.run_in_executor(self._thread, self._runs.give_up):
            _LOG.error("analysis given up: it ends processes", chain_id=chain_id, token=address)

    def _update(self, leased: LeasedRun, renewed: TokenRun | None) -> None:
        if self.find(leased.run.chain_id, leased.run.address) is not leased:
            return  # it has ended in the meantime
        if renewed is None:
            leased.lost.set()
            self.lost[leased.run.chain_id] += 1
        elif renewed.is_awaited and not leased.is_awaited:
            leased.is_awaited = True
            self._begin_showing(leased)

    def _begin_showing(self, leased: LeasedRun) -> None:
        is_showing = leased.showing is not None and not leased.showing.done()
        if leased.is_awaited and leased.latest is not None and not is_showing:
            leased.showing = asyncio.create_task(self._show(leased))

    async def _show(self, leased: LeasedRun) -> None:
        """Show the newest report until none is newer."""
        shown: Report | None = None
        while leased.latest is not None and leased.latest is not shown:
            shown = leased.latest
            try:
                await asyncio.to_thread(self._show_one, leased.run, shown)
            except StoreError as error:
                _LOG.warning("report so far not shown", why=str(error))

    def _show_one(self, run: TokenRun, report: Report) -> None:
        self._runs.show_pending(run, encode_body(report))


def lost_error(runs: AnalysisRuns) -> LostRunError:
    """Return the error of a write without a leased run."""
    return LostRunError(path=runs.holder, reason="this process does not analyse the token any more")
