"""Start of all background jobs of a service."""

from collections.abc import Callable, Mapping

from apscheduler.schedulers.asyncio import AsyncIOScheduler

from analysis.background.changed_tokens import ChangedTokenJob, NoticedChange
from analysis.background.creator_search import Creators
from analysis.background.due_tokens import DueTokenJob
from analysis.background.refresh_budget import budgets_of
from analysis.pipeline.analyser import Analyser
from analysis.pipeline.chain_context import ChainContext
from config.settings_model import AnalysisSettings
from core.judgement import Judge
from sql.store import Store


def start_jobs(
    contexts: Mapping[str, ChainContext],
    analyser: Analyser,
    store: Store,
    settings: AnalysisSettings,
    *,
    judge: Judge,
    now_s: Callable[[], float],
    observe: Callable[[NoticedChange], None],
) -> AsyncIOScheduler:
    """Start the jobs of the chains of these contexts, by slug; the caller shuts them down.

    `observe`: told of each change of a watched token that a report accounts for.
    """
    chains = {slug: context.chain.id for slug, context in contexts.items()}
    budgets = budgets_of(chains, settings, now_s)
    scheduler = AsyncIOScheduler()
    ChangedTokenJob(
        analyser=analyser,
        store=store,
        chains=chains,
        budgets=budgets,
        at_once=settings.concurrency,
        now_s=now_s,
        observe=observe,
    ).schedule(scheduler)
    DueTokenJob(
        analyser=analyser,
        store=store,
        chains=chains,
        settings=settings,
        budgets=budgets,
        now_s=now_s,
    ).schedule(scheduler)
    Creators(contexts=contexts, store=store, settings=settings, now_s=now_s, judge=judge).schedule(
        scheduler
    )
    scheduler.start()
    return scheduler
