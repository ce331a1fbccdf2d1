"""Store: bytes of its files, room on its disk, what compaction did, size and growth of the lake."""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from config.facts.chain import Chain
from indexer.history.compaction_job import CompactionRound
from sql.engine.store_files import StoreFiles
from sql.lake.lake_size import LakeSize

_BUCKETS_S = (1, 2.5, 5, 10, 30, 60, 120, 300, 600)


class StoreFilesCollector(Collector):
    """Measures files and disk at a scrape."""

    def __init__(self, files: StoreFiles, ledger: Path) -> None:
        self._folder = files.folder
        self._files = {
            "serving": files.serving,
            "serving_wal": files.serving.with_name(f"{files.serving.name}-wal"),
            "lake_catalogue": files.lake,
            "ledger": ledger,
        }

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics; a file that is not there has none."""
        size = GaugeMetricFamily("assay_store_bytes", "Bytes of a file", labels=["file"])
        for name, path in self._files.items():
            with suppress(OSError):
                size.add_metric([name], path.stat().st_size)
        yield size
        free = GaugeMetricFamily(
            "assay_store_disk_free_bytes", "Room on the disk of the store for its owner"
        )
        with suppress(OSError):
            free.add_metric([], shutil.disk_usage(self._folder).free)
        yield free


class CompactionMetrics:
    """Counts the rounds of compaction, and what the last one has left."""

    def __init__(self, registry: CollectorRegistry, chains: Sequence[Chain]) -> None:
        self._slugs = {chain.id: chain.slug for chain in chains}
        self._seconds = Histogram(
            "assay_compaction_seconds",
            "Time of a round of compaction",
            ["result"],
            buckets=_BUCKETS_S,
            registry=registry,
        )
        self._rows = Counter("assay_compaction_rows", "Rows moved to the lake", registry=registry)
        self._done_at_s = Gauge(
            "assay_compaction_success_timestamp_seconds",
            "Unix time at which a round last ended without an error",
            registry=registry,
        )
        self._lake_bytes = Gauge(
            "assay_lake_bytes",
            "Bytes of the lake's files, as of the last round of compaction",
            ["chain", "table"],
            registry=registry,
        )
        self._lake_rows = Gauge(
            "assay_lake_rows",
            "Rows of the lake's files, as of the last round of compaction",
            ["chain", "table"],
            registry=registry,
        )
        self._lake_growth = Gauge(
            "assay_lake_bytes_per_day",
            "Bytes by which following made the lake grow within a day",
            ["chain"],
            registry=registry,
        )

    def observe(self, done: CompactionRound) -> None:
        """Count one round."""
        self._seconds.labels("failed" if done.result is None else "ok").observe(done.seconds)
        if done.result is None:
            return
        self._rows.inc(done.result.moved_rows)
        self._done_at_s.set_to_current_time()
        self._show(done.result.lake)

    def _show(self, lake: LakeSize) -> None:
        for gauge in (self._lake_bytes, self._lake_rows, self._lake_growth):
            gauge.clear()
        for table in lake.tables:
            slug = self._slugs.get(table.chain_id, str(table.chain_id))
            self._lake_bytes.labels(slug, table.table).set(table.bytes)
            self._lake_rows.labels(slug, table.table).set(table.rows)
        for chain_id in {table.chain_id for table in lake.tables}:
            slug = self._slugs.get(chain_id, str(chain_id))
            self._lake_growth.labels(slug).set(lake.bytes_per_day(chain_id))
