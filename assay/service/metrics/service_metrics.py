"""All metrics of one service: what its parts report to, and what is read at a scrape."""

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import chain as chained

from prometheus_client import REGISTRY, CollectorRegistry
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from analysis.pipeline.stages import StageObserver
from assay.service.metrics.analysis_metrics import AnalysisMetrics
from assay.service.metrics.delivery_metrics import DeliveryMetrics
from assay.service.metrics.job_metrics import JobMetrics
from assay.service.metrics.node_metrics import NodeMetrics
from assay.service.metrics.store_metrics import CompactionMetrics
from assay.service.metrics.watch_metrics import WatchMetrics
from config.chains import Chain
from core.rpc.exchange_report import ExchangeObserver


class ServiceMetrics(Collector):
    """Metrics of one service, and of its process."""

    def __init__(self, chains: Sequence[Chain]) -> None:
        self._registry = CollectorRegistry()
        self._nodes = NodeMetrics(self._registry)
        self.analyses = AnalysisMetrics(self._registry)
        self.jobs = JobMetrics(self._registry)
        self.deliveries = DeliveryMetrics(self._registry)
        self.watches = WatchMetrics(self._registry)
        self.compaction = CompactionMetrics(self._registry, chains)

    def node_observer(self, chain: str) -> ExchangeObserver:
        """Return what a client of the chain with this slug reports to."""
        return partial(self._nodes.observe, chain)

    def stage_observer(self, chain: str) -> StageObserver:
        """Return what analyses on the chain with this slug report to."""
        return partial(self.analyses.observe_stage, chain)

    def read_from(self, *collectors: Collector) -> None:
        """Have these read at every scrape."""
        for collector in collectors:
            self._registry.register(collector)

    def collect(self) -> Iterable[Metric]:
        """Return all metrics. Blocks: some are read from the store."""
        return chained(REGISTRY.collect(), self._registry.collect())
