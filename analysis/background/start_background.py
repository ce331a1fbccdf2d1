"""Starts the background: due tokens, searches for creators, and jobs, which share their rounds."""

from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack

from apscheduler.schedulers.asyncio import AsyncIOScheduler

from analysis.background.creator_search import Creators
from analysis.background.due_tokens import DueTokenJob
from analysis.background.job_runner import JobRunner, RunEnd
from analysis.background.job_work import JobPlace
from analysis.pipeline.analyser import Analyser
from analysis.pipeline.chain_context import ChainContext
from config.settings_model import AnalysisSettings
from core.judgement import Judge


def start_background(
    stack: AsyncExitStack,
    place: JobPlace,
    contexts: Mapping[str, ChainContext],
    analyser: Analyser,
    *,
    settings: AnalysisSettings,
    judge: Judge,
    observe: Callable[[RunEnd], None],
) -> None:
    """Schedule all that is done in the background, until the stack is closed.

    `observe`: told of every run of a job that ends; in any thread.
    """
    scheduler = AsyncIOScheduler()
    DueTokenJob(
        analyser=analyser,
        store=place.store,
        chains=place.served,
        settings=settings,
        now_s=place.now_s,
        share=place.share,
    ).schedule(scheduler)
    Creators(
        contexts=contexts, store=place.store, settings=settings, now_s=place.now_s, judge=judge
    ).schedule(scheduler)
    jobs = JobRunner(place, observe=observe)
    stack.push_async_callback(jobs.aclose)
    jobs.schedule(scheduler)
    scheduler.start()
    stack.callback(scheduler.shutdown, wait=False)
