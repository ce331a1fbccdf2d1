"""Analyses: how many ended how, how long they and their stages took, where static results were."""

from collections.abc import Iterator
from typing import get_args

from prometheus_client import CollectorRegistry, Histogram
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from analysis.pipeline.analyser import Analyser, AnalysisEnd, AnalysisOutcome
from analysis.static.result_cache import StaticResultCache

_BUCKETS_S = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)


class AnalysisMetrics:
    """Counts and times the analyses of all chains."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._seconds = Histogram(
            "assay_analysis_seconds",
            "Time of an analysis, from its first read to its end",
            ["chain", "outcome"],
            buckets=_BUCKETS_S,
            registry=registry,
        )
        self._stage_seconds = Histogram(
            "assay_analysis_stage_seconds",
            "Time of one stage of an analysis; stages run side by side",
            ["chain", "stage"],
            buckets=_BUCKETS_S,
            registry=registry,
        )

    def begin(self, chain: str) -> None:
        """Show the counts of a chain from 0 on: a rise of what was not there before is none."""
        for outcome in get_args(AnalysisOutcome):
            self._seconds.labels(chain, outcome)

    def observe(self, end: AnalysisEnd) -> None:
        """Count one analysis that has ended."""
        self._seconds.labels(end.chain, end.outcome).observe(end.seconds)

    def observe_stage(self, chain: str, stage: str, seconds: float) -> None:
        """Time one stage of an analysis on the chain with this slug."""
        self._stage_seconds.labels(chain, stage).observe(seconds)


class AnalyserCollector(Collector):
    """State of the analyser and of the cache of static results at a scrape."""

    def __init__(self, analyser: Analyser, static_results: StaticResultCache) -> None:
        self._analyser = analyser
        self._static_results = static_results

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics."""
        yield GaugeMetricFamily(
            "assay_analyses_unfinished",
            "Analyses that wait or are under way",
            value=self._analyser.unfinished,
        )
        lookups = CounterMetricFamily(
            "assay_static_lookups",
            "Codes whose static analysis was in memory, was stored, or had to be made",
            labels=["result"],
        )
        for result in ("memory", "stored", "analysed"):
            lookups.add_metric([result], self._static_results.lookups[result])
        yield lookups
