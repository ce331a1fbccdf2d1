"""Paths of the files that make up one store."""

from pathlib import Path

import msgspec


class StoreFiles(msgspec.Struct, frozen=True, kw_only=True):
    """Files beside the path that ASSAY_STORE names; that path itself is only their prefix."""

    prefix: Path

    @property
    def folder(self) -> Path:
        """Return the folder of all of them."""
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
        """Return the folder where sorts of the lake spill; empty while nothing runs."""
        return self._named("lake.spill")

    @property
    def lake_lock(self) -> Path:
        """Return the file that writers of the lake lock."""
        return self._named("lake.lock")

    @property
    def compaction_lock(self) -> Path:
        """Return the file that the process which compacts the store locks."""
        return self._named("compact.lock")

    @property
    def compaction_spill(self) -> Path:
        """Return the folder where the process that compacts spills."""
        return self._named("compact.spill")

    def follow_lock(self, chain_id: int) -> Path:
        """Return the file that the process which follows a chain locks."""
        return self._named(f"follow-{chain_id}.lock")

    @property
    def jobs_lock(self) -> Path:
        """Return the file that the process which runs the store's jobs locks."""
        return self._named("jobs.lock")

    @property
    def query_queue_lock(self) -> Path:
        """Return the file that the process locks whose statement of an analyst is next."""
        return self._named("sql-next.lock")

    def query_lock(self, turn: int) -> Path:
        """Return the file that a process locks while it runs an analyst's statement, of a number of
        such files."""
        return self._named(f"sql-{turn}.lock")

    @property
    def open_script(self) -> Path:
        """Return the script with which DuckDB's own shell opens the store."""
        return self._named("open.sql")

    def _named(self, suffix: str) -> Path:
        return self.prefix.with_name(f"{self.prefix.name}.{suffix}")
