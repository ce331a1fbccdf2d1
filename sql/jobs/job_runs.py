"""Runs of jobs in the serving state, each with its tokens, so that an interrupted run continues.

A job has one run at a time. Its remaining tokens are in `job_token`; a token leaves it in the
transaction that counts it.
"""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Final, Literal

import msgspec

from config.job_definition import JobToken
from core.evm.primitives import Address
from sql.engine.columns import blob
from sql.engine.database import Transaction
from sql.engine.process_lock import hold_lock
from sql.engine.store import Readable, Store
from sql.engine.store_files import StoreFiles
from sql.jobs.job_table import Job, find_job

RunOutcome = Literal["succeeded", "partly_failed", "failed", "cut"]
"""succeeded: all was done. partly_failed: some tokens could not be analysed. failed: nothing was
done. cut: the processes that ran it ended repeatedly."""

RunCause = Literal["schedule", "request"]

TokenOutcome = Literal["done", "young", "refused", "failed"]
"""done: a new report. young: a recent report exists. refused: not a token. failed: no response of a
node, or none in time."""

RUNS_KEPT: Final = 50
"""Runs of one job that are kept; older ones are deleted."""

MOST_CUTS: Final = 5
"""Consecutive ends of processes without a finished token after which a run is given up."""

_AT_ONCE: Final = 2_000
"""Rows of one transaction, which holds the write lock."""

_MOST_ERROR_CHARS: Final = 1_000


class JobRun(msgspec.Struct, frozen=True, kw_only=True):
    """One run of a job. Times are Unix seconds."""

    run_id: int
    job_id: int
    cause: RunCause
    """schedule: it was due. request: it was requested."""
    due_s: int
    started_at_s: int
    ended_at_s: int | None
    """None: it has not ended."""
    outcome: RunOutcome | None
    """None: it has not ended."""
    is_held: bool
    """True: a process runs it, or ran it when it ended."""
    cuts: int
    """Number of such processes that ended since the last finished token."""
    is_selected: bool
    """True: its tokens are known."""
    tokens: int
    """Tokens selected, each counted once."""
    done: int
    young: int
    refused: int
    failed: int
    rows_exported: int
    """Rows that an export wrote."""
    overlaps: int
    """Due times during the run, which were skipped."""
    error: str | None
    """Last error. None: there was none."""


class TokenTimes(msgspec.Struct, frozen=True, kw_only=True):
    """Time of a token's last analysis, Unix seconds."""

    scanned_at_s: int | None
    """None: there is no report."""
    is_settled: bool | None
    """None: there is no report."""
    refused_at_s: int | None
    """None: it is not refused."""


def begin_run(store: Store, job: Job, *, now_s: float) -> JobRun | None:
    """Begin a run of a due job, and set its next due time; missed times count as one.

    None: it is no longer due, it is paused or removed, or its last run has not ended. Raises
    StoreError.
    """
    with store.transaction() as tx:
        current = find_job(tx, job.name)
        if current is None or current.is_paused or current.due_s > now_s:
            return None
        tx.execute(
            "jobs/set_due",
            job_id=current.job_id,
            due_s=current.next_due_s(now_s),
            is_requested=0,
        )
        unfinished = tx.fetch_one("jobs/find_unfinished", JobRun, job_id=current.job_id)
        if unfinished is not None:
            put_run(tx, msgspec.structs.replace(unfinished, overlaps=unfinished.overlaps + 1))
            return None
        (run,) = tx.fetch(
            "jobs/insert_run",
            JobRun,
            job_id=current.job_id,
            cause="request" if current.is_requested else "schedule",
            due_s=current.due_s,
            started_at_s=int(now_s),
        )
        return run


def take_up_run(store: Store, run_id: int, *, now_s: float) -> JobRun | None:
    """Take over a run whose process has ended. Only one process may take over runs at a time.

    None: it has ended, its job is removed, or it is given up now after too many cuts. Raises
    StoreError.
    """
    with store.transaction() as tx:
        run = tx.fetch_one("jobs/find_run", JobRun, run_id=run_id)
        if run is None or run.ended_at_s is not None:
            return None
        cuts = run.cuts + int(run.is_held)
        run = msgspec.structs.replace(run, is_held=True, cuts=cuts)
        if cuts <= MOST_CUTS:
            put_run(tx, run)
            return run
        error = f"the service ended {cuts} times during this run, without a token done in between"
        _finish(tx, run, "cut", error=error, now_s=int(now_s))
        return None


def release_run(store: Store, run_id: int) -> None:
    """Release an unfinished run for other processes. Raises StoreError."""
    _change(store, run_id, is_held=False)


def write_tokens(
    store: Store, run_id: int, tokens: Sequence[JobToken], *, failed: int, error: str | None
) -> None:
    """Write the tokens of a run, in place of those from an interrupted process.

    `failed`: number of selected tokens that cannot be analysed; `error`: the reason. Raises
    StoreError.
    """
    _delete_tokens(store, run_id)
    for chunk in _parts(tokens):
        with store.transaction() as tx:
            if _is_going_on(tx, run_id):
                rows = [(run_id, token.chain_id, blob(token.address)) for token in chunk]
                tx.execute_many("jobs/insert_token", rows)
    _change(
        store,
        run_id,
        is_selected=True,
        tokens=len(tokens) + failed,
        failed=failed,
        error=error,
    )


def list_tokens(store: Readable, run_id: int, *, chain_id: int, at_most: int) -> list[JobToken]:
    """Return remaining tokens of a run on one chain. Raises StoreError."""
    return store.fetch(
        "jobs/list_tokens", JobToken, run_id=run_id, chain_id=chain_id, at_most=at_most
    )


def count_tokens(
    store: Store,
    run_id: int,
    outcomes: Sequence[tuple[JobToken, TokenOutcome]],
    *,
    error: str | None,
) -> None:
    """Count finished tokens of a run. `error`: of the last failed one. Raises StoreError."""
    with store.transaction() as tx:
        run = tx.fetch_one("jobs/find_run", JobRun, run_id=run_id)
        if run is None:
            return
        rows = [(run_id, token.chain_id, blob(token.address)) for token, _ in outcomes]
        tx.execute_many("jobs/delete_token", rows)
        found = [outcome for _, outcome in outcomes]
        put_run(
            tx,
            msgspec.structs.replace(
                run,
                cuts=0,
                done=run.done + found.count("done"),
                young=run.young + found.count("young"),
                refused=run.refused + found.count("refused"),
                failed=run.failed + found.count("failed"),
                error=run.error if error is None else error[:_MOST_ERROR_CHARS],
            ),
        )


def finish_run(
    store: Store,
    run_id: int,
    *,
    now_s: float,
    error: str | None = None,
    rows_exported: int = 0,
) -> JobRun | None:
    """End a run and delete old ones. `error`: the reason if nothing could be done, else None.

    Returns the ended run. None: its job is removed, or it has ended already. Raises StoreError.
    """
    _delete_tokens(store, run_id)
    with store.transaction() as tx:
        run = tx.fetch_one("jobs/find_run", JobRun, run_id=run_id)
        if run is None or run.ended_at_s is not None:
            return None
        run = msgspec.structs.replace(run, rows_exported=rows_exported)
        return _finish(tx, run, _outcome(run, error), error=error, now_s=int(now_s))


def list_unfinished_runs(store: Readable) -> list[JobRun]:
    """Return the unfinished runs of jobs that are not paused. Raises StoreError."""
    return store.fetch("jobs/list_unfinished", JobRun)


def find_unfinished_run(store: Readable, job_id: int) -> JobRun | None:
    """Return the unfinished run of a job. None: there is none. Raises StoreError."""
    return store.fetch_one("jobs/find_unfinished", JobRun, job_id=job_id)


def list_runs(store: Readable, job_id: int, *, at_most: int) -> list[JobRun]:
    """Return the newest runs of a job, newest first. Raises StoreError."""
    return store.fetch("jobs/list_runs", JobRun, job_id=job_id, at_most=at_most)


def read_token_times(store: Readable, *, chain_id: int, address: Address) -> TokenTimes:
    """Return the time of a token's last analysis. Raises StoreError."""
    found = store.fetch_one(
        "jobs/find_token_state", TokenTimes, chain_id=chain_id, address=blob(address)
    )
    return found or TokenTimes(scanned_at_s=None, is_settled=None, refused_at_s=None)


def put_run(tx: Transaction, run: JobRun) -> None:
    """Write the mutable fields of a run."""
    tx.execute(
        "jobs/put_run",
        run_id=run.run_id,
        ended_at_s=run.ended_at_s,
        outcome=run.outcome,
        is_held=int(run.is_held),
        cuts=run.cuts,
        is_selected=int(run.is_selected),
        tokens=run.tokens,
        done=run.done,
        young=run.young,
        refused=run.refused,
        failed=run.failed,
        rows_exported=run.rows_exported,
        overlaps=run.overlaps,
        error=run.error,
    )


def _outcome(run: JobRun, error: str | None) -> RunOutcome:
    if error is not None:
        return "failed"
    if not run.failed:
        return "succeeded"
    return "failed" if run.failed == run.tokens else "partly_failed"


def _finish(
    tx: Transaction, run: JobRun, outcome: RunOutcome, *, error: str | None, now_s: int
) -> JobRun:
    ended = msgspec.structs.replace(
        run,
        ended_at_s=now_s,
        outcome=outcome,
        is_held=False,
        error=run.error if error is None else error[:_MOST_ERROR_CHARS],
    )
    put_run(tx, ended)
    if outcome == "succeeded":
        tx.execute("jobs/set_succeeded", job_id=run.job_id, succeeded_at_s=now_s)
    tx.execute("jobs/delete_old_runs", job_id=run.job_id, kept=RUNS_KEPT)
    return ended


def _change(store: Store, run_id: int, **changes: object) -> None:
    with store.transaction() as tx:
        run = tx.fetch_one("jobs/find_run", JobRun, run_id=run_id)
        if run is not None and run.ended_at_s is None:
            put_run(tx, msgspec.structs.replace(run, **changes))


def _is_going_on(tx: Transaction, run_id: int) -> bool:
    run = tx.fetch_one("jobs/find_run", JobRun, run_id=run_id)
    return run is not None and run.ended_at_s is None


def _delete_tokens(store: Store, run_id: int) -> None:
    deleted = _AT_ONCE
    while deleted == _AT_ONCE:
        with store.transaction() as tx:
            deleted = tx.execute("jobs/delete_tokens", run_id=run_id, at_most=_AT_ONCE)


def _parts(tokens: Sequence[JobToken]) -> Iterator[Sequence[JobToken]]:
    return (tokens[first : first + _AT_ONCE] for first in range(0, len(tokens), _AT_ONCE))


def hold_jobs_lock(files: StoreFiles) -> AbstractContextManager[None]:
    """Hold the lock for running the jobs of a store, until this process ends at the latest.

    Raises StoreError; if another process runs them, with that process's number.
    """
    return hold_lock(files.jobs_lock, store=files.prefix, doing="runs its jobs")
