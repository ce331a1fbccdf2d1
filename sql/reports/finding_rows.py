"""Findings as rows of key and value, so that a new report field needs no migration.

Values are text: `true`, `false`, `pending`, a number, a text; of a list the parts, joined by
spaces. None is unknown.
"""

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, TypeVar, get_type_hints

import msgspec

from core.report.fields.field import list_keys
from sql.engine.table_rows import FindingRow

T = TypeVar("T", bound=msgspec.Struct)


def to_rows(*findings: msgspec.Struct) -> list[FindingRow]:
    """Return one row per field of the structs, in their order."""
    return [
        FindingRow(key=key, value=None if value is None else _text(value))
        for group in findings
        for key, value in _items(group)
    ]


def from_rows(rows: Iterable[FindingRow], group: type[T]) -> T:
    """Return the findings of one struct; rows of other keys are left out, and a field without a row
    keeps its default.

    Raises msgspec.ValidationError for a value that is not of the field's type.
    """
    hints, lists = _hints(group), list_keys(group)
    values = {}
    for row in rows:
        if row.key in hints and row.value is not None:
            text = row.value.split() if row.key in lists else row.value
            values[row.key] = msgspec.convert(text, hints[row.key], strict=False)
        elif row.key in hints:
            values[row.key] = None
    return group(**values)


def _items(group: msgspec.Struct) -> Iterator[tuple[str, Any]]:
    return ((key, getattr(group, key)) for key in group.__struct_fields__)


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return " ".join(map(str, value))
    return str(value)


@cache
def _hints(group: type[msgspec.Struct]) -> dict[str, Any]:
    return get_type_hints(group)
