"""Compacts a store in a process of its own. Blocks; asynchronous callers use a thread."""

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from core.errors import StoreError
from sql.child_process import child_of, read_some
from sql.lake.compaction import CompactionProgress, CompactionRequest, CompactionResult
from sql.lake.compaction_process import CompactionFailure, CompactionLine, CompactionOrder

_LOOK_EVERY_S = 0.2


def run_compaction(
    store: Path,
    request: CompactionRequest,
    *,
    progress: Callable[[CompactionProgress], None] = lambda _: None,
    is_stopped: Callable[[], bool] = lambda: False,
) -> CompactionResult | None:
    """Compact a store, also while another process writes its serving state.

    `is_stopped` is asked a few times a second; once it says so the process is ended, and the next
    round goes on. Returns None then. Raises StoreError, also when another process is compacting.
    """
    order = CompactionOrder(prefix=str(store.absolute()), request=request)
    with child_of("sql.lake.compaction_process", msgspec.json.encode(order)) as process:
        for line in _lines(process, is_stopped):
            match line:
                case CompactionProgress():
                    progress(line)
                case CompactionResult():
                    return line
                case CompactionFailure():
                    raise StoreError(path=line.path, reason=line.reason)
        if is_stopped():
            return None
        reason = f"the compaction process broke off with {process.wait()}"
        raise StoreError(path=str(store), reason=reason)


def _lines(
    process: "subprocess.Popen[bytes]", is_stopped: Callable[[], bool]
) -> Iterator[CompactionLine]:
    """Yield what a process tells until it ends or is to be stopped."""
    buffer = b""
    while not is_stopped():
        some = read_some(process, wait_s=_LOOK_EVERY_S)
        if some is None:
            continue
        if not some:
            return
        *lines, buffer = (buffer + some).split(b"\n")
        for line in lines:
            yield msgspec.json.decode(line, type=CompactionLine)
