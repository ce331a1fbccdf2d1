"""Metrics of one service: its recorders, and the collectors read at a scrape."""

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import chain as chained

from prometheus_client import REGISTRY, CollectorRegistry, Counter, Histogram
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from analysis.pipeline.stages import StageObserver
from assay.service.metrics.analysis_metrics import AnalysisMetrics
from assay.service.metrics.delivery_metrics import DeliveryMetrics
from assay.service.metrics.job_metrics import JobMetrics
from assay.service.metrics.store_metrics import CompactionMetrics
from assay.service.metrics.watch_metrics import WatchMetrics
from config.facts.chain import Chain
from core.rpc.exchange_report import ExchangeObserver, ExchangeReport

_BUCKETS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class NodeMetrics:
    """Counts the exchanges with the nodes of all chains."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._requests = Counter(
            "assay_node_requests",
            "Requests to nodes, retries included",
            ["chain", "endpoint", "method", "result"],
            registry=registry,
        )
        self._seconds = Histogram(
            "assay_node_exchange_seconds",
            "Time of one message to a node and its answer",
            ["chain", "endpoint"],
            buckets=_BUCKETS_S,
            registry=registry,
        )
        self._bytes = Counter(
            "assay_node_bytes",
            "Bytes of messages to and from nodes, without headers",
            ["chain", "endpoint", "direction"],
            registry=registry,
        )

    def observe(self, chain: str, report: ExchangeReport) -> None:
        """Count one exchange with a node of the chain with this slug."""
        for method, result in report.results:
            self._requests.labels(chain, report.service, method, result).inc()
        self._seconds.labels(chain, report.service).observe(report.seconds)
        self._bytes.labels(chain, report.service, "sent").inc(report.sent_bytes)
        self._bytes.labels(chain, report.service, "received").inc(report.received_bytes)


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
