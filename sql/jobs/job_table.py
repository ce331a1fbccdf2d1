"""Jobs in the serving state: definition, due time and pause.

A job comes from the configuration, which alone can change or remove it, or from the API and the
command line. Pauses survive changes of the configuration.
"""

from collections.abc import Sequence

import msgspec

from config.job_definition import JobDefinition, JobStateError
from config.job_schedule import schedule_of
from sql.engine.database import Transaction
from sql.engine.store import Readable, Store

MOST_JOBS = 1_000


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """One job."""

    job_id: int
    definition: JobDefinition
    is_configured: bool
    """True: the configuration defines it, and only the configuration can remove it."""
    is_paused: bool
    created_at_s: int
    """Start of its intervals, Unix seconds."""
    due_s: int
    """Time of its next run, Unix seconds; in the past while it is paused or waits."""
    is_requested: bool
    """True: that run was requested, and does not wait for the schedule."""
    succeeded_at_s: int | None
    """End of the last successful run. None: there was none."""

    @property
    def name(self) -> str:
        """Return the unique name."""
        return self.definition.name

    def next_due_s(self, after_s: float) -> int:
        """Return its first scheduled time after a time, Unix seconds."""
        due_s = schedule_of(self.definition, anchor_s=self.created_at_s).next_due_s(after_s)
        assert due_s is not None, self.name  # noqa: S101 - a job that is never due is refused
        return due_s


class _JobRow(msgspec.Struct, frozen=True, kw_only=True):
    job_id: int
    name: str
    is_configured: bool
    is_paused: bool
    definition: str
    """JSON."""
    created_at_s: int
    due_s: int
    is_requested: bool
    succeeded_at_s: int | None


class _Unfinished(msgspec.Struct, frozen=True, kw_only=True):
    run_id: int


def list_jobs(store: Readable) -> list[Job]:
    """Return all jobs by name. Raises StoreError."""
    return [_job(row) for row in store.fetch("jobs/list_jobs", _JobRow)]


def find_job(store: Readable, name: str) -> Job | None:
    """Return the job with a name. None: there is none. Raises StoreError."""
    row = store.fetch_one("jobs/find_job", _JobRow, name=name)
    return None if row is None else _job(row)


def list_due_jobs(store: Readable, *, now_s: float, at_most: int) -> list[Job]:
    """Return due jobs that are not paused, the longest overdue first. Raises StoreError."""
    rows = store.fetch("jobs/list_due", _JobRow, now_s=int(now_s), at_most=at_most)
    return [_job(row) for row in rows]


def add_job(store: Store, definition: JobDefinition, *, now_s: float) -> Job:
    """Add a job. Raises JobStateError if the name is taken or there are too many, StoreError."""
    with store.transaction() as tx:
        jobs = list_jobs(tx)
        if any(job.name == definition.name for job in jobs):
            raise JobStateError(name=definition.name, reason="there is one of that name already")
        if len(jobs) >= MOST_JOBS:
            raise JobStateError(name=definition.name, reason=f"there are {MOST_JOBS} jobs already")
        return _insert(tx, definition, now_s=int(now_s), is_configured=False)


def pause_job(store: Store, name: str, *, is_paused: bool, now_s: float) -> Job:
    """Pause or resume a job; runs missed in the meantime are not made up for.

    A running run stops after its current tokens, and continues once the job is resumed. Raises
    JobStateError if there is no such job, StoreError.
    """
    with store.transaction() as tx:
        job = _existing(tx, name)
        if job.is_paused != is_paused:
            due_s = job.due_s if is_paused else job.next_due_s(now_s)
            tx.execute("jobs/set_paused", job_id=job.job_id, is_paused=int(is_paused), due_s=due_s)
        return _existing(tx, name)


def request_run(store: Store, name: str, *, now_s: float) -> Job:
    """Request an immediate run of a job.

    Raises JobStateError if there is no such job, if it is paused or running; StoreError.
    """
    with store.transaction() as tx:
        job = _existing(tx, name)
        if job.is_paused:
            raise JobStateError(name=name, reason="is paused; resume it first")
        if tx.fetch_one("jobs/find_unfinished_id", _Unfinished, job_id=job.job_id) is not None:
            raise JobStateError(name=name, reason="is running already")
        due_s = min(job.due_s, int(now_s))
        tx.execute("jobs/set_due", job_id=job.job_id, due_s=due_s, is_requested=1)
        return _existing(tx, name)


def remove_job(store: Store, name: str) -> None:
    """Remove a job with its runs; a running one ends.

    Raises JobStateError if there is no such job or the configuration defines it, StoreError.
    """
    with store.transaction() as tx:
        job = _existing(tx, name)
        if job.is_configured:
            raise JobStateError(name=name, reason="is of the configuration; remove it there")
        tx.execute("jobs/delete_job", job_id=job.job_id)


def write_configured_jobs(
    store: Store, definitions: Sequence[JobDefinition], *, now_s: float
) -> None:
    """Add, change and remove jobs of the configuration according to these definitions.

    An unchanged job keeps its next due time, and all keep their pauses. Raises JobStateError if
    another job has the same name, StoreError.
    """
    with store.transaction() as tx:
        known = {job.name: job for job in list_jobs(tx)}
        wanted = {definition.name for definition in definitions}
        for name, job in known.items():
            if job.is_configured and name not in wanted:
                tx.execute("jobs/delete_job", job_id=job.job_id)
        for definition in definitions:
            job_before = known.get(definition.name)
            if job_before is None:
                _insert(tx, definition, now_s=int(now_s), is_configured=True)
            elif not job_before.is_configured:
                reason = "was made by the API or the command line; rename one of the two"
                raise JobStateError(name=definition.name, reason=reason)
            elif job_before.definition != definition:
                _redefine(tx, job_before, definition, now_s=int(now_s))


def _redefine(tx: Transaction, job: Job, definition: JobDefinition, *, now_s: int) -> None:
    """Change a job and end its running run.

    The next due time changes only with the schedule.
    """
    tx.execute("jobs/end_unfinished", job_id=job.job_id, ended_at_s=now_s)
    is_rescheduled = _schedule(job.definition) != _schedule(definition)
    created_at_s = now_s if is_rescheduled else job.created_at_s
    tx.execute(
        "jobs/redefine_job",
        job_id=job.job_id,
        definition=_encoded(definition),
        created_at_s=created_at_s,
        due_s=_first_due_s(definition, now_s) if is_rescheduled else job.due_s,
    )


def _schedule(definition: JobDefinition) -> tuple[object, ...]:
    return definition.every_s, definition.cron, definition.time_zone


def _insert(tx: Transaction, definition: JobDefinition, *, now_s: int, is_configured: bool) -> Job:
    (row,) = tx.fetch(
        "jobs/insert_job",
        _JobRow,
        name=definition.name,
        is_configured=int(is_configured),
        is_paused=0,
        definition=_encoded(definition),
        created_at_s=now_s,
        due_s=_first_due_s(definition, now_s),
    )
    return _job(row)


def _first_due_s(definition: JobDefinition, now_s: int) -> int:
    due_s = schedule_of(definition, anchor_s=now_s).next_due_s(now_s)
    assert due_s is not None, definition.name  # noqa: S101 - a job that is never due is refused
    return due_s


def _existing(tx: Transaction, name: str) -> Job:
    job = find_job(tx, name)
    if job is None:
        raise JobStateError(name=name, reason="there is no such job")
    return job


def _encoded(definition: JobDefinition) -> str:
    return msgspec.json.encode(definition).decode()


def _job(row: _JobRow) -> Job:
    return Job(
        job_id=row.job_id,
        definition=msgspec.json.decode(row.definition, type=JobDefinition),
        is_configured=row.is_configured,
        is_paused=row.is_paused,
        created_at_s=row.created_at_s,
        due_s=row.due_s,
        is_requested=row.is_requested,
        succeeded_at_s=row.succeeded_at_s,
    )
