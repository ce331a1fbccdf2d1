"""Delivery of watches' messages: attempts, watches by state, and how long what waits has waited."""

from collections.abc import Callable, Iterator
from typing import get_args

import msgspec
from prometheus_client import CollectorRegistry, Counter
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from api.watches.delivery.delivery_worker import DeliveryResult
from core.errors import StoreError
from sql.engine.store import Store
from sql.watches.watch_messages import find_first_due_s, find_oldest_undelivered_s
from sql.watches.watches import count_states


class DeliveryMetrics:
    """Attempts to deliver messages, by result."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._attempts = Counter(
            "assay_watch_deliveries",
            "Attempts to deliver a message to a webhook; given_up: failed for a day, or for good",
            labelnames=["result"],
            registry=registry,
        )
        for result in get_args(DeliveryResult):
            self._attempts.labels(result)

    def observe(self, result: DeliveryResult) -> None:
        """Count an attempt."""
        self._attempts.labels(result).inc()


class DeliveryCollector(Collector):
    """Reads from the store, at a scrape, what watches there are and what waits."""

    def __init__(self, store: Store, *, now_s: Callable[[], float]) -> None:
        self._store = store
        self._now_s = now_s

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics; none while the store cannot be read."""
        now_s = self._now_s()
        try:
            states = count_states(self._store)
            oldest_s, due_s = find_oldest_undelivered_s(self._store), find_first_due_s(self._store)
        except StoreError:
            return  # /ready reports it
        watches = GaugeMetricFamily(
            "assay_watches",
            "Watches; failing: nothing is sent any more until they are resumed",
            labels=["state"],
        )
        for state, count in msgspec.structs.asdict(states).items():
            watches.add_metric([state], count)
        yield watches
        yield GaugeMetricFamily(
            "assay_watch_oldest_undelivered_seconds",
            "Age of the oldest message that a webhook has not taken; 0: there is none",
            value=0.0 if oldest_s is None else max(0.0, now_s - oldest_s),
        )
        yield GaugeMetricFamily(
            "assay_watch_delivery_delay_seconds",
            "How long the longest overdue attempt has been due; 0: none is",
            value=0.0 if due_s is None else max(0.0, now_s - due_s),
        )
