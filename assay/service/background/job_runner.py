"""Runs the jobs of a store: starts due jobs and resumes interrupted runs, one run per job.

One of the processes on the store runs its jobs; another takes over when that process has ended.
"""

import asyncio
from collections.abc import Callable
from contextlib import ExitStack, suppress
from functools import partial

import msgspec
import structlog
from apscheduler.schedulers.asyncio import AsyncIOScheduler

from assay.service.background.job_work import JobPlace, JobWork
from config.job_definition import JobInvalidError
from core.errors import AssayError, StoreError
from sql.engine.store_files import StoreFiles
from sql.jobs.job_runs import (
    JobRun,
    RunOutcome,
    begin_run,
    finish_run,
    hold_jobs_lock,
    list_unfinished_runs,
    release_run,
    take_up_run,
)
from sql.jobs.job_table import Job, list_due_jobs, list_jobs

_LOG = structlog.get_logger(__name__)

_LOOK_EVERY_S = 1.0

_MOST_AT_ONCE = 4
"""Most concurrent runs; further due jobs wait."""


class RunEnd(msgspec.Struct, frozen=True, kw_only=True):
    """One finished run."""

    job: str
    """Name."""
    outcome: RunOutcome


class _Plan(msgspec.Struct, frozen=True, kw_only=True):
    going_on: frozenset[int]
    """Runs that are neither finished nor paused."""
    begun: list[tuple[Job, JobRun]]
    """Runs that this process starts now."""


class JobRunner:
    """Runs jobs until it is closed."""

    def __init__(
        self, place: JobPlace, *, observe: Callable[[RunEnd], None] = lambda _: None
    ) -> None:
        """`observe`: called with every finished run, in any thread."""
        self._place = place
        self._observe = observe
        self._lock = ExitStack()
        self._is_ours = False
        self._tasks: dict[int, asyncio.Task[None]] = {}

    def schedule(self, scheduler: AsyncIOScheduler) -> None:
        """Look for due jobs every second."""
        scheduler.add_job(
            self.look,
            "interval",
            seconds=_LOOK_EVERY_S,
            max_instances=1,
            coalesce=True,
            id="run jobs",
        )

    async def look(self) -> None:
        """Start due runs, and stop runs of paused or removed jobs. Errors are logged."""
        try:
            if not self._is_ours and not self._take_over():
                return
            plan = await asyncio.to_thread(self._plan)
        except StoreError as error:
            _LOG.error("jobs cannot be read", why=str(error))
            return
        for run_id, task in self._tasks.items():
            if run_id not in plan.going_on:
                task.cancel()
        for job, run in plan.begun:
            task = asyncio.create_task(self._do(job, run))
            self._tasks[run.run_id] = task
            task.add_done_callback(partial(self._forget, run.run_id))

    def _forget(self, run_id: int, _: asyncio.Task[None]) -> None:
        del self._tasks[run_id]

    async def wait(self) -> None:
        """Wait for the current runs."""
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    async def aclose(self) -> None:
        """Stop the current runs; they resume when jobs are run again."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._lock.close()
        self._is_ours = False

    def _take_over(self) -> bool:
        """Become the process that runs the jobs, unless another one does."""
        files = StoreFiles(prefix=self._place.store.path)
        with suppress(StoreError):
            self._lock.enter_context(hold_jobs_lock(files))
            self._is_ours = True
        return self._is_ours

    def _plan(self) -> _Plan:
        """Resume interrupted runs, then start due jobs."""
        store, now_s = self._place.store, self._place.now_s()
        jobs = {job.job_id: job for job in list_jobs(store)}
        unfinished = list_unfinished_runs(store)
        free = _MOST_AT_ONCE - len(self._tasks)
        begun: list[tuple[Job, JobRun]] = []
        for run in unfinished:
            job = jobs.get(run.job_id)
            if run.run_id in self._tasks or job is None or len(begun) >= free:
                continue
            taken = take_up_run(store, run.run_id, now_s=now_s)
            if taken is None:
                self._observe(RunEnd(job=job.name, outcome="cut"))
            else:
                begun.append((job, taken))
        for job in list_due_jobs(store, now_s=now_s, at_most=_MOST_AT_ONCE + len(unfinished)):
            is_at_it = any(run.job_id == job.job_id for run in unfinished)
            if len(begun) >= free and not is_at_it:
                break
            run_begun = begin_run(store, job, now_s=now_s)
            if run_begun is not None:
                begun.append((job, run_begun))
        going_on = {run.run_id for run in unfinished} | {run.run_id for _, run in begun}
        return _Plan(going_on=frozenset(going_on), begun=begun)

    async def _do(self, job: Job, run: JobRun) -> None:
        """Do a run and store its outcome."""
        work = JobWork(self._place, job.definition, run)
        error: str | None = None
        rows = 0
        try:
            rows = await work.do()
        except asyncio.CancelledError:
            await asyncio.shield(asyncio.to_thread(self._release, run))
            raise
        except (AssayError, JobInvalidError) as refused:
            error = str(refused)
        except Exception as fault:  # noqa: BLE001 - logged whole; the other jobs go on
            _LOG.error("job failed", job=job.name, exc_info=fault)
            error = f"a fault of ours, see the log: {fault!r}"
        try:
            await asyncio.shield(asyncio.to_thread(self._finish, job, run, error, rows))
        except StoreError as lost:
            _LOG.error("end of a job not stored", job=job.name, why=str(lost))

    def _finish(self, job: Job, run: JobRun, error: str | None, rows: int) -> None:
        ended = finish_run(
            self._place.store,
            run.run_id,
            now_s=self._place.now_s(),
            error=error,
            rows_exported=rows,
        )
        if ended is None or ended.outcome is None:
            return
        self._observe(RunEnd(job=job.name, outcome=ended.outcome))
        _LOG.info(
            "job done",
            job=job.name,
            outcome=ended.outcome,
            tokens=ended.tokens,
            done=ended.done,
            failed=ended.failed,
            why=ended.error,
        )

    def _release(self, run: JobRun) -> None:
        with suppress(StoreError):  # the run then counts as cut once more
            release_run(self._place.store, run.run_id)
