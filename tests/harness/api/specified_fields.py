"""Tables of fields in the specification, and a check of an answer against one of them."""

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

_FILE: dict[str, Any] = tomllib.loads((Path(__file__).parent / "specified.toml").read_text())

MAPPING: dict[str, list[str]] = _FILE.pop("mapping")
"""Compat field -> rule, then the native fields it reads."""

VALUES: dict[str, list[str]] = _FILE.pop("values")
"""Field -> all values it may have."""

ERRORS: dict[str, tuple[int, str]] = {code: tuple(row) for code, row in _FILE.pop("errors").items()}
"""error_code -> status and kind of body."""

TABLES: dict[str, dict[str, str]] = _FILE
"""Object -> its fields and their types."""


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


TYPES: dict[str, Callable[[Any], bool]] = {
    "string": lambda v: isinstance(v, str),
    "integer": lambda v: isinstance(v, int) and not isinstance(v, bool),
    "number": _is_number,
    "true": lambda v: v is True,
    "false": lambda v: v is False,
    "bool": lambda v: v is None or isinstance(v, bool),
    "pending": lambda v: v == "pending",
    "null": lambda v: v is None,
    "array": lambda v: isinstance(v, list),
    "object": lambda v: isinstance(v, dict),
    "digit": lambda v: v in ("0", "1", None),
}


def check(sent: dict[str, Any], table: str) -> None:
    """The object has the table's keys and no others, each of its type."""
    for name, declared in TABLES[table].items():
        kinds, _, absence = declared.partition(", ")
        if absence and name not in sent:
            continue
        assert any(TYPES[kind](sent[name]) for kind in kinds.split(" or ")), (name, sent[name])
    assert set(sent) <= set(TABLES[table])
