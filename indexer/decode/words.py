"""ABI words as columns of bytes: addresses and small numbers out of uint8[n, 32].

A `to_*` function decodes words and requires that the matching `is_*` is true for them. Source:
Solidity ABI specification, "Formal Specification of the Encoding" and "Events".
"""

from typing import Literal

import msgspec
import numpy as np

from core.process.arrays import BoolArray, ByteArray, FloatArray, Int64Array, Uint64Array
from indexer.decode.hex_columns import to_numbers
from indexer.decode.log_columns import ADDRESS_BYTES, WORD_BYTES, LogGroup

_TICK_BYTES = 3
_TICK_RANGE = 1 << 24
_SMALL_BYTES = 4
"""Enough for uint24, uint32 and every fee."""
_LIMBS = 4
_LIMB_BITS = 64
_SIGN = 0x80


class WordPlace(msgspec.Struct, frozen=True):
    """Place of one argument in an event."""

    source: Literal["topic", "word"]
    index: int
    """Index of the topic, from 1, as 0 is the event's hash; or index of the data word."""
    low_bit: int | None = None
    """First bit of a value packed among others in its word. None: the value fills its word."""

    def of(self, group: LogGroup) -> ByteArray:
        """Return the argument's words, uint8[n, 32]. The logs must be long enough."""
        if self.source == "topic":
            return group.topics[:, self.index - 1]
        return group.data[:, WORD_BYTES * self.index : WORD_BYTES * (self.index + 1)]


def topic(index: int) -> WordPlace:
    """Return the place of an indexed argument."""
    return WordPlace("topic", index)


def word(index: int) -> WordPlace:
    """Return the place of an argument in the data."""
    return WordPlace("word", index)


def to_address(words: ByteArray) -> ByteArray:
    """Return the addresses in words, uint8[n, 20]."""
    return words[:, WORD_BYTES - ADDRESS_BYTES :]


def is_address(words: ByteArray) -> BoolArray:
    """True where the word can be an address: its first twelve bytes are zero."""
    return _is_zero(words[:, : WORD_BYTES - ADDRESS_BYTES])


def to_small(words: ByteArray) -> Int64Array:
    """Return unsigned numbers of at most 32 bits."""
    return to_numbers(words[:, WORD_BYTES - _SMALL_BYTES :])


def is_small(words: ByteArray) -> BoolArray:
    """True where the word holds no more than 32 bits."""
    return _is_zero(words[:, : WORD_BYTES - _SMALL_BYTES])


def is_byte(words: ByteArray) -> BoolArray:
    """True where the word holds no more than 8 bits."""
    return _is_zero(words[:, : WORD_BYTES - 1])


def to_tick(words: ByteArray, *, low_bit: int | None) -> Int64Array:
    """Return signed numbers of 24 bits, which begin at `low_bit` of the word."""
    end = WORD_BYTES - (low_bit or 0) // 8
    high, middle, low = (words[:, end - at].astype(np.int64) for at in (3, 2, 1))
    value = (high << 16) | (middle << 8) | low
    return np.where(value < _TICK_RANGE // 2, value, value - _TICK_RANGE)


def is_tick(words: ByteArray, *, low_bit: int | None) -> BoolArray:
    """True where the word is a sign-extended number of 24 bits; a packed one always is."""
    if low_bit is not None:
        return np.ones(len(words), np.bool_)
    sign = np.where(to_tick(words, low_bit=None) < 0, np.uint8(0xFF), np.uint8(0))
    extension = words[:, : WORD_BYTES - _TICK_BYTES]
    same: BoolArray = (extension == sign[:, None]).all(axis=1)
    return same


def to_flag(words: ByteArray) -> BoolArray:
    """Return the words as booleans."""
    flags: BoolArray = words[:, -1] == 1
    return flags


def is_flag(words: ByteArray) -> BoolArray:
    """True where the word is 0 or 1."""
    return _is_zero(words[:, :-1]) & (words[:, -1] <= 1)


def to_float(words: ByteArray) -> FloatArray:
    """Return unsigned words as 64-bit floats."""
    return _sum_of_limbs(_limbs(words))


def to_half_float(words: ByteArray, *, low_bit: int | None) -> FloatArray:
    """Return unsigned numbers of 128 bits, which begin at `low_bit` of the word, as 64-bit
    floats."""
    limbs = _limbs(words).reshape(-1, _LIMBS)
    end = _LIMBS - (low_bit or 0) // _LIMB_BITS
    high, low = (limbs[:, end - at].astype(np.float64) for at in (2, 1))
    return high * 2.0**_LIMB_BITS + low


def to_signed_float(words: ByteArray) -> FloatArray:
    """Return words in two's complement as 64-bit floats.

    A negative one is computed from its complement: a small one would lose all precision next to
    2**256.
    """
    limbs = _limbs(words)
    is_negative = words[:, 0] >= _SIGN
    return np.where(is_negative, -(_sum_of_limbs(~limbs) + 1), _sum_of_limbs(limbs))


def _limbs(words: ByteArray) -> Uint64Array:
    return np.ascontiguousarray(words).view(">u8").astype(np.uint64)


def _sum_of_limbs(limbs: Uint64Array) -> FloatArray:
    total = np.zeros(len(limbs))
    for at in range(_LIMBS):
        total += limbs[:, _LIMBS - 1 - at].astype(np.float64) * 2.0 ** (64 * at)
    return total


def _is_zero(part: ByteArray) -> BoolArray:
    """True where all bytes of a row are zero.

    Compared four bytes at a time where possible, and column by column: numpy is several times
    slower along short rows.
    """
    wide = part.view(np.uint32) if part.shape[1] % 4 == 0 else part
    bits = wide[:, 0].copy()
    for at in range(1, wide.shape[1]):
        bits |= wide[:, at]
    none: BoolArray = bits == 0
    return none
