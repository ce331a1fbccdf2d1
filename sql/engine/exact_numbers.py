"""Exact integers of any size as blobs: the shortest big-endian two's complement."""


def to_blob(number: int) -> bytes:
    """Return the stored form of an integer; zero is one byte."""
    return number.to_bytes(number.bit_length() // 8 + 1, "big", signed=True)


def from_blob(stored: bytes) -> int:
    """Return a stored integer; an empty blob is zero."""
    return int.from_bytes(stored, "big", signed=True)
