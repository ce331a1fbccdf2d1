"""Byte layouts: the places of values in a log's JSON, for decoding many logs at a time.

A layout fits an object if all bytes outside of the hex values equal those it was learned from:
keys, quotes, `0x`, topic 0, `removed`. The values are then in known places, and only need a check
that they are hex.
"""

import binascii
from typing import Literal

import msgspec
import numpy as np

from core.process.arrays import BoolArray, ByteArray, IndexArray, Uint64Array
from indexer.decode.log_columns import (
    ADDRESS_BYTES,
    HASH_BYTES,
    NO_TIME,
    LogGroup,
    LogShape,
)
from indexer.decode.logs import MOST_BLOCK_NUMBER, MOST_LOG_INDEX, MOST_TIME_S

NUMBER_BYTES = 8

_ALIGNED = 8
_FILLER = ord("0")


class Segment(msgspec.Struct, frozen=True):
    """One hex value in an object, and the target of its digits."""

    start: int
    """First digit in the object."""
    end: int
    """Behind the last digit."""
    to: int
    """First digit in the decoded record, counted in digits."""


class RecordPlaces(msgspec.Struct, frozen=True):
    """Places of a log's values in its decoded record, in bytes. Equal for all logs of one shape."""

    data: int
    block_number: int
    log_index: int
    time_s: int
    block_hash: int
    tx_hash: int
    address: int
    size: int

    @classmethod
    def of(cls, shape: LogShape) -> "RecordPlaces":
        """Return the places for a shape: topics first, words at multiples of eight bytes."""
        data = HASH_BYTES * max(shape.topics - 1, 0)
        numbers = data + _rounded_up(shape.data_size)
        hashes = numbers + 3 * NUMBER_BYTES
        address = hashes + 2 * HASH_BYTES
        return cls(
            data=data,
            block_number=numbers,
            log_index=numbers + NUMBER_BYTES,
            time_s=numbers + 2 * NUMBER_BYTES,
            block_hash=hashes,
            tx_hash=hashes + HASH_BYTES,
            address=address,
            size=address + _rounded_up(ADDRESS_BYTES),
        )


class ByteLayout(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Layout of the objects of one length, with the same keys, spaces and topic 0."""

    shape: LogShape
    has_time: bool
    """True if the objects contain the time of their block."""
    mask: Uint64Array
    """Ones where a byte is fixed; zeros behind the object's end, up to a whole word."""
    fixed: Uint64Array
    """The fixed bytes, zero elsewhere."""
    segments: tuple[Segment, ...]
    digits: int
    """Digits of a record, including other hex values, which are checked and dropped."""

    def fits(self, objects: ByteArray) -> BoolArray | None:
        """Return which objects, uint8[n, padded width], have the layout's fixed bytes. None: all
        have."""
        differences = objects.view(np.uint64) & self.mask
        differences ^= self.fixed
        if not differences.any():
            return None
        same: BoolArray = np.bitwise_or.reduce(differences, axis=1) == 0
        return same

    def records(self, objects: ByteArray) -> ByteArray:
        """Return the decoded records of objects that fit, uint8[n, size of a record].

        Raises ValueError where a value is not hex.
        """
        digits = np.full((len(objects), self.digits), _FILLER, np.uint8)
        for one in self.segments:
            digits[:, one.to : one.to + one.end - one.start] = objects[:, one.start : one.end]
        raw = np.frombuffer(binascii.unhexlify(digits.data), np.uint8)
        size = RecordPlaces.of(self.shape).size
        return raw.reshape(len(objects), self.digits // 2)[:, :size]


def padded(width: int) -> int:
    """Return the size in bytes at which objects of this length are compared: whole 64-bit words."""
    return _rounded_up(width)


def group_of_records(
    records: ByteArray, position: IndexArray, shape: LogShape, *, has_time: bool
) -> LogGroup:
    """Return decoded records as a group; its columns are views of `records`, which must be
    contiguous.

    Raises ValueError for a number that is too large.
    """
    at = RecordPlaces.of(shape)
    count = len(records)
    indexed = max(shape.topics - 1, 0)
    time_s = _number(records, at.time_s, most=MOST_TIME_S).astype(np.int64)
    return LogGroup(
        shape=shape,
        position=position,
        block_number=_number(records, at.block_number, most=MOST_BLOCK_NUMBER).astype(np.int64),
        log_index=_number(records, at.log_index, most=MOST_LOG_INDEX).astype(np.int32),
        time_s=time_s if has_time else np.full(count, NO_TIME, np.int64),
        block_hash=records[:, at.block_hash : at.block_hash + HASH_BYTES],
        tx_hash=records[:, at.tx_hash : at.tx_hash + HASH_BYTES],
        address=records[:, at.address : at.address + ADDRESS_BYTES],
        topics=records[:, : at.data].reshape(count, indexed, HASH_BYTES),
        data=records[:, at.data : at.data + shape.data_size],
    )


def _number(records: ByteArray, at: int, *, most: int) -> Uint64Array:
    kind: Literal[">u8"] = ">u8"
    numbers = records[:, at : at + NUMBER_BYTES].view(kind).ravel().astype(np.uint64)
    if (numbers > most).any():
        message = f"a number is above {most}"
        raise ValueError(message)
    return numbers


def _rounded_up(size: int) -> int:
    return -(-size // _ALIGNED) * _ALIGNED
