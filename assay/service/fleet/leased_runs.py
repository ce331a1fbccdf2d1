"""The runs that this process has: kept from others by saying each second that it is still there,
and shown to those who wait in other processes."""

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
"""For how long it is tried to tell how a run ended, while the database does not answer."""

_AGAIN_S = 0.5

_LOG = structlog.get_logger(__name__)


class LeasedRun:
    """One run of this process."""

    def __init__(self, run: TokenRun) -> None:
        self.run = run
        self.is_awaited = run.is_awaited
        """Somebody in another process waits, as far as is known."""
        self.latest: Report | None = None
        """The last report so far."""
        self.is_stored = False
        """Its outcome has been stored."""
        self.lost = asyncio.Event()
        """Another process has taken it over."""
        self.showing: asyncio.Task[None] | None = None


class LeasedRuns:
    """The runs of this process, by chain id and token. For one event loop."""

    def __init__(self, runs: AnalysisRuns) -> None:
        self._runs = runs
        self._held: dict[tuple[int, Address], LeasedRun] = {}
        self.taken_over: Counter[int] = Counter()
        """Runs begun here whose last process was lost, by chain id."""
        self.lost: Counter[int] = Counter()
        """Runs of this process that another one has taken over, by chain id."""
        # A thread of its own: the others may all be waiting for a node or for the database.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="renew-runs")

    def add(self, run: TokenRun) -> LeasedRun:
        """Keep a run that has begun."""
        self.taken_over[run.chain_id] += run.is_taken_over
        held = self._held[run.chain_id, run.address] = LeasedRun(run)
        return held

    def find(self, chain_id: int, address: Address) -> LeasedRun | None:
        """Return the run of a token. None: this process has none."""
        return self._held.get((chain_id, address))

    def count(self, chain_id: int) -> int:
        """Return how many tokens of a chain this process judges."""
        return sum(held.run.chain_id == chain_id for held in self._held.values())

    def show(self, report: Report) -> None:
        """Let those who wait in other processes see a report of a run under way."""
        held = self.find(report.token.chain_id, report.token.address)
        if held is not None and not report.token.is_settled:
            held.latest = report
            self._begin_showing(held)

    async def end(self, held: LeasedRun, end: TokenRunEnd) -> None:
        """Tell how a run ended, and keep it no longer."""
        deadline_s = asyncio.get_running_loop().time() + _END_WITHIN_S
        try:
            while not held.lost.is_set():
                try:
                    await asyncio.to_thread(self._runs.end, held.run, end)
                except StoreError as error:
                    if asyncio.get_running_loop().time() > deadline_s:
                        _LOG.error("end of an analysis not told", why=str(error))
                        return
                    await asyncio.sleep(_AGAIN_S)
                else:
                    return
        finally:
            self.drop(held)

    def drop(self, held: LeasedRun) -> None:
        """Keep a run no longer, without a word."""
        if held.showing is not None:
            held.showing.cancel()
        key = (held.run.chain_id, held.run.address)
        if self._held.get(key) is held:
            del self._held[key]

    async def keep(self, stop: asyncio.Event) -> None:
        """Keep the runs until the stop. A database that does not answer is asked again."""
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
        """Let other processes go on with what is still under way."""
        for held in list(self._held.values()):
            self.drop(held)
        try:
            await asyncio.to_thread(self._runs.give_back)
        except StoreError as error:
            _LOG.warning("runs not given back; they end by themselves", why=str(error))
        self._thread.shutdown(wait=False)

    async def _renew(self) -> None:
        loop = asyncio.get_running_loop()
        asked = list(self._held.values())
        if asked:
            kept = await loop.run_in_executor(
                self._thread, self._runs.renew, [held.run for held in asked]
            )
            still = {run.run: run for run in kept}
            for held in asked:
                self._take_over(held, still.get(held.run.run))
        for chain_id, address in await loop.run_in_executor(self._thread, self._runs.give_up):
            _LOG.error("analysis given up: it ends processes", chain_id=chain_id, token=address)

    def _take_over(self, held: LeasedRun, renewed: TokenRun | None) -> None:
        if self.find(held.run.chain_id, held.run.address) is not held:
            return  # it has ended meanwhile
        if renewed is None:
            held.lost.set()
            self.lost[held.run.chain_id] += 1
        elif renewed.is_awaited and not held.is_awaited:
            held.is_awaited = True
            self._begin_showing(held)

    def _begin_showing(self, held: LeasedRun) -> None:
        is_showing = held.showing is not None and not held.showing.done()
        if held.is_awaited and held.latest is not None and not is_showing:
            held.showing = asyncio.create_task(self._show(held))

    async def _show(self, held: LeasedRun) -> None:
        """Show the newest report until there is none newer."""
        shown: Report | None = None
        while held.latest is not None and held.latest is not shown:
            shown = held.latest
            try:
                await asyncio.to_thread(self._show_one, held.run, shown)
            except StoreError as error:
                _LOG.warning("report so far not shown", why=str(error))

    def _show_one(self, run: TokenRun, report: Report) -> None:
        self._runs.show_pending(run, encode_body(report))


def lost_error(runs: AnalysisRuns) -> LostRunError:
    """Return the error of a write for which this process has no run."""
    return LostRunError(path=runs.holder, reason="this process does not judge the token any more")
