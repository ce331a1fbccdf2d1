"""Canonical ABI types: `uint256`, `(address,uint24)[]`.

eth_abi has a grammar of them, too. Importing it takes a third of the start of a command, and few
analyses need anything else of eth_abi.
Source: Solidity documentation, "Contract ABI Specification".
"""

import re
from functools import lru_cache
from typing import Final

import msgspec

_BASIC: Final = re.compile(r"([a-zA-Z]+)([1-9][0-9]*)?")
_ARRAYS: Final = re.compile(r"(?:\[(?:[1-9][0-9]*)?\])*")
_DEEPEST: Final = 32
"""Structs within structs; hostile codes may make functions look as if they took any type."""


class AbiTypeError(ValueError):
    """A text is no ABI type."""


class AbiType(msgspec.Struct, frozen=True, kw_only=True):
    """One type, which may exist or not: `uint7` is one too."""

    base: str
    """Letters of a basic type: `uint`. Empty: a struct."""
    size: int | None = None
    """Bits or bytes after the letters. None: there is no number."""
    parts: tuple["AbiType", ...] = ()
    """Types of a struct's fields."""
    arrays: tuple[int | None, ...] = ()
    """Lengths of the arrays, the innermost first; None: of any length. Empty: no array."""

    @property
    def name(self) -> str:
        """Return the canonical text."""
        size = "" if self.size is None else self.size
        inner = f"{self.base}{size}" if self.base else f"({','.join(p.name for p in self.parts)})"
        return inner + "".join("[]" if one is None else f"[{one}]" for one in self.arrays)

    @property
    def item(self) -> "AbiType":
        """Return the type of an array's items."""
        return msgspec.structs.replace(self, arrays=self.arrays[:-1])


@lru_cache(maxsize=4_096)
def parse_type(text: str) -> AbiType:
    """Parse one type. Raises AbiTypeError."""
    found, end = _read_type(text, 0, depth=0)
    if end != len(text):
        raise AbiTypeError(text)
    return found


@lru_cache(maxsize=4_096)
def parse_types(text: str) -> tuple[AbiType, ...]:
    """Parse types separated by commas; an empty text has none. Raises AbiTypeError."""
    return parse_type(f"({text})").parts if text else ()


def _read_type(text: str, at: int, *, depth: int) -> tuple[AbiType, int]:
    """Return the type at a place of the text, and the place after it."""
    base, size, parts = "", None, list[AbiType]()
    if text.startswith("(", at) and depth < _DEEPEST:
        while text[at : at + 1] in ("(", ","):
            part, at = _read_type(text, at + 1, depth=depth + 1)
            parts.append(part)
            if text.startswith("(", at):
                raise AbiTypeError(text)
        if not text.startswith(")", at):
            raise AbiTypeError(text)
        at += 1
    elif (basic := _BASIC.match(text, at)) is not None:
        base, size = basic[1], int(basic[2]) if basic[2] else None
        at = basic.end()
    else:
        raise AbiTypeError(text)
    arrays = _ARRAYS.match(text, at)
    lengths = arrays[0][1:-1].split("][") if arrays is not None and arrays[0] else []
    found = AbiType(
        base=base,
        size=size,
        parts=tuple(parts),
        arrays=tuple(int(one) if one else None for one in lengths),
    )
    return found, at + len(arrays[0] if arrays is not None else "")
