"""Processes of one fleet in one event loop: analysers over a scripted chain, and API processes."""

import asyncio
from collections.abc import AsyncIterator, Sized
from contextlib import AsyncExitStack, asynccontextmanager, closing
from pathlib import Path

from analysis.pipeline.analyser import Analyser
from assay.service.fleet.fleet_parts import GuardedReportStore
from assay.service.fleet.leased_runs import LeasedRuns
from assay.service.fleet.requested_analysis import RequestedAnalysis, RequestedWork
from assay.service.fleet.row_poller import RunPoller
from assay.service.fleet.shared_analyser import SharedAnalyser
from assay.service.store_adapter import ReportStore
from config.settings import AnalysisSettings
from core.evm.primitives import Address
from core.report.report import Report
from sql.engine.postgres.single_statements import SingleStatements
from sql.fleet.analysis_runs import AnalysisRuns
from tests.harness.bare_reports import bare_report
from tests.harness.clock import HandClock
from tests.harness.parts.empty_databases import connect_store

SLUG, CHAIN_ID = "ethereum", 1
CHAINS = {SLUG: CHAIN_ID}
SETTINGS = AnalysisSettings(wait_s=6.0, concurrency=2)
START_S = 1_000_000.0


def token(number: int) -> Address:
    return Address(f"0x{number:040x}")


class SlowChain:
    """Analyses of one chain: a pending report immediately, a settled one once released."""

    chain_id = CHAIN_ID

    def __init__(self, clock: HandClock) -> None:
        self._clock = clock
        self.begun: list[tuple[Address, bool]] = []
        self.open = asyncio.Event()
        self.open.set()
        self.error: Exception | None = None

    async def scan(self, token: Address, *, redecompile: bool) -> AsyncIterator[Report]:
        self.begun.append((token, redecompile))
        yield bare_report(token, scanned_at_s=int(self._clock.now_s), is_settled=False)
        await self.open.wait()
        if self.error is not None:
            raise self.error
        yield bare_report(token, scanned_at_s=int(self._clock.now_s))


class AnalysingProcess:
    """Parts of an analysing process."""

    def __init__(
        self, report_store: ReportStore, runs: AnalysisRuns, settings: AnalysisSettings
    ) -> None:
        self.clock = HandClock(START_S)
        self.chain = SlowChain(self.clock)
        self.runs = runs
        self.leased_runs = LeasedRuns(runs)
        self.ends = RunPoller(runs)
        self.analyser = Analyser(
            {SLUG: self.chain},
            GuardedReportStore(report_store, runs, self.leased_runs),
            settings,
            self.clock,
            show=self.leased_runs.show,
        )
        self.shared = SharedAnalyser(
            self.analyser, runs, self.leased_runs, self.ends, chains=CHAINS
        )
        self.work = RequestedWork(
            self.shared, runs, self.leased_runs, chains=CHAINS, at_once=settings.concurrency
        )
        self.stop = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Renew its runs, and take requested ones."""
        self._tasks = [
            asyncio.create_task(self.leased_runs.keep(self.stop)),
            asyncio.create_task(self.work.run(self.stop)),
        ]

    def freeze(self) -> None:
        """Stop all work without notice, as SIGSTOP would."""
        for task in self._tasks:
            task.cancel()

    async def aclose(self) -> None:
        """Give back current runs, as SIGTERM would."""
        self.freeze()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.leased_runs.aclose()
        await self.ends.aclose()
        await self.analyser.aclose()


class Fleet:
    """Processes on one database. The last path to it that was named is that of the next process."""

    def __init__(self, url: str, folder: Path, stack: AsyncExitStack) -> None:
        self.url = url
        self._folder = folder
        self._stack = stack
        self._count = 0
        self.asked_for: list[Address] = []
        """Tokens that API processes have requested and wait for, once for each time."""

    def analyser(self, *, settings: AnalysisSettings = SETTINGS) -> AnalysingProcess:
        """A process that takes work from now on."""
        process = AnalysingProcess(self._shelf(settings), self.runs(), settings)
        self._stack.push_async_callback(process.aclose)
        process.start()
        return process

    def api(self, *, settings: AnalysisSettings = SETTINGS) -> RequestedAnalysis:
        """Return the analysis side of an API process without nodes."""
        runs = self.runs()
        ends = RunPoller(runs)
        self._stack.push_async_callback(ends.aclose)
        report_store = self._shelf(settings)
        return RequestedAnalysis(
            runs,
            ends,
            report_store,
            chains=CHAINS,
            settings=settings,
            now_s=HandClock(START_S),
            announce=lambda _chain_id, address: self.asked_for.append(address),
        )

    def runs(self) -> AnalysisRuns:
        """The runs as another process sees them."""
        self._count += 1
        statements = self._stack.enter_context(closing(SingleStatements(self.url)))
        return AnalysisRuns(statements, holder=f"process {self._count}")

    def _shelf(self, settings: AnalysisSettings) -> ReportStore:
        store = connect_store(self.url, path=self._folder / "files")
        return ReportStore(self._stack.enter_context(closing(store)), settings)


@asynccontextmanager
async def fleet_on(url: str, folder: Path) -> AsyncIterator[Fleet]:
    """Processes that end with the block, the last one first."""
    async with AsyncExitStack() as stack:
        yield Fleet(url, folder, stack)


async def until_begun(process: AnalysingProcess, count: int = 1) -> None:
    """Wait until a number of analyses have begun in a process."""
    await _until_long(process.chain.begun, count)


async def until_asked(fleet: Fleet, count: int) -> None:
    """Wait until API processes have requested tokens a number of times."""
    await _until_long(fleet.asked_for, count)


async def _until_long(grows: Sized, count: int) -> None:
    async with asyncio.timeout(20):
        while len(grows) < count:  # noqa: ASYNC110 - looked at from outside
            await asyncio.sleep(0.01)
