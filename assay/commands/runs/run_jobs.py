"""Work of `assay jobs`."""

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager

import click
import msgspec
from rich.table import Table

from api.formats.job_bodies import job_body, job_detail
from api.formats.times import iso_utc
from assay.commands.runs.tables import OUT, cell_text, make_console
from config.facts.load_chains import load_chains
from config.job_check import check_job
from config.job_definition import JobDefinition, JobInvalidError, JobStateError
from config.load_settings import load_settings
from core.process.terminal import printable
from sql.engine.store import Store
from sql.jobs.configured_jobs import job_limits
from sql.jobs.job_runs import find_unfinished_run, list_runs
from sql.jobs.job_table import Job, add_job, find_job, list_jobs, pause_job, remove_job, request_run

_RUNS_SHOWN = 20
_LEAST_WIDTH = 120
_COLUMNS = ("job", "does", "when", "of", "state", "due", "last run", "tokens", "failed", "error")


def print_jobs() -> None:
    """Print one row per job. Raises ConfigError, StoreError."""
    table = Table(*_COLUMNS)
    with _store() as store:
        for job in list_jobs(store):
            table.add_row(*map(cell_text, _cells(store, job)))
    make_console(max(OUT.width, _LEAST_WIDTH)).print(table)


def print_job(name: str) -> None:
    """Print a job in the format of the API. Raises BadParameter, ConfigError, StoreError."""
    with _store() as store:
        job = _existing(store, name)
        _print(job_body(job, find_unfinished_run(store, job.job_id)))


def print_runs(name: str) -> None:
    """Print the last runs of a job, newest first. Raises as `print_job`."""
    with _store() as store:
        job = _existing(store, name)
        for run in job_detail(job, list_runs(store, job.job_id, at_most=_RUNS_SHOWN)).runs:
            _print(run)


def make_job(fields: Mapping[str, object]) -> None:
    """Create a job from the fields of a JobDefinition. Raises as `print_job`."""
    settings = load_settings(os.environ)
    limits = job_limits(settings.jobs, load_chains(settings.overlay))
    try:
        definition = msgspec.convert(fields, JobDefinition)
        check_job(definition, limits)
    except (msgspec.ValidationError, JobInvalidError) as error:
        raise click.UsageError(str(error)) from error
    with _store() as store, _usage_errors():
        job = add_job(store, definition, now_s=time.time())
    click.echo(f"{job.name} is due at {iso_utc(job.due_s)}")


def set_paused(name: str, *, is_paused: bool) -> None:
    """Pause or resume a job. Raises as `print_job`."""
    with _store() as store, _usage_errors():
        job = pause_job(store, name, is_paused=is_paused, now_s=time.time())
    click.echo(
        f"{job.name} is paused" if is_paused else f"{job.name} is due at {iso_utc(job.due_s)}"
    )


def request_run_now(name: str) -> None:
    """Request a run of a job now. Raises as `print_job`."""
    with _store() as store, _usage_errors():
        request_run(store, name, now_s=time.time())
    click.echo(f"{name} begins within seconds where the service runs, else with its start")


def drop_job(name: str) -> None:
    """Remove a job. Raises as `print_job`."""
    with _store() as store, _usage_errors():
        remove_job(store, name)
    click.echo(f"removed {name}")


@contextmanager
def _store() -> Iterator[Store]:
    settings = load_settings(os.environ)
    with closing(Store.open(settings.store)) as store:
        yield store


@contextmanager
def _usage_errors() -> Iterator[None]:
    """Turn errors of a job's state into bad usage."""
    try:
        yield
    except JobStateError as error:
        raise click.BadParameter(error.reason, param_hint="NAME") from error


def _existing(store: Store, name: str) -> Job:
    job = find_job(store, name)
    if job is None:
        message = "there is no such job"
        raise click.BadParameter(message, param_hint="NAME")
    return job


def _cells(store: Store, job: Job) -> Iterator[object]:
    last = next(iter(list_runs(store, job.job_id, at_most=1)), None)
    body = job_body(job, find_unfinished_run(store, job.job_id))
    when = f"every {body.every_s} s" if body.cron is None else f"{body.cron} {body.time_zone}"
    yield from (body.name, body.action, when, body.origin, body.state, body.due_at)
    if last is None:
        yield from (None,) * 4
        return
    yield f"{iso_utc(last.started_at_s)} {last.outcome or 'running'}"
    yield from (last.tokens, last.failed, last.error)


def _print(body: msgspec.Struct) -> None:
    click.echo(printable(msgspec.json.encode(body).decode()))
