"""ABI words as column expressions: hex text in, addresses and small numbers out.

Source: Solidity ABI specification, "Formal Specification of the Encoding" and "Events".
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
"""uint24 and uint32 both fit; so does every fee."""


class WordPlace(msgspec.Struct, frozen=True):
    """Where an event keeps one argument."""

    source: Literal["topic", "word"]
    index: int
    """Topics count from 0, the event's own hash; words are those of the data."""
    low_bit: int | None = None
    """First bit of a value packed among others in its word. None: the word is its own."""

    def text(self) -> pl.Expr:
        """The word as 64 hex digits."""
        if self.source == "topic":
            return pl.col(f"topic{self.index}").str.slice(_PREFIX_CHARS, _WORD_CHARS)
        return pl.col("data").str.slice(_PREFIX_CHARS + _WORD_CHARS * self.index, _WORD_CHARS)


def topic(index: int) -> WordPlace:
    """An indexed argument."""
    return WordPlace("topic", index)


def word(index: int) -> WordPlace:
    """An argument in the data."""
    return WordPlace("word", index)


def has_shape(*, topics: int, words: int) -> pl.Expr:
    """Whether a log has exactly this many topics and words of data."""
    return (pl.col("topic_count") == topics) & (
        pl.col("data").str.len_bytes() == _PREFIX_CHARS + _WORD_CHARS * words
    )


def has_words(words: int, *, is_open: bool) -> pl.Expr:
    """Whether a log's data is so many words; whole words, at least so many, where it is open."""
    digits = pl.col("data").str.len_bytes() - _PREFIX_CHARS
    if not is_open:
        return digits == _WORD_CHARS * words
    return (digits >= _WORD_CHARS * words) & (digits % _WORD_CHARS == 0)


def to_address(place: WordPlace) -> pl.Expr:
    """The address in a word, as 0x text."""
    return pl.lit("0x") + place.text().str.slice(_WORD_CHARS - _ADDRESS_CHARS)


def is_address(place: WordPlace) -> pl.Expr:
    """Whether the word can be an address: twelve zero bytes in front."""
    return _is_zero(place.text().str.slice(0, _WORD_CHARS - _ADDRESS_CHARS))


def to_hash(place: WordPlace) -> pl.Expr:
    """All 32 bytes, as 0x text."""
    return pl.lit("0x") + place.text()


def to_small(place: WordPlace) -> pl.Expr:
    """An unsigned number of at most 32 bits."""
    low = place.text().str.slice(_WORD_CHARS - _SMALL_CHARS)
    return low.str.to_integer(base=16, dtype=pl.Int64, strict=False)


def is_small(place: WordPlace) -> pl.Expr:
    """Whether the word holds no more than 32 bits."""
    return _is_zero(place.text().str.slice(0, _WORD_CHARS - _SMALL_CHARS))


def to_tick(place: WordPlace) -> pl.Expr:
    """A signed number of 24 bits."""
    start = _WORD_CHARS - _TICK_CHARS - (place.low_bit or 0) // 4
    low = place.text().str.slice(start, _TICK_CHARS)
    value = low.str.to_integer(base=16, dtype=pl.Int64, strict=False)
    return pl.when(value < _TICK_RANGE // 2).then(value).otherwise(value - _TICK_RANGE)


def is_tick(place: WordPlace) -> pl.Expr:
    """Whether the word is a sign-extended number of 24 bits; a packed one always is."""
    if place.low_bit is not None:
        return pl.lit(value=True)
    extension = place.text().str.slice(0, _WORD_CHARS - _TICK_CHARS)
    negative = to_tick(place) < 0
    return (
        pl.when(negative).then(extension.str.strip_chars("f") == "").otherwise(_is_zero(extension))
    )


def to_flag(place: WordPlace) -> pl.Expr:
    """A boolean."""
    return place.text().str.ends_with("1")


def is_flag(place: WordPlace) -> pl.Expr:
    """Whether the word is 0 or 1."""
    low = place.text().str.slice(_WORD_CHARS - 1).is_in(["0", "1"])
    return _is_zero(place.text().str.slice(0, _WORD_CHARS - 1)) & low


def _is_zero(digits: pl.Expr) -> pl.Expr:
    return digits.str.strip_chars("0") == ""
