"""What analyses tokens, for the roles `analyse` and `api`."""

import time
from collections.abc import Mapping
from contextlib import AsyncExitStack
from functools import partial

import msgspec

from analysis.external.connect import ExternalServices, connect_services
from analysis.pipeline.analyser import Analyser
from analysis.pipeline.chain_context import ChainContext
from analysis.pipeline.scan import ChainScanner
from analysis.pipeline.store_adapter import ReportStore
from analysis.static.result_cache import StaticResultCache
from metrics.analysis_metrics import AnalyserCollector
from service.followed_state import newest_of
from service.shared_parts import SharedParts


class AnalysisParts(msgspec.Struct, frozen=True, kw_only=True):
    """The analyser, and what it is made of."""

    analyser: Analyser
    contexts: Mapping[str, ChainContext]
    """By slug, of the chains that this process has a node for."""
    outside: ExternalServices


async def open_analysis(stack: AsyncExitStack, parts: SharedParts) -> AnalysisParts:
    """Start what analyses, until the stack is closed."""
    settings = parts.settings.analysis
    outside = await stack.enter_async_context(connect_services(parts.settings))
    shelf = ReportStore(parts.store, settings, parts.judge)
    examiner = StaticResultCache(shelf, in_processes=True)
    stack.callback(examiner.close)
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
        shelf,
        settings,
        time.time,
        observe=parts.metrics.analyses.observe,
    )
    stack.push_async_callback(analyser.aclose)
    parts.metrics.read_from(AnalyserCollector(analyser, examiner))
    return AnalysisParts(analyser=analyser, contexts=contexts, outside=outside)
