"""Values as CSV that spreadsheets may open: an answer as a header and a row, and single cells."""

import csv
import io
from collections.abc import Iterator

import msgspec

from core.process.terminal import printable

_FORMULA = ("=", "+", "-", "@")
"""What a text begins with that spreadsheets would compute. Source: OWASP, CSV injection."""


def csv_of(body: bytes) -> str:
    """Return header and row of a JSON object. Keys of `features` stand beside those around them;
    null is empty, and what is no single value is JSON."""
    cells = dict(_cells(msgspec.json.decode(body)))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(cells)
    writer.writerow(cells.values())
    return text.getvalue()


def _cells(answer: dict[str, object]) -> Iterator[tuple[str, str]]:
    for key, value in answer.items():
        if key == "features" and isinstance(value, dict):
            yield from _cells(value)
        else:
            yield key, csv_cell(value)


def csv_cell(value: object) -> str:
    """Return a value as a cell that no spreadsheet computes; None is empty."""
    if value is None:
        return ""
    if not isinstance(value, str):
        return printable(msgspec.json.encode(value).decode())
    # A token can be called anything.
    return printable(f"'{value}" if value.startswith(_FORMULA) else value)
