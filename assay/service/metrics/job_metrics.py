"""Jobs: how many runs ended how, how old the last success is, and how old it may be."""

from collections.abc import Callable, Iterator
from typing import get_args

from prometheus_client import CollectorRegistry, Counter
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from assay.service.background.job_runner import RunEnd
from config.job_schedule import schedule_of
from core.errors import StoreError
from sql.engine.store import Store
from sql.jobs.job_runs import RunOutcome
from sql.jobs.job_table import list_jobs


class JobMetrics:
    """Counts the runs of all jobs."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._runs = Counter(
            "assay_job_runs",
            "Runs of jobs that ended since the service started",
            ["job_name", "outcome"],
            registry=registry,
        )

    def begin(self, job: str) -> None:
        """Show the counts of a job from 0 on: a rise of what was not there before is none."""
        for outcome in get_args(RunOutcome):
            self._runs.labels(job, outcome)

    def observe(self, end: RunEnd) -> None:
        """Count one run that has ended."""
        self._runs.labels(end.job, end.outcome).inc()


class JobCollector(Collector):
    """Reads the jobs that are not paused at a scrape."""

    def __init__(self, store: Store, counts: JobMetrics, *, now_s: Callable[[], float]) -> None:
        self._store = store
        self._counts = counts
        self._now_s = now_s

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics; without values while the store cannot be read."""
        age = GaugeMetricFamily(
            "assay_job_seconds_since_success",
            "Seconds since a run of the job succeeded, or since it was made or last rescheduled",
            labels=["job_name"],
        )
        period = GaugeMetricFamily(
            "assay_job_period_seconds",
            "Longest time between two of the next due times of the job",
            labels=["job_name"],
        )
        now_s = self._now_s()
        try:
            jobs = list_jobs(self._store)
        except StoreError:
            jobs = []  # /ready reports it
        for job in jobs:
            self._counts.begin(job.name)
            if job.is_paused:
                continue
            since_s = max(job.created_at_s, job.succeeded_at_s or 0)
            age.add_metric([job.name], max(0.0, now_s - since_s))
            schedule = schedule_of(job.definition, anchor_s=job.created_at_s)
            pause_s = schedule.longest_pause_s(now_s)
            if pause_s is not None:
                period.add_metric([job.name], pause_s)
        yield age
        yield period
