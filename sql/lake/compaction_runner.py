"""Compacts a store in a process of its own. Blocks; asynchronous callers use a thread."""

import os
import select
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, cast

import msgspec

from core.errors import StoreError
from sql.child_process import child_of
from sql.lake.compaction import CompactionProgress, CompactionRequest, CompactionResult
from sql.lake.compaction_process import CompactionFailure, CompactionLine, CompactionOrder

_READ_BYTES = 1 << 16
_LOOK_EVERY_MS = 200


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
    out = cast(IO[bytes], process.stdout).fileno()
    output = select.poll()
    output.register(out)
    buffer = b""
    while not is_stopped():
        if not output.poll(_LOOK_EVERY_MS):
            continue
        some = os.read(out, _READ_BYTES)
        if not some:
            return
        *lines, buffer = (buffer + some).split(b"\n")
        for line in lines:
            yield msgspec.json.decode(line, type=CompactionLine)
