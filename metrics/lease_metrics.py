"""Leases: what this process does that one process of a fleet does at a time."""

from collections.abc import Iterator, Mapping

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector


class LeaseCollector(Collector):
    """Reads which leases are held at a scrape."""

    def __init__(self, tokens: Mapping[str, int]) -> None:
        """`tokens`: of the leases that are held, by name; kept up to date by somebody else."""
        self._tokens = tokens

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics."""
        held = GaugeMetricFamily(
            "assay_lease_token",
            "Fencing token of a lease that this process holds, which rises with each take-over",
            labels=["lease"],
        )
        for name, token in sorted(self._tokens.items()):
            held.add_metric([name], token)
        yield held
