"""The role `analyse`: due tokens, jobs, stored reports and webhook messages."""

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack, suppress
from functools import partial
from typing import Final

import msgspec
import structlog

from api.formats.stored_verdict import policy_of
from api.watches.delivery.keep_delivering import keep_delivering
from api.watches.message_body import MessageRenderer
from assay.service.analysis_parts import AnalysisParts
from assay.service.background.job_work import JobPlace
from assay.service.background.round_share import RoundShare
from assay.service.background.start_background import start_jobs, start_rounds
from assay.service.metrics.delivery_metrics import DeliveryCollector
from assay.service.metrics.job_metrics import JobCollector
from assay.service.metrics.queue_metrics import QueueCollector
from assay.service.shared_parts import SharedParts
from config.settings import AnalysisSettings
from core.errors import StoreError
from core.report.verdict import FindVerdict
from sql.engine.store import Store
from sql.reports.judgements import put_missing_verdicts
from sql.tokens.code_shapes import delete_old_shapes
from sql.tokens.search_entries import enter_stored_reports

JOBS_LEASE: Final = "jobs"
REPORTS_LEASE: Final = "reports"
DELIVERY_LEASE: Final = "delivery"


def begin_analysing(group: asyncio.TaskGroup, parts: SharedParts, analysis: AnalysisParts) -> None:
    """Start the tasks of the role, until the stop."""
    parts.metrics.read_from(
        QueueCollector(parts.store, parts.followed, now_s=time.time),
        JobCollector(parts.store, parts.metrics.jobs, now_s=time.time),
        DeliveryCollector(parts.store, now_s=time.time),
    )
    place = JobPlace(
        store=parts.store,
        share=RoundShare(busy=analysis.others.busy),
        chains=parts.chains,
        served=analysis.chain_ids,
        jobs=parts.settings.jobs,
        sql=parts.settings.sql,
        now_s=time.time,
    )
    group.create_task(_run_rounds(parts, analysis, place))
    analysis.others.start_work(group, parts)
    for name, led in (
        (JOBS_LEASE, partial(_run_jobs, parts, place)),
        (REPORTS_LEASE, partial(_update_reports, parts)),
        (DELIVERY_LEASE, partial(_deliver, parts)),
    ):
        group.create_task(parts.leadership.lead(name, led, stop=parts.stop))


async def _run_rounds(parts: SharedParts, analysis: AnalysisParts, place: JobPlace) -> None:
    async with AsyncExitStack() as stack:
        start_rounds(
            stack,
            place,
            analysis.contexts,
            analysis.refresher,
            settings=parts.settings.analysis,
            find_verdict=parts.find_verdict,
            observe_change=parts.metrics.watches.observe,
        )
        await parts.stop.wait()


async def _run_jobs(parts: SharedParts, place: JobPlace, store: Store, stop: asyncio.Event) -> None:
    async with AsyncExitStack() as stack:
        leased = msgspec.structs.replace(place, store=store)
        start_jobs(stack, leased, observe_job=parts.metrics.jobs.observe)
        await stop.wait()


async def _update_reports(parts: SharedParts, store: Store, stop: asyncio.Event) -> None:
    """Update stored reports once, and keep the lease afterwards, so that no process repeats it."""
    steps = report_steps(
        store, parts.find_verdict, parts.settings.analysis, [chain.id for chain in parts.followed]
    )
    async with asyncio.TaskGroup() as group:
        for step in steps:
            group.create_task(update_reports(step, stop))
    await stop.wait()


async def _deliver(parts: SharedParts, store: Store, stop: asyncio.Event) -> None:
    await keep_delivering(
        store,
        parts.settings.watches,
        render=MessageRenderer(parts.chains).encode,
        ended_keys=parts.ledger.ended_of,
        observe=parts.metrics.deliveries.observe,
        stop=stop,
    )


_FAILURE_PAUSE_S = 10.0

_ENTERING_PAUSE_S = 0.05
"""Pause between two steps that take the store's write lock."""

_LOG = structlog.get_logger("assay")


def report_steps(
    store: Store, find_verdict: FindVerdict, settings: AnalysisSettings, chain_ids: Sequence[int]
) -> tuple[Callable[[], bool], ...]:
    """Return the updates of reports of an earlier release or other settings."""
    return (
        partial(enter_stored_reports, store),
        partial(delete_old_shapes, store, chain_ids=chain_ids),
        partial(put_missing_verdicts, store, find_verdict=find_verdict, policy=policy_of(settings)),
    )


async def update_reports(step: Callable[[], bool], stop: asyncio.Event) -> None:
    """Update stored reports until all are done, or until the stop. `step` returns True if more are
    left."""
    is_left = True
    while is_left and not stop.is_set():
        try:
            is_left = await asyncio.to_thread(step)
            pause_s = _ENTERING_PAUSE_S
        except StoreError as error:
            _LOG.error("stored reports cannot be updated", why=str(error))
            pause_s = _FAILURE_PAUSE_S
        with suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), pause_s)
