"""What processes on one PostgreSQL store share of analyses: tokens that are asked for, who judges
them, and which reports have changed. Imported only there: it needs the extra `fleet`."""

import asyncio
import os
import socket
import time
import uuid
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack, closing

import msgspec

from analysis.fleet.asked_analysis import AskedAnalysis
from analysis.fleet.asked_work import AskedWork
from analysis.fleet.fleet_messages import FleetMessages
from analysis.fleet.guarded_shelf import GuardedShelf
from analysis.fleet.held_runs import HeldRuns
from analysis.fleet.run_ends import RunEnds
from analysis.fleet.shared_analyser import SharedAnalyser
from analysis.pipeline.analyser import Analyser
from analysis.pipeline.store_adapter import ReportStore
from api.serving.changed_reports import ChangedReports, Forgetful
from config.chains import Chain
from config.settings_model import Settings
from config.store_address import PostgresAddress
from metrics.run_metrics import RunCollector
from sql.postgres.analysis_runs import AnalysisRuns
from sql.postgres.report_change_feed import ReportChanges
from sql.postgres.single_statements import SingleStatements


class FleetParts(msgspec.Struct, frozen=True, kw_only=True):
    """One process's part in the analyses of a fleet."""

    settings: Settings
    statements: SingleStatements
    runs: AnalysisRuns
    held: HeldRuns
    ends: RunEnds
    messages: FleetMessages

    def guard(self, shelf: ReportStore) -> GuardedShelf:
        """Return where the analyser of this process stores its reports."""
        return GuardedShelf(shelf, self.runs, self.held)

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

    def asked(self, shelf: ReportStore, chains: Mapping[str, int]) -> AskedAnalysis:
        """Return what the API of this process asks."""
        return AskedAnalysis(
            self.runs,
            self.ends,
            shelf,
            chains=chains,
            settings=self.settings.analysis,
            now_s=time.time,
            announce=lambda chain_id, token: self.messages.tell("asked", chain_id, token),
        )

    def take_work(self, shared: SharedAnalyser, chains: Mapping[str, int]) -> AskedWork:
        """Return what takes tokens that are asked for, once it is run."""
        work = AskedWork(
            shared,
            self.runs,
            self.held,
            chains=chains,
            at_once=self.settings.analysis.concurrency,
        )
        self.messages.hear("asked", lambda _chain_id, _token: work.wake())
        return work

    def collector(self, chains: Sequence[Chain]) -> RunCollector:
        """Return the metrics of the analyses of the fleet."""
        return RunCollector(chains, self.runs, self.held)

    async def keep_working(self, work: AskedWork, stop: asyncio.Event) -> None:
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
    ends = RunEnds(runs)
    stack.push_async_callback(ends.aclose)
    messages = FleetMessages(settings.redis_url)
    messages.hear("ended", lambda _chain_id, _token: ends.wake())
    return FleetParts(
        settings=settings,
        statements=statements,
        runs=runs,
        held=HeldRuns(runs),
        ends=ends,
        messages=messages,
    )
