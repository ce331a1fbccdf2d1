"""Conversion between columns of hex texts and columns of bytes and numbers.

Raises ValueError for text that is not hex of the right length.
"""

import binascii
import re
from collections.abc import Sequence

import numpy as np

from core.process.arrays import ByteArray, Int64Array, Uint64Array

PREFIX_CHARS = 2
_ZERO, _X = ord("0"), ord("x")
_LOWER = 0x20
"""Set in lower-case letters, clear in upper-case ones."""
_QUANTITY_DIGITS = 16
_QUANTITY = re.compile(r"0[xX][0-9a-fA-F]+")


def decode_hex(texts: Sequence[str], *, size: int) -> ByteArray:
    """Return texts of 0x and 2 * `size` hex digits, in either letter case, as uint8[n, size]."""
    chars = PREFIX_CHARS + 2 * size
    if any(length != chars for length in set(map(len, texts))):
        message = f"not all are of {size} bytes"
        raise ValueError(message)
    joined = np.frombuffer("".join(texts).encode("ascii"), np.uint8).reshape(-1, chars)
    if (joined[:, 0] != _ZERO).any() or ((joined[:, 1] | _LOWER) != _X).any():
        message = "not all begin with 0x"
        raise ValueError(message)
    raw = binascii.unhexlify(joined[:, PREFIX_CHARS:].tobytes())
    return np.frombuffer(raw, np.uint8).reshape(len(texts), size)


def decode_quantities(texts: Sequence[str]) -> Uint64Array:
    """Return quantities of 0x and hex digits, leading zeros allowed. Raises also for one over 64
    bits."""
    digits = []
    for text in texts:
        if text[:PREFIX_CHARS] not in ("0x", "0X") or len(text) == PREFIX_CHARS:
            message = "not all are 0x and digits"
            raise ValueError(message)
        digits.append(text[PREFIX_CHARS:].lstrip("0").rjust(_QUANTITY_DIGITS, "0"))
    if any(length != _QUANTITY_DIGITS for length in set(map(len, digits))):
        message = "not all fit into 64 bits"
        raise ValueError(message)
    raw = binascii.unhexlify("".join(digits))
    return np.frombuffer(raw, ">u8").astype(np.uint64)


def decode_quantity(text: str) -> int | None:
    """Return one quantity. None: it is not one."""
    return int(text, 16) if _QUANTITY.fullmatch(text) else None


def encode_hex(column: ByteArray) -> list[str]:
    """Return uint8[n, size] as n texts of 0x and lower-case digits."""
    size = 2 * column.shape[1]
    digits = np.ascontiguousarray(column).tobytes().hex()
    if not size:
        return ["0x"] * len(column)
    return ["0x" + digits[at : at + size] for at in range(0, len(digits), size)]


def keys_of(column: ByteArray) -> list[bytes]:
    """Return uint8[n, size] as n bytes objects, for look-ups in a dict."""
    size = column.shape[1]
    joined = np.ascontiguousarray(column).tobytes()
    return [joined[at : at + size] for at in range(0, len(joined), size)]


def to_numbers(column: ByteArray) -> Int64Array:
    """Return uint8[n, 4] as unsigned numbers."""
    return np.ascontiguousarray(column).view(">u4").ravel().astype(np.int64)
