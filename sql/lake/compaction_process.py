"""A process that compacts one store and ends: the child of `compaction_runner`.

Request on standard input, progress and result on standard output, in lines of JSON. A fault of
DuckDB ends it alone.
"""

import sys
import time

import msgspec

from core.errors import StoreError
from sql.lake.compaction import (
    CompactionProgress,
    CompactionRequest,
    CompactionResult,
    compact,
)
from sql.lake.find_place import StoreMessage


class CompactionOrder(msgspec.Struct, frozen=True, kw_only=True):
    """All that a compaction process is told."""

    store: StoreMessage
    request: CompactionRequest


class CompactionFailure(msgspec.Struct, frozen=True, kw_only=True, tag="failure"):
    """Why a round ended early."""

    path: str
    reason: str


CompactionLine = CompactionProgress | CompactionResult | CompactionFailure


def main() -> None:
    """Do what standard input says."""
    order = msgspec.json.decode(sys.stdin.buffer.read(), type=CompactionOrder)
    try:
        _tell(compact(order.store.address(), order.request, now_s=time.time(), progress=_tell))
    except StoreError as error:
        _tell(CompactionFailure(path=error.path, reason=error.reason))


def _tell(line: CompactionLine) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(line) + b"\n")
    sys.stdout.buffer.flush()
