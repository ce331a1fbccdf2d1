"""Parts of one service for its jobs, over a scripted chain and a manual clock."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from analysis.pipeline.analyser import Analyser
from assay.service.background.due_tokens import DueTokenJob
from assay.service.background.job_runner import JobRunner, RunEnd
from assay.service.background.job_work import JobPlace
from assay.service.background.refresh_budget import budgets_of
from assay.service.background.round_share import RoundShare
from assay.service.store_adapter import ReportStore
from config.job_definition import JobDefinition
from config.settings import AnalysisSettings, JobSettings, SqlSettings
from core.evm.primitives import Address
from core.report.report import Report
from sql.engine.store import Store
from sql.jobs.job_runs import JobRun, list_runs
from sql.jobs.job_table import add_job, find_job, request_run
from tests.harness.bare_reports import bare_report
from tests.harness.built_in_chains import BUILT_IN_CHAINS
from tests.harness.clock import HandClock

PATIENCE_S = 120.0
"""Statements start a process of low priority, which waits for those of the other tests."""
SLUG, CHAIN_ID = "ethereum", 1
SETTINGS = AnalysisSettings(background_requests_per_hour=10**9, background_cpu_s_per_hour=10**9)


class ScriptedScanner:
    """Analyses of one chain, as the node would give them; each once it may go on."""

    chain_id = CHAIN_ID

    def __init__(self, clock: HandClock) -> None:
        self.clock = clock
        self.requests: list[tuple[str, bool]] = []
        self.errors: dict[str, Exception] = {}
        self.open = asyncio.Event()
        self.open.set()

    async def scan(self, token: Address, *, redecompile: bool) -> AsyncIterator[Report]:
        self.requests.append((token, redecompile))
        await self.open.wait()
        if token in self.errors:
            raise self.errors[token]
        yield bare_report(token, scanned_at_s=int(self.clock.now_s))


class Process:
    """Parts of one service for its jobs; several may share a store."""

    def __init__(
        self,
        store: Store,
        clock: HandClock,
        folder: Path,
        settings: AnalysisSettings = SETTINGS,
        *,
        statement_s: float = PATIENCE_S,
    ) -> None:
        """`statement_s`: time limit of a statement."""
        self.clock = clock
        self.store = store
        self.scanner = ScriptedScanner(clock)
        report_store = ReportStore(store, settings)
        self.analyser = Analyser({SLUG: self.scanner}, report_store, settings, clock)
        self.ends: list[RunEnd] = []
        self.begun: list[asyncio.Task[None]] = []
        """Rounds of `work_until`."""
        self.share = RoundShare()
        self.rounds = DueTokenJob(
            analyser=self.analyser,
            store=store,
            chains={SLUG: CHAIN_ID},
            settings=settings,
            budgets=budgets_of({SLUG: CHAIN_ID}, settings, clock),
            now_s=clock,
            share=self.share,
        )
        place = JobPlace(
            store=store,
            share=self.share,
            chains=BUILT_IN_CHAINS,
            served={SLUG: CHAIN_ID},
            jobs=JobSettings(max_tokens=50, export_folder=str(folder / "exports")),
            sql=SqlSettings(time_limit_s=statement_s, memory_mb=300),
            now_s=clock,
        )
        self.runner = JobRunner(place, observe=self.ends.append)

    async def work(self) -> None:
        """Do all due work, and its consequences."""
        await self.runner.look()
        done = asyncio.create_task(self.runner.wait())
        async with asyncio.timeout(PATIENCE_S):
            while not done.done():
                await self.rounds.go(SLUG)
                await asyncio.wait({done}, timeout=0.01)

    async def work_until(self, scan_count: int) -> None:
        """Run rounds until a number of analyses have begun.

        Blocked analyses do not end in them. A round that waits for an analysis takes no token that
        became due since, so the next begins as soon as it has requested one.
        """
        async with asyncio.timeout(PATIENCE_S):
            while (before := len(self.scanner.requests)) < scan_count:
                one = asyncio.create_task(self.rounds.go(SLUG))
                self.begun.append(one)
                while not one.done():
                    if not self.scanner.open.is_set() and len(self.scanner.requests) > before:
                        break
                    await asyncio.sleep(0.005)

    async def until_waiting(self, tokens: int) -> None:
        """Wait until a run waits for the analysis of a number of tokens."""
        async with asyncio.timeout(PATIENCE_S):
            while self.share.waiting(SLUG) < tokens:  # noqa: ASYNC110 - no event signals it
                await asyncio.sleep(0.005)

    async def aclose(self) -> None:
        await self.runner.aclose()
        await self.analyser.aclose()


def address(number: int) -> Address:
    return Address(f"0x{number:040x}")


def a_job(**changes: Any) -> JobDefinition:
    plain: dict[str, Any] = {
        "name": "mine",
        "action": "refresh",
        "every_s": 3600,
        "tokens": tuple(f"eth/{address(number)}" for number in (1, 2, 3)),
    }
    if "sql" in changes:
        del plain["tokens"]
    return JobDefinition(**{**plain, **changes})


def runs_of(store: Store, name: str = "mine") -> list[JobRun]:
    job = find_job(store, name)
    assert job is not None
    return list_runs(store, job.job_id, at_most=100)


def ask_for(store: Store, clock: HandClock, job: JobDefinition) -> None:
    add_job(store, job, now_s=clock())
    request_run(store, job.name, now_s=clock())
