"""Analysis of tokens in one process, for the roles `analyse` and `api`."""

import asyncio
import time
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack, aclosing
from functools import partial
from typing import TYPE_CHECKING, Protocol

import msgspec

from analysis.external.connect import ExternalServices, connect_services
from analysis.pipeline.analyser import Analyser, ReportStorage
from analysis.pipeline.chain_context import ChainContext
from analysis.pipeline.refresher import Refresher
from analysis.pipeline.scan import ChainScanner
from analysis.quotes.chain_quotes import ChainQuotes
from analysis.quotes.quote_source import Quotes
from analysis.static.result_cache import StaticResultCache
from api.deps import Analysis
from api.serving.changed_reports import Forgetful
from assay.service.followed_state import newest_of
from assay.service.metrics.analysis_metrics import AnalyserCollector
from assay.service.shared_parts import SharedParts
from assay.service.store_adapter import ReportStore
from config.store_address import PostgresAddress
from core.report.report import Report

if TYPE_CHECKING:
    from assay.service.fleet.fleet_parts import FleetParts


class OtherProcesses(Protocol):
    """Processes that share the store and the analyses with this one."""

    def busy(self, chain: str) -> int:
        """Count the tokens of a chain that this process analyses for requests of any process."""
        ...

    def start_work(self, group: asyncio.TaskGroup, parts: SharedParts) -> None:
        """Analyse what other processes request, until the stop."""
        ...

    def start_messages(
        self,
        group: asyncio.TaskGroup,
        parts: SharedParts,
        answers: Forgetful | None,
        stop: asyncio.Event,
    ) -> None:
        """Exchange messages until the stop. `answers`: drops those whose reports have changed."""
        ...


class NoOtherProcesses:
    """The store is in files, so this process is the only one."""

    def busy(self, _chain: str) -> int:
        """Return 0."""
        return 0

    def start_work(self, group: asyncio.TaskGroup, parts: SharedParts) -> None:
        """Start nothing."""

    def start_messages(
        self,
        group: asyncio.TaskGroup,
        parts: SharedParts,
        answers: Forgetful | None,
        stop: asyncio.Event,
    ) -> None:
        """Start nothing."""


class AnalysisParts(msgspec.Struct, frozen=True, kw_only=True):
    """The analyser as seen by requests and background work, and its inputs."""

    analysis: Analysis
    """Analyses for requests."""
    refresher: Refresher
    """Analyses for background work."""
    quotes: Quotes
    """Quotes and checks for requests."""
    others: OtherProcesses
    contexts: Mapping[str, ChainContext]
    """Chains that this process has a node for, by slug."""
    outside: ExternalServices

    @property
    def chain_ids(self) -> dict[str, int]:
        """Return the ids of those chains, by slug."""
        return _chain_ids(self.contexts)


class _Engine(msgspec.Struct, frozen=True, kw_only=True):
    """Analyses and quotes made by this process."""

    analyser: Analyser
    quotes: Quotes
    contexts: Mapping[str, ChainContext]


async def open_analysis(stack: AsyncExitStack, parts: SharedParts) -> AnalysisParts:
    """Start the analyser, until the stack is closed."""
    outside = await stack.enter_async_context(connect_services(parts.settings))
    fleet = _open_fleet(stack, parts)
    report_store = ReportStore(parts.store, parts.settings.analysis, parts.find_verdict)
    if fleet is None:
        engine = await _open_engine(
            stack, parts, outside, report_store, storage=report_store, show=_show_nobody
        )
        return AnalysisParts(
            analysis=engine.analyser,
            refresher=engine.analyser,
            quotes=engine.quotes,
            others=NoOtherProcesses(),
            contexts=engine.contexts,
            outside=outside,
        )
    engine = await _open_engine(
        stack,
        parts,
        outside,
        report_store,
        storage=fleet.guard(report_store),
        show=fleet.leased_runs.show,
    )
    own = _chain_ids(engine.contexts)
    chains = {chain.slug: chain.id for chain in parts.chains}
    shared = fleet.share(engine.analyser, own)
    quotes = fleet.quotes(engine.quotes, chains, own)
    return AnalysisParts(
        analysis=fleet.request_analysis(report_store, chains),
        refresher=shared,
        quotes=await stack.enter_async_context(aclosing(quotes)),
        others=fleet.work(shared, engine.quotes, own),
        contexts=engine.contexts,
        outside=outside,
    )


async def _open_engine(
    stack: AsyncExitStack,
    parts: SharedParts,
    outside: ExternalServices,
    report_store: ReportStore,
    *,
    storage: ReportStorage,
    show: Callable[[Report], None],
) -> _Engine:
    """Start analyses on the chains that this process has a node for."""
    settings = parts.settings.analysis
    static_results = StaticResultCache(report_store, in_processes=True)
    stack.callback(static_results.close)
    if parts.clients:
        await static_results.start()
    contexts = {
        chain.slug: ChainContext(
            chain=chain,
            node=client,
            index=report_store,
            settings=settings,
            now_s=time.time,
            newest=partial(newest_of, chain, parts.statuses),
            external=outside,
            static_results=static_results,
            observe_stage=parts.metrics.stage_observer(chain.slug),
        )
        for chain, client in parts.clients
    }
    analyser = Analyser(
        {slug: ChainScanner(context) for slug, context in contexts.items()},
        storage,
        settings,
        time.time,
        observe=parts.metrics.analyses.observe,
        show=show,
    )
    stack.push_async_callback(analyser.aclose)
    parts.metrics.read_from(AnalyserCollector(analyser, static_results))
    chain_quotes = ChainQuotes(
        contexts, concurrency=settings.concurrency, signing_key=parts.settings.signing_key
    )
    quotes = await stack.enter_async_context(aclosing(chain_quotes))
    return _Engine(analyser=analyser, quotes=quotes, contexts=contexts)


def _open_fleet(stack: AsyncExitStack, parts: SharedParts) -> "FleetParts | None":
    address = parts.settings.store
    if not isinstance(address, PostgresAddress):
        return None
    from assay.service.fleet.fleet_parts import open_fleet  # noqa: PLC0415 - psycopg is an extra

    return open_fleet(stack, parts.settings, address)


def _chain_ids(contexts: Mapping[str, ChainContext]) -> dict[str, int]:
    return {slug: context.chain.id for slug, context in contexts.items()}


def _show_nobody(_report: Report) -> None:
    """Ignore a report in progress: no other process waits for it."""
