"""What an export process is asked, and what it answers."""

import msgspec

from sql.lake.find_place import StoreMessage


class ExportRequest(msgspec.Struct, frozen=True, kw_only=True):
    """All that an export process is told."""

    store: StoreMessage
    target: str
    """Folder that is written to."""
    views: tuple[str, ...]
    """Empty: all of them."""


class ExportFailure(msgspec.Struct, frozen=True, kw_only=True, tag="failure"):
    """Why an export ended early."""

    path: str
    reason: str


class ExportEnd(msgspec.Struct, frozen=True, kw_only=True, tag="end"):
    """The export is complete."""

    rows: dict[str, int]
    """Rows that were written, by view."""


ExportAnswer = ExportEnd | ExportFailure
