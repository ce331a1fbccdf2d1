"""Requests to nodes: how many by method and result, how long messages take, how many bytes."""

from prometheus_client import CollectorRegistry, Counter, Histogram

from core.rpc.exchange_report import ExchangeReport

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
