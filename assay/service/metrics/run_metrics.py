"""Analyses of a fleet: waiting and running tokens, and runs that changed processes.

Imported only for a store in PostgreSQL: it needs the extra `fleet`.
"""

from collections.abc import Iterator, Sequence

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from assay.service.fleet.leased_runs import LeasedRuns
from config.facts.chain import Chain
from core.errors import StoreError
from sql.fleet.analysis_runs import AnalysisRuns, RunCounts


class RunCollector(Collector):
    """Reads the runs of the whole fleet, and counts of this process, at a scrape."""

    def __init__(
        self, chains: Sequence[Chain], runs: AnalysisRuns, leased_runs: LeasedRuns
    ) -> None:
        self._chains = chains
        self._runs = runs
        self._leased_runs = leased_runs

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics; those of the fleet without values while the store cannot be read."""
        yield from self._of_the_fleet()
        yield from self._of_this_process()

    def _of_the_fleet(self) -> Iterator[Metric]:
        waiting = GaugeMetricFamily(
            "assay_runs_waiting",
            "Tokens that are requested and not being analysed yet, in the whole fleet",
            labels=["chain"],
        )
        wait = GaugeMetricFamily(
            "assay_runs_longest_wait_seconds",
            "Time the first of those tokens has waited; 0: none waits",
            labels=["chain"],
        )
        running = GaugeMetricFamily(
            "assay_runs_under_way",
            "Tokens that are being analysed, in the whole fleet",
            labels=["chain"],
        )
        counts = self._count()
        for chain in self._chains:
            found = counts.get(chain.id)
            if found is not None:
                waiting.add_metric([chain.slug], found.waiting)
                wait.add_metric([chain.slug], found.longest_wait_s)
                running.add_metric([chain.slug], found.running)
        yield from (waiting, wait, running)

    def _of_this_process(self) -> Iterator[Metric]:
        taken_over = CounterMetricFamily(
            "assay_runs_taken_over",
            "Analyses that this process took over from a lost one",
            labels=["chain"],
        )
        lost = CounterMetricFamily(
            "assay_runs_lost",
            "Analyses of this process that another one took over",
            labels=["chain"],
        )
        for chain in self._chains:
            taken_over.add_metric([chain.slug], self._leased_runs.taken_over[chain.id])
            lost.add_metric([chain.slug], self._leased_runs.lost[chain.id])
        yield from (taken_over, lost)

    def _count(self) -> dict[int, RunCounts]:
        try:
            found = self._runs.count([chain.id for chain in self._chains])
        except StoreError:
            return {}  # /ready reports it
        return {counts.chain_id: counts for counts in found}
