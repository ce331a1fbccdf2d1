"""Background compaction: moves final rows to the lake from time to time, in a separate process."""

import asyncio
import contextlib
import time
from collections.abc import Callable, Sequence

import msgspec
import structlog

from config.facts.chain import Chain
from config.settings import IndexerSettings
from core.errors import StoreError
from sql.engine.store import Store
from sql.lake.compaction import CompactionRequest, CompactionResult, bounds_of
from sql.lake.compaction_runner import run_compaction

_EVERY_S = 300.0
"""Seconds between two rounds. A round moves whole batches, and is quickly over if there is none."""

_log = structlog.get_logger(__name__)


class CompactionRound(msgspec.Struct, frozen=True, kw_only=True):
    """One round of lake maintenance."""

    seconds: float
    result: CompactionResult | None
    """None: it failed; the next round continues."""


async def keep_compacting(
    chains: Sequence[Chain],
    store: Store,
    settings: IndexerSettings,
    *,
    stop: asyncio.Event,
    observe: Callable[[CompactionRound], None] = lambda _: None,
) -> None:
    """Compact the store until `stop` is set, which ends a running round; the next service resumes
    it.

    Faults are logged and retried in the next round, none is raised. `observe` receives every round
    that was not ended.
    """
    request = CompactionRequest(chains=tuple(bounds_of(chain.id, settings) for chain in chains))
    while not stop.is_set():
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), _EVERY_S)
            return
        started_s = time.perf_counter()
        try:
            result = await asyncio.to_thread(
                run_compaction, store.address, request, is_stopped=stop.is_set
            )
        except (StoreError, OSError) as error:
            # The log may be on the disk that is full.
            with contextlib.suppress(OSError):
                _log.error("compaction failed, retrying", reason=str(error))
            observe(CompactionRound(seconds=time.perf_counter() - started_s, result=None))
            continue
        if result is None:
            return
        observe(CompactionRound(seconds=time.perf_counter() - started_s, result=result))
        if result.moved_rows:
            _log.info("compacted", rows=result.moved_rows, merged=result.merged_files)
