"""What is done for stored reports once, after a change of release or settings."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial

import structlog

from api.formats.stored_verdict import policy_of
from config.settings_model import AnalysisSettings
from core.errors import StoreError
from core.report.judgement import Judge
from sql.engine.store import Store
from sql.reports.judgements import judge_stored_reports
from sql.tokens.code_shapes import delete_old_shapes
from sql.tokens.search_entries import enter_stored_reports

_BROKEN_OFF_PAUSE_S = 10.0

_ENTERING_PAUSE_S = 0.05
"""Between two steps that hold the store's write lock."""

_LOG = structlog.get_logger("assay")


def report_steps(
    store: Store, judge: Judge, settings: AnalysisSettings, chain_ids: Sequence[int]
) -> tuple[Callable[[], bool], ...]:
    """Return what is to be done for reports of an earlier release, or of other settings."""
    return (
        partial(enter_stored_reports, store),
        partial(delete_old_shapes, store, chain_ids=chain_ids),
        partial(judge_stored_reports, store, judge=judge, policy=policy_of(settings)),
    )


async def work_through_reports(step: Callable[[], bool], stop: asyncio.Event) -> None:
    """Do for stored reports what was not done when they were written, until all are done or the
    stop. `step` returns whether there are more."""
    is_left = True
    while is_left and not stop.is_set():
        try:
            is_left = await asyncio.to_thread(step)
            pause_s = _ENTERING_PAUSE_S
        except StoreError as error:
            _LOG.error("stored reports cannot be worked through", why=str(error))
            pause_s = _BROKEN_OFF_PAUSE_S
        with suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), pause_s)
