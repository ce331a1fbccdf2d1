"""Protects the schedule of compaction: it continues after faults, and ends on request."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from config.settings import IndexerSettings
from config.store_address import StoreAddress
from core.errors import StoreError
from indexer.history import compaction_job
from indexer.history.compaction_job import keep_compacting
from sql.engine.store import Store
from sql.lake.compaction import CompactionRequest, CompactionResult
from sql.lake.lake_size import LakeSize
from tests.harness.indexer.following import until
from tests.harness.node.chain import CHAIN
from tests.harness.store.empty_files import new_store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = new_store(tmp_path / "store")
    yield opened
    opened.close()


@pytest.fixture
def rounds(monkeypatch: pytest.MonkeyPatch) -> list[tuple[StoreAddress, CompactionRequest]]:
    """Rounds begun; every second fails."""
    begun: list[tuple[StoreAddress, CompactionRequest]] = []

    def run(store: StoreAddress, request: CompactionRequest, **_: object) -> CompactionResult:
        begun.append((store, request))
        if len(begun) % 2:
            raise StoreError(path=str(store), reason="the disk is full")
        return CompactionResult(
            moved_rows=1, merged_files=0, dropped={}, lake=LakeSize(tables=(), growth=())
        )

    monkeypatch.setattr(compaction_job, "run_compaction", run)
    monkeypatch.setattr(compaction_job, "_EVERY_S", 0.01)
    return begun


async def test_rounds_go_on_after_a_fault_until_the_stop(
    store: Store, rounds: list[tuple[StoreAddress, CompactionRequest]]
) -> None:
    stop = asyncio.Event()
    settings = IndexerSettings(lake_gb=2.0)
    keeping = asyncio.create_task(keep_compacting([CHAIN], store, settings, stop=stop))
    await until(lambda: len(rounds) >= 4)
    stop.set()
    await asyncio.wait_for(keeping, 5)
    address, request = rounds[0]
    assert address == store.address
    (bounds,) = request.chains
    assert (bounds.chain_id, bounds.max_bytes, request.is_forced) == (CHAIN.id, 2 * 10**9, False)


async def test_it_ends_at_once_between_rounds(
    store: Store,
    rounds: list[tuple[StoreAddress, CompactionRequest]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(compaction_job, "_EVERY_S", 3_600.0)
    stop = asyncio.Event()
    keeping = asyncio.create_task(keep_compacting([CHAIN], store, IndexerSettings(), stop=stop))
    await asyncio.sleep(0)
    stop.set()
    await asyncio.wait_for(keeping, 5)
    assert not rounds
