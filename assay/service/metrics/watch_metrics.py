"""Watched tokens: what was seen of them, what was read for it, and how soon a report followed."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import get_args

from prometheus_client import CollectorRegistry, Histogram
from prometheus_client.core import CounterMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from assay.service.background.changed_tokens import NoticedChange
from assay.service.background.state_watch import StateWatch
from config.facts.chain import Chain
from core.report.notifications import ObservationKind
from indexer.head.follower_status import FollowStatus

_BUCKETS_S = (0.5, 1, 2.5, 5, 10, 15, 25, 50, 100, 250)


class WatchMetrics:
    """Times the analyses that observations lead to, on all chains."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._seconds = Histogram(
            "assay_watch_report_seconds",
            "Time from the block in which a change was seen to the report that accounts for it",
            ["chain"],
            buckets=_BUCKETS_S,
            registry=registry,
        )

    def begin(self, chain: str) -> None:
        """Show the counts of a chain from 0 on."""
        self._seconds.labels(chain)

    def observe(self, change: NoticedChange) -> None:
        """Time one change."""
        self._seconds.labels(change.chain).observe(change.seconds)


class WatchCollector(Collector):
    """Reads what followers and comparisons of state have counted at a scrape."""

    def __init__(
        self,
        chains: Sequence[Chain],
        statuses: Mapping[int, FollowStatus],
        comparisons: Mapping[int, StateWatch],
    ) -> None:
        """`statuses`, `comparisons`: by chain id."""
        self._chains = chains
        self._statuses = statuses
        self._comparisons = comparisons

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics."""
        seen = CounterMetricFamily(
            "assay_watch_observations",
            "Things seen on the chain about watched tokens",
            labels=["chain", "kind"],
        )
        words = CounterMetricFamily(
            "assay_watch_words_read", "Words read to compare watched tokens", labels=["chain"]
        )
        unanswered = CounterMetricFamily(
            "assay_watch_unanswered", "Such reads that no node answered", labels=["chain"]
        )
        for chain in self._chains:
            if chain.id not in self._comparisons:
                continue
            totals = self._comparisons[chain.id].totals
            counts = Counter(totals.observations)
            if chain.id in self._statuses:
                counts.update(self._statuses[chain.id].totals.watched.observations)
            for kind in get_args(ObservationKind):
                seen.add_metric([chain.slug, kind], counts[kind])
            words.add_metric([chain.slug], totals.words_read)
            unanswered.add_metric([chain.slug], totals.unanswered)
        yield from (seen, words, unanswered)
