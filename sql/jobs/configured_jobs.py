"""Jobs of the settings: checked, with errors that name file, key and job, and stored."""

from collections.abc import Iterable
from pathlib import Path

from config.facts.chain import Chain
from config.facts.chain_names import index_by_name
from config.job_check import JobLimits, check_job
from config.job_definition import JobInvalidError, JobStateError
from config.load_settings import ENVIRONMENT, OVERLAY_NAME
from config.settings import JobSettings, Settings
from core.errors import ConfigError
from sql.engine.store import Store
from sql.jobs.job_table import write_configured_jobs

_VIEWS = Path(__file__).parents[1] / "analyst" / "views"


def job_limits(settings: JobSettings, chains: Iterable[Chain]) -> JobLimits:
    """Return the limits that `config.job_check.check_job` checks a definition against."""
    return JobLimits(
        max_tokens=settings.max_tokens,
        has_exports=bool(settings.export_folder),
        views=frozenset(path.stem for path in _VIEWS.glob("*.sql")),
        chains=index_by_name(chains),
    )


def store_configured_jobs(
    store: Store, settings: Settings, limits: JobLimits, *, now_s: float
) -> None:
    """Replace the stored jobs of the configuration by those of the settings. Raises ConfigError for
    the first mistake, StoreError."""
    check_configured_jobs(settings, limits)
    try:
        write_configured_jobs(store, settings.job, now_s=now_s)
    except JobStateError as error:
        raise _mistake(settings, error.name, "name", error.reason) from error


def check_configured_jobs(settings: Settings, limits: JobLimits) -> None:
    """Check the jobs of the settings. Raises ConfigError with the first mistake."""
    seen: set[str] = set()
    for job in settings.job:
        if job.name in seen:
            raise _mistake(settings, job.name, "name", "is the name of an earlier job too")
        seen.add(job.name)
        try:
            check_job(job, limits)
        except JobInvalidError as error:
            raise _mistake(settings, job.name, error.key, error.reason) from error


def _mistake(settings: Settings, name: str, key: str, reason: str) -> ConfigError:
    """Return an error about the last job of that name."""
    at = max(number for number, job in enumerate(settings.job) if job.name == name)
    source = str(settings.overlay / OVERLAY_NAME) if settings.overlay else ENVIRONMENT
    return ConfigError(
        source=source, key=f"job[{at}].{key}", reason=f"{reason} (in the job {name!r})"
    )
