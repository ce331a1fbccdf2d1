"""ABI words as column expressions: hex text in, addresses and small numbers out.

A `to_*` expression decodes a word and assumes that the matching `is_*` expression is true. Source:
Solidity ABI specification, "Formal Specification of the Encoding" and "Events".
"""

from typing import Literal

import msgspec
import polars as pl

_WORD_CHARS = 64
_PREFIX_CHARS = 2
_ADDRESS_CHARS = 40
_TICK_CHARS = 6
_TICK_RANGE = 1 << 24
_SMALL_CHARS = 8
"""Hex digits of 32 bits: enough for uint24, uint32 and every fee."""


class WordPlace(msgspec.Struct, frozen=True):
    """Place of one argument in an event."""

    source: Literal["topic", "word"]
    index: int
    """Index of the topic, where 0 is the event's own hash, or of the word of data."""
    low_bit: int | None = None
    """First bit of a value packed among others in its word. None: the value has the word for
    itself."""

    def text(self) -> pl.Expr:
        """Return the word as 64 hex digits."""
        if self.source == "topic":
            return pl.col(f"topic{self.index}").str.slice(_PREFIX_CHARS, _WORD_CHARS)
        return pl.col("data").str.slice(_PREFIX_CHARS + _WORD_CHARS * self.index, _WORD_CHARS)


def topic(index: int) -> WordPlace:
    """Return the place of an indexed argument."""
    return WordPlace("topic", index)


def word(index: int) -> WordPlace:
    """Return the place of an argument in the data."""
    return WordPlace("word", index)


def has_shape(*, topics: int, words: int) -> pl.Expr:
    """True if a log has exactly this many topics and words of data."""
    return (pl.col("topic_count") == topics) & (
        pl.col("data").str.len_bytes() == _PREFIX_CHARS + _WORD_CHARS * words
    )


def has_words(words: int, *, is_open: bool) -> pl.Expr:
    """True if a log's data has exactly `words` words; with `is_open`, whole words and at least so
    many."""
    digits = pl.col("data").str.len_bytes() - _PREFIX_CHARS
    if not is_open:
        return digits == _WORD_CHARS * words
    return (digits >= _WORD_CHARS * words) & (digits % _WORD_CHARS == 0)


def to_address(place: WordPlace) -> pl.Expr:
    """Return the address in a word, as 0x text."""
    return pl.lit("0x") + place.text().str.slice(_WORD_CHARS - _ADDRESS_CHARS)


def is_address(place: WordPlace) -> pl.Expr:
    """True if the word can be an address: its first twelve bytes are zero."""
    return _is_zero(place.text().str.slice(0, _WORD_CHARS - _ADDRESS_CHARS))


def to_hash(place: WordPlace) -> pl.Expr:
    """Return all 32 bytes, as 0x text."""
    return pl.lit("0x") + place.text()


def to_small(place: WordPlace) -> pl.Expr:
    """Return an unsigned number of at most 32 bits."""
    low = place.text().str.slice(_WORD_CHARS - _SMALL_CHARS)
    return low.str.to_integer(base=16, dtype=pl.Int64, strict=False)


def is_small(place: WordPlace) -> pl.Expr:
    """True if the word holds no more than 32 bits."""
    return _is_zero(place.text().str.slice(0, _WORD_CHARS - _SMALL_CHARS))


def to_tick(place: WordPlace) -> pl.Expr:
    """Return a signed number of 24 bits."""
    start = _WORD_CHARS - _TICK_CHARS - (place.low_bit or 0) // 4
    low = place.text().str.slice(start, _TICK_CHARS)
    value = low.str.to_integer(base=16, dtype=pl.Int64, strict=False)
    return pl.when(value < _TICK_RANGE // 2).then(value).otherwise(value - _TICK_RANGE)


def is_tick(place: WordPlace) -> pl.Expr:
    """True if the word is a sign-extended number of 24 bits; a packed one always is."""
    if place.low_bit is not None:
        return pl.lit(value=True)
    extension = place.text().str.slice(0, _WORD_CHARS - _TICK_CHARS)
    negative = to_tick(place) < 0
    return (
        pl.when(negative).then(extension.str.strip_chars("f") == "").otherwise(_is_zero(extension))
    )


def to_flag(place: WordPlace) -> pl.Expr:
    """Return the word as a boolean."""
    return place.text().str.ends_with("1")


def is_flag(place: WordPlace) -> pl.Expr:
    """True if the word is 0 or 1."""
    low = place.text().str.slice(_WORD_CHARS - 1).is_in(["0", "1"])
    return _is_zero(place.text().str.slice(0, _WORD_CHARS - 1)) & low


def _is_zero(digits: pl.Expr) -> pl.Expr:
    return digits.str.strip_chars("0") == ""
