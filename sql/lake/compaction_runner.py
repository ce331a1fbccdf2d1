"""Compaction of a store in a child process. Blocks; asynchronous callers use a thread."""

import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

import msgspec

from core.errors import StoreError
from core.process.low_priority import BEHIND_CALLERS
from sql.engine.child_process import read_some, start_child
from sql.lake.compaction import CompactionProgress, CompactionRequest, CompactionResult
from sql.lake.compaction_process import CompactionFailure, CompactionLine, CompactionOrder
from sql.lake.find_place import LakeOwner, message_of, place_of
from sql.lake.lake_place import FilePlace, LakePlace

_LOOK_EVERY_S = 0.2


def run_compaction(
    store: LakeOwner,
    request: CompactionRequest,
    *,
    progress: Callable[[CompactionProgress], None] = lambda _: None,
    is_stopped: Callable[[], bool] = lambda: False,
    niceness: int = BEHIND_CALLERS,
) -> CompactionResult | None:
    """Compact a store, also while another process writes its serving state.

    `is_stopped` is called a few times a second; once it returns True the process is ended and None
    is returned; the next round continues. `niceness`: priority of that process, as of `nice`,
    unless this one has a lower one. Raises StoreError, also while another process compacts.
    """
    place = place_of(store)
    order = CompactionOrder(store=message_of(place), request=request)
    message = msgspec.json.encode(order)
    with (
        _kept_open(place),
        start_child("sql.lake.compaction_process", message, niceness=niceness) as process,
    ):
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
        raise StoreError(path=place.name, reason=reason)


@contextmanager
def _kept_open(place: LakePlace) -> Iterator[None]:
    """Keep the serving state open in this process.

    The child opens it in SQLite and in DuckDB, which bundles another SQLite: when that one closes
    the file, the system drops all locks of the child on it. Another process that closes the file
    then acts as the last one, and removes the write-ahead log that the child still writes.
    """
    files = place.files
    if not isinstance(place, FilePlace) or not place.has_serving():
        yield  # the child reports a missing file
        return
    try:
        with closing(sqlite3.connect(files.serving)) as keeper:
            keeper.execute("select count(*) from sqlite_schema").fetchone()
            yield
    except sqlite3.Error as error:
        raise StoreError(path=str(files.serving), reason=str(error)) from error


def _lines(
    process: "subprocess.Popen[bytes]", is_stopped: Callable[[], bool]
) -> Iterator[CompactionLine]:
    """Yield the output of a process until it ends or is to be stopped."""
    buffer = b""
    while not is_stopped():
        chunk = read_some(process, wait_s=_LOOK_EVERY_S)
        if chunk is None:
            continue
        if not chunk:
            return
        *lines, buffer = (buffer + chunk).split(b"\n")
        for line in lines:
            yield msgspec.json.decode(line, type=CompactionLine)
