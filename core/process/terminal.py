"""Escaping of untrusted text for terminals: control characters become \\uXXXX.

Token names, callers' reasons and nodes' messages may contain escape sequences, or characters that
change the text direction.
"""

import struct
from collections.abc import Mapping, MutableMapping
from typing import Any, TextIO

_UNIT = struct.Struct(">H")


def takes_colours(stream: TextIO, env: Mapping[str, str]) -> bool:
    """True if escape sequences may be written: to a terminal, unless NO_COLOR is set or it is a
    dumb one. Source: no-color.org."""
    return stream.isatty() and not env.get("NO_COLOR") and env.get("TERM") != "dumb"


def printable(text: str) -> str:
    r"""Return the text with \uXXXX for every non-printable character.

    JSON stays equivalent: such characters occur only inside its strings.
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _escaped(char) for char in text)


def _escaped(char: str) -> str:
    units = _UNIT.iter_unpack(char.encode("utf-16-be", "surrogatepass"))
    return "".join(f"\\u{unit:04x}" for (unit,) in units)


def printable_event(
    _: object, __: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    """Log processor: escape each text of a line. Other values are shown by their repr."""
    for name, value in event.items():
        if isinstance(value, str):
            event[name] = printable(value)
    return event
