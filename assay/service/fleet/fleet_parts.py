"""Parts of a fleet in one process: requested tokens, leased runs, changed reports and inquiries.

Imported only for a store in PostgreSQL: it needs the extra `fleet`.
Reports are stored by the one process that analyses the token.
"""

import asyncio
import os
import socket
import time
import uuid
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, closing

import msgspec

from analysis.pipeline.analyser import Analyser, ReportStorage
from analysis.quotes.quote_source import Quotes
from api.serving.changed_reports import ChangedReports, Forgetful
from assay.service.fleet.fleet_messages import FleetMessages
from assay.service.fleet.fleet_quotes import FleetQuotes
from assay.service.fleet.inquiry_work import InquiryWork
from assay.service.fleet.leased_runs import LeasedRuns, lost_error
from assay.service.fleet.requested_analysis import RequestedAnalysis, RequestedWork
from assay.service.fleet.row_poller import InquiryPoller, RunPoller
from assay.service.fleet.shared_analyser import SharedAnalyser
from assay.service.metrics.run_metrics import RunCollector
from assay.service.shared_parts import SharedParts
from assay.service.store_adapter import ReportStore
from config.settings import Settings
from config.store_address import PostgresAddress
from core.errors import StoreError
from core.evm.primitives import Address
from core.report.report import Report
from core.report.rows import RefusalRow
from sql.engine.postgres.single_statements import SingleStatements
from sql.engine.postgres.write_guard import guard_writes
from sql.fleet.analysis_runs import AnalysisRuns, LostRunError
from sql.fleet.inquiries import Inquiries
from sql.fleet.report_change_feed import ReportChanges

_WRITE_WITHIN_S = 30.0
"""Time for retries of a write while the database does not answer."""

_AGAIN_S = 0.5


class GuardedReportStore:
    """A `ReportStorage` that rejects writes once another process has taken the token over.

    Retries writes for some seconds while the database is away.
    """

    def __init__(
        self, report_store: ReportStorage, runs: AnalysisRuns, leased_runs: LeasedRuns
    ) -> None:
        self._report_store = report_store
        self._runs = runs
        self._leased_runs = leased_runs

    async def read(self, chain_id: int, token: Address) -> Report | None:
        """Return the last report. None: there is none."""
        return await self._report_store.read(chain_id, token)

    async def write(self, report: Report) -> None:
        """Replace the token's report. Raises StoreError."""
        token = report.token
        await self._guarded(token.chain_id, token.address, lambda: self._report_store.write(report))

    async def refuse(self, chain_id: int, token: Address, refusal: RefusalRow) -> None:
        """Store that the token was not admitted. Raises StoreError."""
        await self._guarded(
            chain_id, token, lambda: self._report_store.refuse(chain_id, token, refusal)
        )

    async def _guarded(
        self, chain_id: int, token: Address, write: Callable[[], Awaitable[None]]
    ) -> None:
        leased = self._leased_runs.find(chain_id, token)
        if leased is None or leased.lost.is_set():
            raise lost_error(self._runs)
        deadline_s = asyncio.get_running_loop().time() + _WRITE_WITHIN_S
        with guard_writes(self._runs.guard_of(leased.run)):
            while True:
                try:
                    await write()
                except LostRunError:
                    leased.lost.set()
                    raise
                except StoreError:
                    # After an unconfirmed commit the same report is written twice: harmless.
                    if leased.lost.is_set() or asyncio.get_running_loop().time() > deadline_s:
                        raise
                    await asyncio.sleep(_AGAIN_S)
                else:
                    leased.is_stored = True
                    return


class FleetParts(msgspec.Struct, frozen=True, kw_only=True):
    """Connections of one process to the other processes of its fleet."""

    settings: Settings
    statements: SingleStatements
    runs: AnalysisRuns
    leased_runs: LeasedRuns
    run_poller: RunPoller
    inquiries: Inquiries
    inquiry_poller: InquiryPoller
    messages: FleetMessages

    def guard(self, report_store: ReportStore) -> GuardedReportStore:
        """Wrap the report store for the analyser of this process."""
        return GuardedReportStore(report_store, self.runs, self.leased_runs)

    def share(self, analyser: Analyser, chains: Mapping[str, int]) -> SharedAnalyser:
        """Wrap the analyser, so that it skips tokens that another process analyses. `chains`: chain
        ids by slug."""
        return SharedAnalyser(
            analyser,
            self.runs,
            self.leased_runs,
            self.run_poller,
            chains=chains,
            announce=lambda chain_id, token: self.messages.send("ended", chain_id, token),
        )

    def request_analysis(
        self, report_store: ReportStore, chains: Mapping[str, int]
    ) -> RequestedAnalysis:
        """Build the analysis for the API of this process. `chains`: every supported one."""
        return RequestedAnalysis(
            self.runs,
            self.run_poller,
            report_store,
            chains=chains,
            settings=self.settings.analysis,
            now_s=time.time,
            announce=lambda chain_id, token: self.messages.send("asked", chain_id, token),
        )

    def work(
        self, shared: SharedAnalyser, quotes: Quotes, chains: Mapping[str, int]
    ) -> "FleetWork":
        """Build the work for requests of all processes. `chains`: those with a node here."""
        concurrency = self.settings.analysis.concurrency
        requested_work = RequestedWork(
            shared, self.runs, self.leased_runs, chains=chains, at_once=concurrency
        )
        inquiry_work = InquiryWork(
            quotes,
            self.inquiries,
            chains=chains,
            at_once=concurrency,
            announce=lambda chain_id, token: self.messages.send("answered", chain_id, token),
        )
        self.messages.subscribe("asked", lambda _chain_id, _token: requested_work.wake())
        self.messages.subscribe("inquired", lambda _chain_id, _token: inquiry_work.wake())
        return FleetWork(fleet=self, requested_work=requested_work, inquiry_work=inquiry_work)

    def quotes(
        self, here: Quotes, chains: Mapping[str, int], own: Mapping[str, int]
    ) -> FleetQuotes:
        """Build the quotes for the API of this process. `here`: quotes of the chains `own`."""
        return FleetQuotes(
            here,
            self.inquiries,
            self.inquiry_poller,
            chains=chains,
            own=own.keys(),
            announce=lambda chain_id, token: self.messages.send("inquired", chain_id, token),
        )


class FleetWork(msgspec.Struct, frozen=True, kw_only=True):
    """`OtherProcesses` of a fleet."""

    fleet: FleetParts
    requested_work: RequestedWork
    inquiry_work: InquiryWork

    def busy(self, chain: str) -> int:
        """Count the tokens of a chain that this process analyses for requests of any process."""
        return self.requested_work.busy(chain)

    def start_work(self, group: asyncio.TaskGroup, parts: SharedParts) -> None:
        """Analyse what other processes request, until the stop."""
        fleet = self.fleet
        parts.metrics.read_from(RunCollector(parts.followed, fleet.runs, fleet.leased_runs))
        group.create_task(self._keep_analysing(parts.stop))
        group.create_task(self.inquiry_work.run(parts.stop))

    def start_messages(
        self,
        group: asyncio.TaskGroup,
        parts: SharedParts,
        answers: Forgetful | None,
        stop: asyncio.Event,
    ) -> None:
        """Exchange messages until the stop. `answers`: drops those whose reports have changed."""
        group.create_task(self.fleet.messages.run(stop))
        if answers is not None:
            group.create_task(self._keep_current(answers, parts, stop))

    async def _keep_analysing(self, stop: asyncio.Event) -> None:
        """Analyse requested tokens until the stop, and then hand over the rest."""
        leased_runs = self.fleet.leased_runs
        ended = asyncio.Event()
        keeping = asyncio.create_task(leased_runs.keep(ended))
        try:
            await self.requested_work.run(stop)
        finally:
            ended.set()
            await keeping
            await leased_runs.aclose()

    async def _keep_current(
        self, answers: Forgetful, parts: SharedParts, stop: asyncio.Event
    ) -> None:
        """Drop answers whose reports other processes have replaced, until the stop."""
        chains = {chain.slug: chain.id for chain in parts.chains}
        changes = ReportChanges(self.fleet.statements, list(chains.values()))
        changed = ChangedReports(changes, answers, chains=chains)
        self.fleet.messages.subscribe("ended", changed.forget)
        await changed.run(stop)


def open_fleet(stack: AsyncExitStack, settings: Settings, address: PostgresAddress) -> FleetParts:
    """Connect to the other processes, until the stack is closed. Raises StoreError."""
    statements = stack.enter_context(closing(SingleStatements(address.url.value)))
    holder = f"{socket.gethostname()} {os.getpid()} {uuid.uuid4().hex}"
    runs = AnalysisRuns(statements, holder=holder)
    run_poller = RunPoller(runs)
    stack.push_async_callback(run_poller.aclose)
    inquiries = Inquiries(statements, holder=holder)
    inquiry_poller = InquiryPoller(inquiries)
    stack.push_async_callback(inquiry_poller.aclose)
    messages = FleetMessages(settings.redis_url)
    messages.subscribe("ended", lambda _chain_id, _token: run_poller.wake())
    messages.subscribe("answered", lambda _chain_id, _token: inquiry_poller.wake())
    return FleetParts(
        settings=settings,
        statements=statements,
        runs=runs,
        leased_runs=LeasedRuns(runs),
        run_poller=run_poller,
        inquiries=inquiries,
        inquiry_poller=inquiry_poller,
        messages=messages,
    )
