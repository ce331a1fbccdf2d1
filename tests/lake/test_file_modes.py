"""Protects the permissions of a store's files: public chain data follow the umask, all else is its
owner's."""

import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from sql.accounts.ledger import Ledger
from sql.engine.store import Store
from sql.engine.store_files import StoreFiles
from sql.lake.compaction import ChainBounds, CompactionRequest, compact
from sql.tokens.tokens import track_seen
from tests.harness.lake.serving_files import TOKENS, many_events, write_batch
from tests.harness.store.sample_rows import address

_ANY = stat.S_IRWXG | stat.S_IRWXO
_READ = stat.S_IRGRP | stat.S_IROTH
_LAKE = ("assay.lake.sqlite", "assay.lake", "assay.open.sql")


@contextmanager
def _masked(umask: int) -> Iterator[None]:
    before = os.umask(umask)
    try:
        yield
    finally:
        os.umask(before)


def _compacted(folder: Path) -> dict[Path, int]:
    """Return the permissions of others on each file of a store with rows in the lake."""
    files = StoreFiles(prefix=folder / "assay")
    with (
        closing(Store.open(files.prefix)) as store,
        closing(sqlite3.connect(files.serving, isolation_level=None)) as serving,
    ):
        with store.transaction() as tx:
            seen = {address(at): 0 for at in range(TOKENS)}
            track_seen(tx, chain_id=1, seen=seen, because="pool")
        write_batch(serving, many_events(50))
    # Not while the store is open in this process: DuckDB's SQLite cuts off the mapped -shm file.
    bounds = (ChainBounds(chain_id=1),)
    compact(files, CompactionRequest(chains=bounds, is_forced=True), now_s=1.0)
    with (
        closing(Store.open(files.prefix)),
        closing(Ledger.open(folder / "assay.ledger.sqlite")),
    ):
        return {path.relative_to(folder): path.stat().st_mode & _ANY for path in folder.rglob("*")}


def _is_of_lake(path: Path) -> bool:
    return any(str(path).startswith(name) for name in _LAKE) and path.suffix != ".lock"


@pytest.mark.parametrize(("umask", "others"), [(0o022, _READ), (0o027, stat.S_IRGRP), (0o077, 0)])
def test_only_what_the_chain_made_public_follows_the_umask(
    tmp_path: Path, umask: int, others: int
) -> None:
    with _masked(umask):
        modes = _compacted(tmp_path)
    lake = {path: mode & _READ for path, mode in modes.items() if _is_of_lake(path)}
    assert any(path.suffix == ".parquet" for path in lake)
    assert set(lake.values()) == {others}
    private = {path: mode for path, mode in modes.items() if not _is_of_lake(path)}
    assert {"assay.serving.sqlite", "assay.ledger.sqlite"} <= {str(path) for path in private}
    assert set(private.values()) == {0}, private
