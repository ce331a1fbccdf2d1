"""/jobs: operators make, pause, run and remove scheduled jobs, and see the outcome of their
runs."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, Final, TypeVar

from litestar import Request
from litestar.connection import ASGIConnection
from litestar.handlers import BaseRouteHandler
from litestar.params import JSONBody, Parameter

from api.auth.keys import caller_of, require_key
from api.deps import ApiDeps
from api.error_answers import (
    DetailBody,
    InvalidInputError,
    InvalidItem,
    JobConflictError,
    JobsOffError,
    LedgerDownError,
    NoSuchJobError,
    OperatorRequiredError,
    StoreDownError,
    ValidationBody,
)
from api.formats.job_bodies import JobBody, JobDetail, JobList, job_body, job_detail
from api.openapi.responses import MALFORMED, NO_KEY, documented, unknown_value
from api.routes.operations import OperationGroup
from config.job_check import JobLimits, check_job
from config.job_definition import JobDefinition, JobInvalidError, JobStateError
from core.errors import StoreError
from sql.engine.store import Store
from sql.jobs.job_runs import find_unfinished_run, list_runs
from sql.jobs.job_table import Job, add_job, find_job, list_jobs, pause_job, remove_job, request_run


async def require_operator(
    connection: ASGIConnection[Any, Any, Any, Any], _: BaseRouteHandler
) -> None:
    """Guard, behind `require_key`: the key is an operator's."""
    if not caller_of(connection.scope).key.is_operator:
        raise OperatorRequiredError


T = TypeVar("T")

NameInPath = Annotated[
    str,
    Parameter(description="Name of the job.", schema_extra={"examples": ["new-pools"]}),
]

RUNS_SHOWN: Final = 20

_JOBS: Final = OperationGroup(
    tag="jobs",
    guards=(require_key, require_operator),
    responses={
        401: NO_KEY,
        403: documented(
            DetailBody, "The key is not an operator's", not_operator=OperatorRequiredError()
        ),
        503: documented(
            DetailBody,
            "Jobs are not run by this process; or the store, or the ledger of keys, is out of "
            "reach",
            jobs_off=JobsOffError(),
            store_down=StoreDownError(),
            ledger_down=LedgerDownError(),
        ),
    },
    max_body_bytes=1 << 20,
)

_ONE_JOB: Final = {
    400: MALFORMED,
    404: documented(DetailBody, "There is no such job", no_such_job=NoSuchJobError(name="nightly")),
}
"""Further responses of the operations on one job."""


def _conflict(meaning: str, reason: str) -> Any:
    return documented(
        DetailBody, meaning, conflict=JobConflictError(name="new-pools", reason=reason)
    )


@_JOBS.operation(
    "GET",
    "/jobs",
    operation_id="getJobs",
    summary="All jobs",
    responses={200: documented(JobList, "The jobs, by name")},
)
async def get_jobs(request: Request[Any, Any, Any]) -> JobList:
    """Jobs of the configuration, the API and the command line, each with its next due time."""

    def read(store: Store) -> JobList:
        return JobList(
            jobs=tuple(
                job_body(job, find_unfinished_run(store, job.job_id)) for job in list_jobs(store)
            )
        )

    return await _with_store(request, read)


@_JOBS.operation(
    "POST",
    "/jobs",
    operation_id="postJobs",
    summary="Make a job",
    status=201,
    takes_json=True,
    responses={
        201: documented(JobBody, "The job, and when it is due first"),
        409: _conflict("The name is taken", "there is one of that name already"),
        422: documented(
            ValidationBody,
            "The definition is wrong",
            no_time=unknown_value(
                "body", "cron", message="expects five fields", kind="value_error"
            ),
        ),
    },
)
async def post_job(request: Request[Any, Any, Any], data: JSONBody[JobDefinition]) -> JobBody:
    """A job names its tokens, its schedule and its action.

    Tokens by a list or by SQL on the analysts' views, the schedule by an interval or a cron
    expression, the action is refresh, verify or export.
    """
    deps: ApiDeps = request.app.state.deps
    limits = _limits(deps)
    try:
        await asyncio.to_thread(check_job, data, limits)
    except JobInvalidError as error:
        item = InvalidItem(loc=("body", error.key), msg=error.reason, type="value_error")
        raise InvalidInputError(item) from error
    job = await _with_store(request, partial(add_job, definition=data, now_s=deps.now_s()))
    return job_body(job, None)


@_JOBS.operation(
    "GET",
    "/jobs/{name:str}",
    operation_id="getJob",
    summary="One job with its last runs",
    responses={
        200: documented(JobDetail, f"The job and its last {RUNS_SHOWN} runs, the newest first"),
        **_ONE_JOB,
    },
)
async def get_job(request: Request[Any, Any, Any], name: NameInPath) -> JobDetail:
    """A run that is not over has no outcome yet; its counts grow as it proceeds."""

    def read(store: Store) -> JobDetail:
        job = find_job(store, name)
        if job is None:
            raise NoSuchJobError(name=name)
        return job_detail(job, list_runs(store, job.job_id, at_most=RUNS_SHOWN))

    return await _with_store(request, read)


@_JOBS.operation(
    "POST",
    "/jobs/{name:str}/pause",
    operation_id="postJobPause",
    summary="Pause a job",
    responses={
        200: documented(JobBody, "The job as it is now"),
        **_ONE_JOB,
    },
)
async def pause(request: Request[Any, Any, Any], name: NameInPath) -> JobBody:
    """A running run stops after its current tokens. The pause survives restarts, also for a job of
    the configuration."""
    return await _change(request, name, partial(pause_job, is_paused=True))


@_JOBS.operation(
    "POST",
    "/jobs/{name:str}/resume",
    operation_id="postJobResume",
    summary="Resume a job",
    responses={
        200: documented(JobBody, "The job as it is now"),
        **_ONE_JOB,
    },
)
async def resume(request: Request[Any, Any, Any], name: NameInPath) -> JobBody:
    """A stopped run continues; due times missed in the meantime are skipped."""
    return await _change(request, name, partial(pause_job, is_paused=False))


@_JOBS.operation(
    "POST",
    "/jobs/{name:str}/run",
    operation_id="postJobRun",
    summary="Run a job now",
    status=202,
    responses={
        202: documented(JobBody, "The job; its run begins within seconds"),
        **_ONE_JOB,
        409: _conflict("It is paused, or running already", "is running already"),
    },
)
async def run(request: Request[Any, Any, Any], name: NameInPath) -> JobBody:
    """The schedule does not change."""
    return await _change(request, name, request_run)


@_JOBS.operation(
    "DELETE",
    "/jobs/{name:str}",
    operation_id="deleteJob",
    summary="Remove a job",
    status=204,
    responses={
        **_ONE_JOB,
        409: _conflict("It is of the configuration", "is of the configuration; remove it there"),
    },
)
async def remove(request: Request[Any, Any, Any], name: NameInPath) -> None:
    """Removes the job with its runs; a running one ends. A job of the configuration can only be
    paused."""
    await _with_store(request, partial(_existing, name, partial(remove_job, name=name)))


async def _change(
    request: Request[Any, Any, Any], name: str, change: Callable[..., Job]
) -> JobBody:
    deps: ApiDeps = request.app.state.deps

    def do(store: Store) -> JobBody:
        job = change(store, name, now_s=deps.now_s())
        return job_body(job, find_unfinished_run(store, job.job_id))

    return await _with_store(request, partial(_existing, name, do))


def _existing(name: str, do: Callable[[Store], T], store: Store) -> T:
    """Call `do` for a job that exists. Raises NoSuchJobError."""
    if find_job(store, name) is None:
        raise NoSuchJobError(name=name)
    return do(store)


async def _with_store(request: Request[Any, Any, Any], do: Callable[[Store], T]) -> T:
    """Call `do` with the store in a thread. Raises its errors as refusals."""
    deps: ApiDeps = request.app.state.deps
    _limits(deps)
    store = deps.store
    if store is None:
        raise JobsOffError
    try:
        return await asyncio.to_thread(do, store)
    except JobStateError as error:
        raise JobConflictError(name=error.name, reason=error.reason) from error
    except StoreError as error:
        raise StoreDownError from error


def _limits(deps: ApiDeps) -> JobLimits:
    if deps.jobs is None:
        raise JobsOffError
    return deps.jobs
