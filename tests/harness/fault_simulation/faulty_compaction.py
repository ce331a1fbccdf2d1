"""Compaction as a separate process, with faults injected independently of the follower's."""

import time
from contextlib import closing
from pathlib import Path

from core.errors import StoreError
from sql.engine.store_files import StoreFiles
from sql.lake.compaction import ChainBounds, CompactionRequest, compact
from sql.lake.final_batches import FinalBatches
from tests.harness.fault_simulation.store_faults import (
    ProcessEndedError,
    StoreFaults,
    faulty_databases,
)


def close_open_batch(path: Path, chain_id: int) -> None:
    """Close the batch that final rows wait in, as a compaction does first."""
    faults = StoreFaults()
    with (
        faulty_databases(faults),
        closing(FinalBatches.open(StoreFiles(prefix=path))) as batches,
    ):
        batches.close_open(chain_id)


def compact_with(faults: StoreFaults, path: Path, chain_id: int) -> str:
    """Compact everything, as far as the faults allow. Returns the outcome."""
    request = CompactionRequest(chains=(ChainBounds(chain_id=chain_id),), is_forced=True)
    try:
        with faulty_databases(faults):
            compact(StoreFiles(prefix=path), request, now_s=time.time())
    except ProcessEndedError:
        return "compaction ended"
    except StoreError as error:
        return f"compaction failed: {error.reason}"
    finally:
        faults.abandon()
    return "compacted"
