"""What processes on one PostgreSQL store share of analyses: tokens that are asked for, who judges
them, which reports have changed, and inquiries. Imported only there: it needs the extra `fleet`."""

import asyncio
import os
import socket
import time
import uuid
from collections.abc import Mapping, Sequence
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
from assay.service.store_adapter import ReportStore
from config.chains import Chain
from config.settings_model import Settings
from config.store_address import PostgresAddress
from sql.engine.postgres.single_statements import SingleStatements
from sql.fleet.analysis_runs import AnalysisRuns
from sql.fleet.inquiries import Inquiries
from sql.fleet.report_change_feed import ReportChanges


class FleetParts(msgspec.Struct, frozen=True, kw_only=True):
    """One process's part in the analyses of a fleet."""

    settings: Settings
    statements: SingleStatements
    runs: AnalysisRuns
    held: LeasedRuns
    ends: RunPoller
    inquiries: Inquiries
    inquiry_ends: InquiryPoller
    messages: FleetMessages

    def guard(self, shelf: ReportStore) -> GuardedReportStore:
        """Return where the analyser of this process stores its reports."""
        return GuardedReportStore(shelf, self.runs, self.held)

    def share(self, analyser: Analyser, chains: Mapping[str, int]) -> SharedAnalyser:
        """Return the analyser that judges only what no other process judges. `chains`: slug to
        chain id."""
        return SharedAnalyser(
            analyser,
            self.runs,
            self.held,
            self.ends,
            chains=chains,
            announce=lambda chain_id, token: self.messages.tell("ended", chain_id, token),
        )

    def asked(self, shelf: ReportStore, chains: Mapping[str, int]) -> RequestedAnalysis:
        """Return what the API of this process asks. `chains`: every supported one."""
        return RequestedAnalysis(
            self.runs,
            self.ends,
            shelf,
            chains=chains,
            settings=self.settings.analysis,
            now_s=time.time,
            announce=lambda chain_id, token: self.messages.tell("asked", chain_id, token),
        )

    def take_work(self, shared: SharedAnalyser, chains: Mapping[str, int]) -> RequestedWork:
        """Return what takes tokens that are asked for, once it is run."""
        work = RequestedWork(
            shared,
            self.runs,
            self.held,
            chains=chains,
            at_once=self.settings.analysis.concurrency,
        )
        self.messages.hear("asked", lambda _chain_id, _token: work.wake())
        return work

    def quotes(
        self, here: Quotes, chains: Mapping[str, int], own: Mapping[str, int]
    ) -> FleetQuotes:
        """Return what the API of this process asks for quotes. `here`: of the chains `own`."""
        return FleetQuotes(
            here,
            self.inquiries,
            self.inquiry_ends,
            chains=chains,
            own=own.keys(),
            announce=lambda chain_id, token: self.messages.tell("inquired", chain_id, token),
        )

    def answer(self, quotes: Quotes, chains: Mapping[str, int]) -> InquiryWork:
        """Return what answers the inquiries of others, once it is run."""
        work = InquiryWork(
            quotes,
            self.inquiries,
            chains=chains,
            at_once=self.settings.analysis.concurrency,
            announce=lambda chain_id, token: self.messages.tell("answered", chain_id, token),
        )
        self.messages.hear("inquired", lambda _chain_id, _token: work.wake())
        return work

    def collector(self, chains: Sequence[Chain]) -> RunCollector:
        """Return the metrics of the analyses of the fleet."""
        return RunCollector(chains, self.runs, self.held)

    async def keep_working(self, work: RequestedWork, stop: asyncio.Event) -> None:
        """Take tokens that are asked for until the stop, and then hand over what is left."""
        ended = asyncio.Event()
        keeping = asyncio.create_task(self.held.keep(ended))
        try:
            await work.run(stop)
        finally:
            ended.set()
            await keeping
            await self.held.aclose()

    async def keep_current(
        self, answers: Forgetful, chains: Mapping[str, int], stop: asyncio.Event
    ) -> None:
        """Drop answers that other processes have made old, until the stop."""
        changes = ReportChanges(self.statements, list(chains.values()))
        changed = ChangedReports(changes, answers, chains=chains)
        self.messages.hear("ended", changed.forget)
        await changed.run(stop)


def open_fleet(stack: AsyncExitStack, settings: Settings, address: PostgresAddress) -> FleetParts:
    """Connect to the others, until the stack is closed. Raises StoreError."""
    statements = stack.enter_context(closing(SingleStatements(address.url.value)))
    holder = f"{socket.gethostname()} {os.getpid()} {uuid.uuid4().hex}"
    runs = AnalysisRuns(statements, holder=holder)
    ends = RunPoller(runs)
    stack.push_async_callback(ends.aclose)
    inquiries = Inquiries(statements, holder=holder)
    inquiry_ends = InquiryPoller(inquiries)
    stack.push_async_callback(inquiry_ends.aclose)
    messages = FleetMessages(settings.redis_url)
    messages.hear("ended", lambda _chain_id, _token: ends.wake())
    messages.hear("answered", lambda _chain_id, _token: inquiry_ends.wake())
    return FleetParts(
        settings=settings,
        statements=statements,
        runs=runs,
        held=LeasedRuns(runs),
        ends=ends,
        inquiries=inquiries,
        inquiry_ends=inquiry_ends,
        messages=messages,
    )
