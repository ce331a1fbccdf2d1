"""Parts of a fleet in one process: requested tokens, leased runs, changed reports and inquiries.

Imported only for a store in PostgreSQL: it needs the extra `fleet`.
"""

import asyncio
import os
import socket
import time
import uuid
from collections.abc import Mapping
from contextlib import AsyncExitStack, closing

import msgspec

from analysis.pipeline.analyser import Analyser
from analysis.quotes.quote_source import Quotes
from api.serving.changed_reports import ChangedReports, Forgetful
from assay.service.fleet.fleet_messages import FleetMessages
from assay.service.fleet.fleet_quotes import FleetQuotes
from assay.service.fleet.guarded_report_store import GuardedReportStore
from assay.service.fleet.inquiry_work import InquiryWork
from assay.service.fleet.leased_runs import LeasedRuns
from assay.service.fleet.requested_analysis import RequestedAnalysis
from assay.service.fleet.requested_work import RequestedWork
from assay.service.fleet.row_poller import InquiryPoller, RunPoller
from assay.service.fleet.shared_analyser import SharedAnalyser
from assay.service.metrics.run_metrics import RunCollector
from assay.service.shared_parts import SharedParts
from assay.service.store_adapter import ReportStore
from config.settings import Settings
from config.store_address import PostgresAddress
from sql.engine.postgres.single_statements import SingleStatements
from sql.fleet.analysis_runs import AnalysisRuns
from sql.fleet.inquiries import Inquiries
from sql.fleet.report_change_feed import ReportChanges


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
