"""Text from outside -> text that a terminal shows and does not obey.

Names of tokens, reasons of callers and words of nodes may hold escape sequences, or characters
that turn the direction of the line.
"""

import struct
from collections.abc import MutableMapping
from typing import Any

_UNIT = struct.Struct(">H")


def printable(text: str, *, but: str = "") -> str:
    r"""The text with \uXXXX for every character that does not print, but for those named.

    JSON stays the same JSON: no such character stands outside of its strings.
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
    """Step of the log: each text of a line, traces too. Other values are shown by their repr."""
    for name, value in event.items():
        if isinstance(value, str):
            event[name] = printable(value, but="\n" if name == "exception" else "")
    return event
