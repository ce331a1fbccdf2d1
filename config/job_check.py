"""Check of jobs: what their types cannot express, and what a deployment allows."""

import re
from collections.abc import Mapping
from typing import Final

import msgspec

from config.facts.chain import Chain
from config.job_definition import JobDefinition, JobInvalidError, parse_tokens

_FOLDER: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,63}")


class JobLimits(msgspec.Struct, frozen=True, kw_only=True):
    """Limits of a deployment for its jobs."""

    max_tokens: int
    """Most tokens of one run."""
    has_exports: bool
    """True if there is a folder for exports."""
    views: frozenset[str]
    """Views that can be exported."""
    chains: Mapping[str, Chain]
    """Supported chains, by each of their names."""


def check_job(job: JobDefinition, limits: JobLimits) -> None:
    """Check what the types cannot express. Raises JobInvalidError with the first mistake.

    SQL is checked by the process that runs it.
    """
    _check_schedule(job)
    if job.action == "export":
        _check_export(job, limits)
        return
    _refuse_others(job, ("views", "folder"), of="exports")
    if job.action == "verify":
        _refuse_others(job, ("younger_than_s",), of="refreshes")
    if (job.sql is None) == (not job.tokens):
        raise JobInvalidError(key="tokens", reason="either tokens or sql is needed")
    if len(job.tokens) > limits.max_tokens:
        reason = f"{len(job.tokens)} tokens exceed jobs.max_tokens, {limits.max_tokens}"
        raise JobInvalidError(key="tokens", reason=reason)
    parse_tokens(job.tokens, limits.chains)


def _check_schedule(job: JobDefinition) -> None:
    # APScheduler takes a twentieth of a second to load.
    from config.job_schedule import schedule_of  # noqa: PLC0415

    if (job.every_s is None) == (job.cron is None):
        raise JobInvalidError(key="every_s", reason="either every_s or cron is needed")
    if job.cron is None and job.time_zone != "UTC":
        raise JobInvalidError(key="time_zone", reason="needs cron, which is missing")
    if schedule_of(job, anchor_s=0).next_due_s(0) is None:
        raise JobInvalidError(key="cron", reason="matches no date")


def _check_export(job: JobDefinition, limits: JobLimits) -> None:
    _refuse_others(job, ("tokens", "sql", "younger_than_s"), of="analyses")
    if not limits.has_exports:
        raise JobInvalidError(key="action", reason="exports need the setting jobs.export_folder")
    if job.folder is None:
        raise JobInvalidError(key="folder", reason="is missing")
    if not _FOLDER.fullmatch(job.folder) or ".." in job.folder:
        reason = "expects the name of a folder: letters, digits, `-`, `_` and single dots"
        raise JobInvalidError(key="folder", reason=reason)
    for view in job.views:
        if view not in limits.views:
            reason = f"unknown view {view!r}; known are {', '.join(sorted(limits.views))}"
            raise JobInvalidError(key="views", reason=reason)


def _refuse_others(job: JobDefinition, keys: tuple[str, ...], *, of: str) -> None:
    """Refuse fields that another action would read: they are mistakes, or a wrong action."""
    for field in msgspec.structs.fields(JobDefinition):
        if field.name in keys and getattr(job, field.name) != field.default:
            raise JobInvalidError(key=field.name, reason=f"is for {of} only, not for {job.action}")
