"""Child process of `compaction_runner` that compacts one store.

Reads a request from standard input, writes progress and result to standard output as lines of JSON.
A crash of DuckDB ends only this process.
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
    """Request to a compaction process."""

    store: StoreMessage
    request: CompactionRequest


class CompactionFailure(msgspec.Struct, frozen=True, kw_only=True, tag="failure"):
    """Error that ended a round."""

    path: str
    reason: str


CompactionLine = CompactionProgress | CompactionResult | CompactionFailure


def main() -> None:
    """Run the request on standard input."""
    order = msgspec.json.decode(sys.stdin.buffer.read(), type=CompactionOrder)
    try:
        _tell(compact(order.store.address(), order.request, now_s=time.time(), progress=_tell))
    except StoreError as error:
        _tell(CompactionFailure(path=error.path, reason=error.reason))


def _tell(line: CompactionLine) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(line) + b"\n")
    sys.stdout.buffer.flush()
