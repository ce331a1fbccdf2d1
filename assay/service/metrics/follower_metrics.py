"""Following: heads, tips, lag, and what each follower has stored and taken back."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from config.facts.chain import Chain
from indexer.head.follower_status import FollowStatus

_GAUGES: tuple[tuple[str, str, Callable[[FollowStatus], float | None]], ...] = (
    (
        "head_block",
        "Number of the node's newest block",
        lambda status: None if status.head is None else status.head.number,
    ),
    (
        "head_timestamp_seconds",
        "Unix time of the node's newest block",
        lambda status: None if status.head is None else status.head.time_s,
    ),
    (
        "tip_block",
        "Number of the newest block stored",
        lambda status: None if status.tip is None else status.tip.number,
    ),
    (
        "tip_timestamp_seconds",
        "Unix time of the newest block stored",
        lambda status: None if status.tip is None else status.tip.time_s,
    ),
    ("lag_blocks", "Blocks between tip and head", lambda status: status.lag_blocks),
    (
        "progress_timestamp_seconds",
        "Unix time at which the tip was last level with the head, or came closer to it",
        lambda status: status.updated_at_s or None,
    ),
    ("failing", "1 while following is paused by an error", lambda status: bool(status.last_error)),
)
"""Name after `assay_follower_`, help, value. None: there is none yet."""

_COUNTERS: tuple[tuple[str, str, Callable[[FollowStatus], int]], ...] = (
    ("blocks", "Blocks stored", lambda status: status.totals.blocks),
    ("logs", "Logs read of the blocks stored", lambda status: status.totals.written.logs),
    ("reorgs", "Reorgs followed", lambda status: status.totals.reorgs),
    (
        "unread_transactions",
        "Transactions that concern a watched token and were too many to look into",
        lambda status: status.totals.watched.unread_transactions,
    ),
    (
        "missing_reads",
        "Reads of blocks for watched tokens that no node answered",
        lambda status: status.totals.watched.missing_reads,
    ),
    ("unwound_blocks", "Blocks taken back", lambda status: status.totals.unwound_blocks),
    (
        "reread_blocks",
        "Blocks whose logs were read a second time",
        lambda status: status.totals.second_reads.blocks,
    ),
    (
        "late_log_blocks",
        "Blocks that had more logs at the second read, and were stored again",
        lambda status: status.totals.second_reads.late_blocks,
    ),
    (
        "late_logs",
        "Logs that the first read of their block lacked",
        lambda status: status.totals.second_reads.late_logs,
    ),
    (
        "unconfirmed_blocks",
        "Blocks that no second read confirmed",
        lambda status: status.totals.second_reads.unconfirmed_blocks,
    ),
)

_TABLES = ("pools", "launches", "transfers", "trades", "undecoded")


class FollowerCollector(Collector):
    """Reads the statuses of all followers at a scrape."""

    def __init__(self, chains: Sequence[Chain], statuses: Mapping[int, FollowStatus]) -> None:
        """`statuses`: by chain id; the follower keeps them up to date."""
        self._chains = chains
        self._statuses = statuses

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics."""
        known = [
            (chain.slug, self._statuses[chain.id])
            for chain in self._chains
            if chain.id in self._statuses
        ]
        for name, help_text, read in _GAUGES:
            gauge = GaugeMetricFamily(f"assay_follower_{name}", help_text, labels=["chain"])
            for slug, status in known:
                value = read(status)
                if value is not None:
                    gauge.add_metric([slug], value)
            yield gauge
        for name, help_text, count in _COUNTERS:
            counter = CounterMetricFamily(f"assay_follower_{name}", help_text, labels=["chain"])
            for slug, status in known:
                counter.add_metric([slug], count(status))
            yield counter
        yield _rows(known)


def _rows(known: Iterable[tuple[str, FollowStatus]]) -> Metric:
    rows = CounterMetricFamily(
        "assay_follower_rows", "Rows stored of the blocks stored", labels=["chain", "table"]
    )
    for slug, status in known:
        for table in _TABLES:
            rows.add_metric([slug, table], getattr(status.totals.written, table))
    return rows
