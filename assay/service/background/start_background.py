"""Starts background work: rounds of changed and due tokens, searches for creators, and jobs.

Tokens of jobs share the rounds of due tokens.
"""

from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack

from apscheduler.schedulers.asyncio import AsyncIOScheduler

from analysis.pipeline.chain_context import ChainContext
from analysis.pipeline.refresher import Refresher
from assay.service.background.changed_tokens import ChangedTokenJob, NoticedChange
from assay.service.background.creator_search import BuyerFunders, Creators, Funders
from assay.service.background.due_tokens import DueTokenJob
from assay.service.background.job_runner import JobRunner, RunEnd
from assay.service.background.job_work import JobPlace
from assay.service.background.refresh_budget import budgets_of
from config.settings import AnalysisSettings
from core.report.verdict import FindVerdict


def start_rounds(
    stack: AsyncExitStack,
    place: JobPlace,
    contexts: Mapping[str, ChainContext],
    analyser: Refresher,
    *,
    settings: AnalysisSettings,
    find_verdict: FindVerdict,
    observe_change: Callable[[NoticedChange], None],
) -> None:
    """Schedule work that any number of processes may do on one store, until the stack is closed.

    `observe_change`: called with each change of a watched token that a report includes.
    """
    budgets = budgets_of(place.served, settings, place.now_s)
    scheduler = AsyncIOScheduler()
    ChangedTokenJob(
        analyser=analyser,
        store=place.store,
        chains=place.served,
        budgets=budgets,
        at_once=settings.concurrency,
        now_s=place.now_s,
        observe=observe_change,
    ).schedule(scheduler)
    DueTokenJob(
        analyser=analyser,
        store=place.store,
        chains=place.served,
        settings=settings,
        budgets=budgets,
        now_s=place.now_s,
        share=place.share,
    ).schedule(scheduler)
    Creators(
        contexts=contexts,
        store=place.store,
        settings=settings,
        now_s=place.now_s,
        find_verdict=find_verdict,
    ).schedule(scheduler)
    for search in (Funders, BuyerFunders):
        search(contexts=contexts, store=place.store, settings=settings, now_s=place.now_s).schedule(
            scheduler
        )
    scheduler.start()
    stack.callback(scheduler.shutdown, wait=False)


def start_jobs(
    stack: AsyncExitStack, place: JobPlace, *, observe_job: Callable[[RunEnd], None]
) -> None:
    """Schedule the jobs, which one process runs at a time, until the stack is closed.

    Their tokens share the rounds of this process. `observe_job`: called with every finished run,
    in any thread.
    """
    scheduler = AsyncIOScheduler()
    jobs = JobRunner(place, observe=observe_job)
    stack.push_async_callback(jobs.aclose)
    jobs.schedule(scheduler)
    scheduler.start()
    stack.callback(scheduler.shutdown, wait=False)
