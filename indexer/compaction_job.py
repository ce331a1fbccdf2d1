"""Background compaction: final rows go to the lake, in a process of its own, now and then."""

import asyncio
import contextlib
from collections.abc import Sequence

import structlog

from config.chains import Chain
from config.settings_model import IndexerSettings
from core.errors import StoreError
from sql.lake.compaction import CompactionRequest, bounds_of
from sql.lake.compaction_runner import run_compaction
from sql.store import Store

_EVERY_S = 300.0
"""Seconds between two rounds. A round moves what has become a batch, and is soon over otherwise."""

_log = structlog.get_logger(__name__)


async def keep_compacting(
    chains: Sequence[Chain], store: Store, settings: IndexerSettings, *, stop: asyncio.Event
) -> None:
    """Compact the store until `stop` is set; a round under way is ended then, and resumed by the
    next service.

    Faults are logged and tried again with the next round; it raises none of them.
    """
    request = CompactionRequest(chains=tuple(bounds_of(chain.id, settings) for chain in chains))
    while not stop.is_set():
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), _EVERY_S)
            return
        try:
            result = await asyncio.to_thread(
                run_compaction, store.path, request, is_stopped=stop.is_set
            )
        except (StoreError, OSError) as error:
            # The log may be on the disk that is full.
            with contextlib.suppress(OSError):
                _log.error("compaction put off", reason=str(error))
            continue
        if result is not None and result.moved_rows:
            _log.info("moved to the lake", rows=result.moved_rows, merged=result.merged_files)
