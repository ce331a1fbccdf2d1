"""Export of views in a child process. Blocks; asynchronous callers use a thread."""

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from core.errors import StoreError
from core.process.low_priority import BEHIND_CALLERS
from sql.analyst.export_messages import ExportAnswer, ExportFailure, ExportRequest
from sql.engine.child_process import read_some, start_child
from sql.lake.find_place import LakeOwner, message_of, place_of

_LOOK_EVERY_S = 0.2


def run_export(
    store: LakeOwner, target: Path, views: Sequence[str], *, is_stopped: Callable[[], bool]
) -> dict[str, int] | None:
    """Export these views, or all, of a store that this process keeps open; return rows by view.

    `is_stopped` is called a few times a second; once it returns True the process is ended and None
    is returned; the next export continues. Raises StoreError, also while another process exports
    to the same folder.
    """
    request = ExportRequest(
        store=message_of(place_of(store)),
        target=str(target.absolute()),
        views=tuple(views),
    )
    message = msgspec.json.encode(request)
    with start_child("sql.analyst.export_process", message, niceness=BEHIND_CALLERS) as process:
        answer = b""
        while not is_stopped():
            chunk = read_some(process, wait_s=_LOOK_EVERY_S)
            if chunk is None:
                continue
            if chunk:
                answer += chunk
                continue
            if not answer:
                reason = f"the export process broke off with {process.wait()}"
                raise StoreError(path=str(target), reason=reason)
            found: ExportAnswer = msgspec.json.decode(answer, type=ExportAnswer)
            if isinstance(found, ExportFailure):
                raise StoreError(path=found.path, reason=found.reason)
            return found.rows
    return None
