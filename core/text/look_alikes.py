"""Skeletons of names: equal for texts that look alike, whatever characters they are made of.

Source: the algorithm of UTS 39, section 4, over the table in the package confusable-homoglyphs,
narrowed to what looks like ASCII letters and digits, and widened by letter case, accents and
punctuation, which people do not compare either. A skeleton is a key to compare by, never shown.
"""

import unicodedata
from functools import cache
from importlib.resources import files

import confusable_homoglyphs
import msgspec

MOST_CHARS = 200
"""Characters of a text that are looked at: contracts may return names of any length."""

_TABLE = files(confusable_homoglyphs) / "confusables.json"

_ALIKE_IN_ASCII = str.maketrans({"0": "o", "1": "l", "i": "l", "|": "l"})
"""After case folding, so that i stands for the capital I too."""

_CURRENCY_SIGNS = {ord("\u20ae"): "t", ord("\u039e"): "e", ord("\u03be"): "e"}
"""Signs that symbols spell Tether and Ether with; they look like no letter of the table."""

_SEPARATORS = frozenset("-_/")

_DROPPED = ("P", "C", "M", "Sk")
"""General categories that are no part of a skeleton: punctuation, controls and other characters
without a shape, accents, modifiers."""


class _Homoglyph(msgspec.Struct, frozen=True, gc=False):
    c: str


def skeleton_words(text: str) -> list[str]:
    """Return the skeletons of a text's words; none of a text without a letter, digit or symbol."""
    folded = _decomposed(_decomposed(text[:MOST_CHARS]).translate(_ascii_by_shape())).casefold()
    kept = "".join(_kept(char) for char in folded.translate(_ALIKE_IN_ASCII))
    return kept.split()


def skeleton(text: str) -> str:
    """Return the skeleton of a text as one word, by which symbols are compared. Empty as
    `skeleton_words`."""
    return "".join(skeleton_words(text))


def _decomposed(text: str) -> str:
    return unicodedata.normalize("NFKD", text)


def _kept(char: str) -> str:
    if char in _SEPARATORS or char.isspace() or unicodedata.category(char) == "Pd":
        return " "
    return "" if char == "$" or unicodedata.category(char).startswith(_DROPPED) else char


@cache
def _ascii_by_shape() -> dict[int, str]:
    """Return the ASCII letters and digits that each other character looks like."""
    table = msgspec.json.decode(_TABLE.read_bytes(), type=dict[str, list[_Homoglyph]])
    found = dict(_CURRENCY_SIGNS)
    for char, homoglyphs in table.items():
        if len(char) != 1 or char.isascii():
            continue
        texts = (one.c for one in homoglyphs if one.c.isascii())
        letters = ("".join(filter(str.isalnum, text)) for text in texts)
        shortest = min(filter(None, letters), key=lambda text: (len(text), text), default=None)
        if shortest is not None:
            found[ord(char)] = shortest
    return found
