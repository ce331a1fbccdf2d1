"""Messages between `export_runner` and its child process."""

import msgspec

from sql.lake.find_place import StoreMessage


class ExportRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Request to an export process."""

    store: StoreMessage
    target: str
    """Folder to write to."""
    views: tuple[str, ...]
    """Empty: all views."""


class ExportFailure(msgspec.Struct, frozen=True, kw_only=True, tag="failure"):
    """Error that ended an export."""

    path: str
    reason: str


class ExportEnd(msgspec.Struct, frozen=True, kw_only=True, tag="end"):
    """The export is complete."""

    rows: dict[str, int]
    """Written rows, by view."""


ExportAnswer = ExportEnd | ExportFailure
