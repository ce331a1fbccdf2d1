"""A process that compacts one store and ends: the child of `compaction_runner`.

Request on standard input, progress and result on standard output, in lines of JSON. A fault of
DuckDB ends it alone.
"""

import ctypes
import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

import msgspec

from core.errors import StoreError
from sql.lake.compaction import (
    CompactionProgress,
    CompactionRequest,
    CompactionResult,
    compact,
)
from sql.store_files import StoreFiles

_PR_SET_PDEATHSIG = 1


class CompactionOrder(msgspec.Struct, frozen=True, kw_only=True):
    """All that a compaction process is told."""

    prefix: str
    """Path that names the store; see StoreFiles."""
    request: CompactionRequest
    starter: int | None = None
    """Process that keeps the serving state open. None: nobody else uses it."""


class CompactionFailure(msgspec.Struct, frozen=True, kw_only=True, tag="failure"):
    """Why a round ended early."""

    path: str
    reason: str


CompactionLine = CompactionProgress | CompactionResult | CompactionFailure


def main() -> None:
    """Do what standard input says."""
    _end_with_starter()
    order = msgspec.json.decode(sys.stdin.buffer.read(), type=CompactionOrder)
    if order.starter not in (None, os.getppid()):
        return  # it has ended already
    files = StoreFiles(prefix=Path(order.prefix))
    try:
        _tell(compact(files, order.request, now_s=time.time(), progress=_tell))
    except StoreError as error:
        _tell(CompactionFailure(path=error.path, reason=error.reason))


def _end_with_starter() -> None:
    """Let the system end this process with the one that started it, and keeps the store open."""
    with suppress(AttributeError):  # not Linux
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _tell(line: CompactionLine) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(line) + b"\n")
    sys.stdout.buffer.flush()
