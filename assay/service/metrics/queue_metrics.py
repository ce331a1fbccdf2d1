"""Queue of tasks: how many are due, by kind and by how long they have been."""

from collections.abc import Callable, Iterator, Sequence
from typing import get_args

import msgspec
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from config.facts.chain import Chain
from core.errors import StoreError
from sql.engine.store import Store
from sql.tokens.task_queue import COUNTED_AT_MOST, TaskKind, count_due


class QueueCollector(Collector):
    """Counts the tasks that are due at a scrape, up to a bound for each kind."""

    def __init__(
        self, store: Store, chains: Sequence[Chain], *, now_s: Callable[[], float]
    ) -> None:
        self._store = store
        self._chains = chains
        self._now_s = now_s

    def collect(self) -> Iterator[Metric]:
        """Yield the metric; without values while the store cannot be read."""
        gauge = GaugeMetricFamily(
            "assay_due_tasks",
            "Tasks that are due, by how long at most; new: of a token that had none. "
            f"At most {2 * COUNTED_AT_MOST} of a kind are counted",
            labels=["chain", "kind", "overdue"],
        )
        now_s = int(self._now_s())
        for chain in self._chains:
            for kind in get_args(TaskKind):
                try:
                    counts = count_due(self._store, kind, chain_id=chain.id, now_s=now_s)
                except StoreError:
                    continue  # /ready reports it
                for overdue, tasks in msgspec.structs.asdict(counts).items():
                    gauge.add_metric([chain.slug, kind, overdue], tasks)
        yield gauge
