"""Paths of the files that make up one store."""

from pathlib import Path

import msgspec


class StoreFiles(msgspec.Struct, frozen=True, kw_only=True):
    """Files whose names begin with the path in ASSAY_STORE; that path itself is no file."""

    prefix: Path

    @property
    def folder(self) -> Path:
        """Return the folder of the files."""
        return self.prefix.absolute().parent

    @property
    def serving(self) -> Path:
        """Return the SQLite file of the serving state."""
        return self._named("serving.sqlite")

    @property
    def lake(self) -> Path:
        """Return the SQLite file of the lake's catalogue."""
        return self._named("lake.sqlite")

    @property
    def lake_data(self) -> Path:
        """Return the folder of the lake's Parquet files."""
        return self._named("lake")

    @property
    def lake_spill(self) -> Path:
        """Return the folder where sorts of the lake spill."""
        return self._named("lake.spill")

    @property
    def lake_lock(self) -> Path:
        """Return the lock file of the lake's writers."""
        return self._named("lake.lock")

    @property
    def compaction_lock(self) -> Path:
        """Return the lock file of compaction."""
        return self._named("compact.lock")

    @property
    def compaction_spill(self) -> Path:
        """Return the folder where sorts of compaction spill."""
        return self._named("compact.spill")

    def follow_lock(self, chain_id: int) -> Path:
        """Return the lock file of the process that follows a chain."""
        return self._named(f"follow-{chain_id}.lock")

    @property
    def jobs_lock(self) -> Path:
        """Return the lock file of the process that runs the store's jobs."""
        return self._named("jobs.lock")

    @property
    def query_queue_lock(self) -> Path:
        """Return the lock file of the first in the queue of analysts' statements."""
        return self._named("sql-next.lock")

    def query_lock(self, slot: int) -> Path:
        """Return the lock file of one of the slots for analysts' statements."""
        return self._named(f"sql-{slot}.lock")

    @property
    def open_script(self) -> Path:
        """Return the script that opens the store in DuckDB's shell."""
        return self._named("open.sql")

    def _named(self, suffix: str) -> Path:
        return self.prefix.with_name(f"{self.prefix.name}.{suffix}")
