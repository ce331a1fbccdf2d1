"""CSV that is safe in spreadsheets: an answer as header and row, and single cells."""

import csv
import io
from collections.abc import Iterator

import msgspec

from core.process.terminal import printable

_FORMULA = ("=", "+", "-", "@")
"""First characters of texts that spreadsheets would compute. Source: OWASP, CSV injection."""


def csv_of(body: bytes) -> str:
    """Render a JSON object as header and row. Keys of `features` become columns of their parent;
    null is empty, and lists and objects are JSON."""
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
    """Render a value as a cell that no spreadsheet computes; None is empty."""
    if value is None:
        return ""
    if not isinstance(value, str):
        return printable(msgspec.json.encode(value).decode())
    # A token can have any name.
    return printable(f"'{value}" if value.startswith(_FORMULA) else value)
