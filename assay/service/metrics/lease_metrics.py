"""Leases of work that one process of a fleet does at a time."""

from collections.abc import Collection, Iterator, Mapping
from typing import Protocol

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector


class LeasesOfProcess(Protocol):
    """Leases that a process holds or waits for."""

    @property
    def tokens(self) -> Mapping[str, int]:
        """Return the fencing tokens of held leases, by name."""
        ...

    @property
    def wanted(self) -> Collection[str]:
        """Return the names of leases that are held or awaited."""
        ...


class LeaseCollector(Collector):
    """Reads the held and awaited leases at a scrape."""

    def __init__(self, leases: LeasesOfProcess) -> None:
        self._leases = leases

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics."""
        tokens = dict(self._leases.tokens)
        fencing_tokens = GaugeMetricFamily(
            "assay_lease_token",
            "Fencing token of a lease that this process holds, which rises with each take-over",
            labels=["lease"],
        )
        for name, token in sorted(tokens.items()):
            fencing_tokens.add_metric([name], token)
        yield fencing_tokens
        wanted = GaugeMetricFamily(
            "assay_lease_held",
            "1: this process holds the lease; 0: it waits for the lease",
            labels=["lease"],
        )
        for name in sorted({*self._leases.wanted}):
            wanted.add_metric([name], name in tokens)
        yield wanted
