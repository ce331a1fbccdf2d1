"""Escaping of untrusted text for terminals: control characters become \\uXXXX.

Token names, callers' reasons and nodes' messages may contain escape sequences, or characters that
change the text direction.
"""

import struct
from collections.abc import MutableMapping
from typing import Any

_UNIT = struct.Struct(">H")


def printable(text: str, *, but: str = "") -> str:
    r"""Return the text with \uXXXX for every non-printable character except those in `but`.

    JSON stays equivalent: such characters occur only inside its strings.
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() or char in but else _escaped(char) for char in text)


def _escaped(char: str) -> str:
    units = _UNIT.iter_unpack(char.encode("utf-16-be", "surrogatepass"))
    return "".join(f"\\u{unit:04x}" for (unit,) in units)


def printable_event(
    _: object, __: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    """Log processor: escape each text of a line, tracebacks too. Other values are shown by their
    repr."""
    for name, value in event.items():
        if isinstance(value, str):
            event[name] = printable(value, but="\n" if name == "exception" else "")
    return event
