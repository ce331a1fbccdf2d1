"""/dashboard/jobs: the jobs of the service, for users with an operator's key."""

import asyncio
from typing import Any, Literal

import msgspec
from litestar import Request, Response, get, post
from litestar.params import FromPath
from litestar.response import Redirect

from api.deps import ApiDeps
from api.error_answers import JobConflictError, JobsOffError, NoSuchJobError, OperatorRequiredError
from api.pages.page_rendering import GUARDED, page
from api.routes.dashboard import to_sign_in
from api.sign_in.browser import require_own_form, require_visitor, visitor_of
from api.sign_in.refusals import NotSignedInError
from config.job_definition import JobStateError
from sql.accounts.accounts import Accounts
from sql.engine.store import Store
from sql.jobs.job_runs import JobRun, list_runs
from sql.jobs.job_table import Job, find_job, list_jobs, pause_job, request_run

_MAX_BODY_BYTES = 16_384


class _JobRow(msgspec.Struct, frozen=True, kw_only=True):
    """One job as shown on the page."""

    job: Job
    last: JobRun | None
    """None: it has not run yet."""
    state: Literal["waiting", "running", "paused"]
    when: str


@get(
    "/dashboard/jobs",
    guards=[require_visitor],
    exception_handlers={NotSignedInError: to_sign_in},
    include_in_schema=False,
)
async def show(request: Request[Any, Any, Any]) -> Response[str]:
    """All jobs with their last runs."""
    store = await _operators_store(request)

    def read() -> list[_JobRow]:
        return [_row(store, job) for job in list_jobs(store)]

    return page("jobs.html", visitor=visitor_of(request), rows=await asyncio.to_thread(read))


@post(
    "/dashboard/jobs/{name:str}/{change:str}",
    guards=[require_visitor, require_own_form],
    request_max_body_size=_MAX_BODY_BYTES,
    status_code=303,
    include_in_schema=False,
)
async def change(
    request: Request[Any, Any, Any], name: FromPath[str], change: FromPath[str]
) -> Redirect:
    """Pause, resume or run one job."""
    store = await _operators_store(request)
    deps: ApiDeps = request.app.state.deps
    now_s = deps.now_s()

    def do() -> None:
        if find_job(store, name) is None or change not in ("pause", "resume", "run"):
            raise NoSuchJobError(name=name)
        if change == "run":
            request_run(store, name, now_s=now_s)
        else:
            pause_job(store, name, is_paused=change == "pause", now_s=now_s)

    try:
        await asyncio.to_thread(do)
    except JobStateError as error:
        raise JobConflictError(name=name, reason=error.reason) from error
    return Redirect("/dashboard/jobs", status_code=303, headers=GUARDED)


async def _operators_store(request: Request[Any, Any, Any]) -> Store:
    """Return the store for an operator. Raises OperatorRequiredError, JobsOffError."""
    deps: ApiDeps = request.app.state.deps
    accounts: Accounts = request.app.state.accounts
    account_id = visitor_of(request).account_id
    if not await asyncio.to_thread(accounts.is_operator, account_id, deps.now_s()):
        raise OperatorRequiredError
    if deps.store is None or deps.jobs is None:
        raise JobsOffError
    return deps.store


def _row(store: Store, job: Job) -> _JobRow:
    last = next(iter(list_runs(store, job.job_id, at_most=1)), None)
    is_running = last is not None and last.ended_at_s is None
    definition = job.definition
    every = f"every {definition.every_s:,} s"
    return _JobRow(
        job=job,
        last=last,
        state="paused" if job.is_paused else "running" if is_running else "waiting",
        when=every if definition.cron is None else f"{definition.cron} ({definition.time_zone})",
    )
