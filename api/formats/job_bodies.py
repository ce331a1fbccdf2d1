"""Jobs and their runs in the API's answers."""

from collections.abc import Sequence
from typing import Literal

from api.formats.shape_building import Shape
from api.formats.times import iso_utc
from config.job_definition import JobAction
from sql.jobs.job_runs import JobRun, RunCause, RunOutcome
from sql.jobs.job_table import Job


class JobRunBody(Shape, frozen=True, kw_only=True):
    """One run of a job."""

    run_id: int
    """Number of the run."""
    cause: RunCause
    """schedule: it was due. request: an operator requested it."""
    due_at: str
    """Due time, ISO 8601 UTC."""
    started_at: str
    """Start, ISO 8601 UTC; later than due where the service was off, or busy."""
    ended_at: str | None
    """ISO 8601 UTC. null: it is not over."""
    outcome: RunOutcome | None
    """succeeded; partly_failed: some tokens got no answer; failed: nothing was done; cut: given up
    after restarts, or its job was changed. null: it is not over."""
    tokens: int
    """Tokens that were selected, each counted once."""
    done: int
    """Tokens with a new report."""
    young: int
    """Tokens left out, as their reports were young enough."""
    refused: int
    """Addresses that are no tokens."""
    failed: int
    """Tokens that could not be analysed."""
    rows_exported: int
    """Rows that an export wrote."""
    overlaps: int
    """Due times that passed during the run, and were left out."""
    error: str | None
    """Last error, as prose that can change. null: none."""


class JobBody(Shape, frozen=True, kw_only=True):
    """One job."""

    name: str
    """Its name."""
    action: JobAction
    """refresh, verify or export."""
    origin: Literal["configuration", "operator"]
    """configuration: declared in the settings, which alone can change or remove it. operator: made
    by the API or the command line."""
    state: Literal["waiting", "running", "paused"]
    """waiting: for its next due time. paused: nothing is started, whatever the schedule."""
    due_at: str | None
    """Next due time, ISO 8601 UTC. null: it is paused."""
    succeeded_at: str | None
    """End of the last complete run, ISO 8601 UTC. null: there was none."""
    every_s: int | None
    """Seconds from one run to the next. null: `cron` is the schedule."""
    cron: str | None
    """Minute, hour, day of month, month, day of week. null: `every_s` is the schedule."""
    time_zone: str
    """Time zone of `cron`."""
    tokens: tuple[str, ...]
    """Listed tokens, each as chain/address. Empty: `sql` finds them."""
    sql: str | None
    """Statement that finds the tokens. null: they are listed."""
    younger_than_s: int
    """A refresh leaves out tokens whose report is younger than this, in seconds."""
    views: tuple[str, ...]
    """Views that an export writes. Empty: all of them."""
    folder: str | None
    """Folder that an export writes to, below that of the settings. null: not an export."""


class JobList(Shape, frozen=True, kw_only=True):
    """All jobs."""

    jobs: tuple[JobBody, ...]
    """The jobs, by name."""


class JobDetail(Shape, frozen=True, kw_only=True):
    """One job with its last runs."""

    job: JobBody
    """The job."""
    runs: tuple[JobRunBody, ...]
    """Its last runs, the newest first."""


def job_body(job: Job, unfinished: JobRun | None) -> JobBody:
    """Build the body of a job. `unfinished`: its run that is not over; None: there is none."""
    definition = job.definition
    return JobBody(
        name=job.name,
        action=definition.action,
        origin="configuration" if job.is_configured else "operator",
        state="paused" if job.is_paused else "running" if unfinished else "waiting",
        due_at=None if job.is_paused else iso_utc(job.due_s),
        succeeded_at=None if job.succeeded_at_s is None else iso_utc(job.succeeded_at_s),
        every_s=definition.every_s,
        cron=definition.cron,
        time_zone=definition.time_zone,
        tokens=definition.tokens,
        sql=definition.sql,
        younger_than_s=definition.younger_than_s,
        views=definition.views,
        folder=definition.folder,
    )


def job_detail(job: Job, runs: Sequence[JobRun]) -> JobDetail:
    """Build the body of a job with runs, the newest first."""
    unfinished = next((run for run in runs if run.ended_at_s is None), None)
    return JobDetail(job=job_body(job, unfinished), runs=tuple(map(_run_body, runs)))


def _run_body(run: JobRun) -> JobRunBody:
    return JobRunBody(
        run_id=run.run_id,
        cause=run.cause,
        due_at=iso_utc(run.due_s),
        started_at=iso_utc(run.started_at_s),
        ended_at=None if run.ended_at_s is None else iso_utc(run.ended_at_s),
        outcome=run.outcome,
        tokens=run.tokens,
        done=run.done,
        young=run.young,
        refused=run.refused,
        failed=run.failed,
        rows_exported=run.rows_exported,
        overlaps=run.overlaps,
        error=run.error,
    )
