"""What analyses tokens, for the roles `analyse` and `api`."""

import time
from collections.abc import Mapping
from contextlib import AsyncExitStack, aclosing
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from analysis.external.connect import ExternalServices, connect_services
from analysis.pipeline.analyser import Analyser
from analysis.pipeline.chain_context import ChainContext
from analysis.pipeline.refresher import Refresher
from analysis.pipeline.scan import ChainScanner
from analysis.quotes.chain_quotes import ChainQuotes
from analysis.quotes.quote_source import Quotes
from analysis.static.result_cache import StaticResultCache
from api.deps import Analysis
from assay.service.followed_state import newest_of
from assay.service.metrics.analysis_metrics import AnalyserCollector
from assay.service.shared_parts import SharedParts
from assay.service.store_adapter import ReportStore
from config.store_address import PostgresAddress
from core.report.report import Report

if TYPE_CHECKING:
    from assay.service.fleet.fleet_parts import FleetParts
    from assay.service.fleet.inquiry_work import InquiryWork
    from assay.service.fleet.requested_work import RequestedWork


class AnalysisParts(msgspec.Struct, frozen=True, kw_only=True):
    """The analyser, and what it is made of."""

    asked: Analysis
    """What answers requests."""
    refresher: Refresher
    """What the background asks."""
    work: "RequestedWork | None"
    """What takes tokens that any process asks for. None: there are no other processes."""
    quotes: Quotes
    """What answers requests for quotes and checks."""
    inquiry_work: "InquiryWork | None"
    """What answers those of other processes. None: there are none."""
    fleet: "FleetParts | None"
    """None: there are no other processes."""
    contexts: Mapping[str, ChainContext]
    """By slug, of the chains that this process has a node for."""
    outside: ExternalServices

    @property
    def chain_ids(self) -> dict[str, int]:
        """Return the ids of those chains, by slug."""
        return {slug: context.chain.id for slug, context in self.contexts.items()}


async def open_analysis(stack: AsyncExitStack, parts: SharedParts) -> AnalysisParts:
    """Start what analyses, until the stack is closed."""
    settings = parts.settings.analysis
    outside = await stack.enter_async_context(connect_services(parts.settings))
    fleet = _open_fleet(stack, parts)
    shelf = ReportStore(parts.store, settings, parts.judge)
    examiner = StaticResultCache(shelf, in_processes=True)
    stack.callback(examiner.close)
    if parts.clients:
        await examiner.start()
    contexts = {
        chain.slug: ChainContext(
            chain=chain,
            node=client,
            index=shelf,
            settings=settings,
            now_s=time.time,
            newest=partial(newest_of, chain, parts.statuses),
            external=outside,
            static_results=examiner,
            observe_stage=parts.metrics.stage_observer(chain.slug),
        )
        for chain, client in parts.clients
    }
    analyser = Analyser(
        {slug: ChainScanner(context) for slug, context in contexts.items()},
        shelf if fleet is None else fleet.guard(shelf),
        settings,
        time.time,
        observe=parts.metrics.analyses.observe,
        show=_show_nobody if fleet is None else fleet.held.show,
    )
    stack.push_async_callback(analyser.aclose)
    parts.metrics.read_from(AnalyserCollector(analyser, examiner))
    quotes = await stack.enter_async_context(
        aclosing(
            ChainQuotes(
                contexts,
                concurrency=settings.concurrency,
                signing_key=parts.settings.signing_key,
            )
        )
    )
    own = {slug: context.chain.id for slug, context in contexts.items()}
    if fleet is None:
        return AnalysisParts(
            asked=analyser,
            refresher=analyser,
            work=None,
            quotes=quotes,
            inquiry_work=None,
            fleet=None,
            contexts=contexts,
            outside=outside,
        )
    chains = {chain.slug: chain.id for chain in parts.chains}
    shared = fleet.share(analyser, own)
    return AnalysisParts(
        asked=fleet.asked(shelf, chains),
        refresher=shared,
        work=fleet.take_work(shared, own),
        quotes=await stack.enter_async_context(aclosing(fleet.quotes(quotes, chains, own))),
        inquiry_work=fleet.answer(quotes, own),
        fleet=fleet,
        contexts=contexts,
        outside=outside,
    )


def _open_fleet(stack: AsyncExitStack, parts: SharedParts) -> "FleetParts | None":
    address = parts.settings.store
    if not isinstance(address, PostgresAddress):
        return None
    from assay.service.fleet.fleet_parts import open_fleet  # noqa: PLC0415 - psycopg is an extra

    return open_fleet(stack, parts.settings, address)


def _show_nobody(_report: Report) -> None:
    """Nobody waits in another process."""
