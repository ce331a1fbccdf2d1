"""Child process of `export_runner` that exports views of one store.

Reads a request from standard input, writes the result to standard output, both JSON. It isolates
DuckDB's memory and crashes.
"""

import sys
from pathlib import Path

import msgspec

from core.errors import StoreError
from sql.analyst.export import export_views
from sql.analyst.export_messages import ExportAnswer, ExportEnd, ExportFailure, ExportRequest
from sql.lake.open_store import load_views


def main() -> None:
    """Run the request on standard input."""
    request = msgspec.json.decode(sys.stdin.buffer.read(), type=ExportRequest)
    answer: ExportAnswer
    try:
        views = request.views or tuple(load_views())
        answer = ExportEnd(
            rows=export_views(request.store.address(), Path(request.target), views).rows
        )
    except StoreError as error:
        answer = ExportFailure(path=error.path, reason=error.reason)
    sys.stdout.buffer.write(msgspec.json.encode(answer))
    sys.stdout.buffer.flush()
