"""Leases: what this process does that one process of a fleet does at a time."""

from collections.abc import Collection, Iterator, Mapping
from typing import Protocol

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector


class LeasesOfProcess(Protocol):
    """Which leases a process holds and which it waits for."""

    @property
    def tokens(self) -> Mapping[str, int]:
        """Return the tokens of those that are held, by name."""
        ...

    @property
    def wanted(self) -> Collection[str]:
        """Return the names of those that are held or waited for."""
        ...


class LeaseCollector(Collector):
    """Reads which leases are held and waited for at a scrape."""

    def __init__(self, leases: LeasesOfProcess) -> None:
        self._leases = leases

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics."""
        tokens = dict(self._leases.tokens)
        held = GaugeMetricFamily(
            "assay_lease_token",
            "Fencing token of a lease that this process holds, which rises with each take-over",
            labels=["lease"],
        )
        for name, token in sorted(tokens.items()):
            held.add_metric([name], token)
        yield held
        wanted = GaugeMetricFamily(
            "assay_lease_held",
            "1: this process holds the lease; 0: it waits for whoever does to go",
            labels=["lease"],
        )
        for name in sorted({*self._leases.wanted}):
            wanted.add_metric([name], name in tokens)
        yield wanted
