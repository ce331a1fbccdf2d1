"""Text from a chain, split so that characters without a visible shape can be shown as marks.

Names may hold controls that change the direction of the text after them, spaces of no width, and
fillers that look like nothing. A page that prints them as they are shows another name than the
token has.
"""

import unicodedata
from collections.abc import Iterator
from itertools import groupby

import msgspec

_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})

_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Characters that are letters or symbols by their category, and drawn as nothing.

Source: Default_Ignorable_Code_Point in Unicode's DerivedCoreProperties.txt; U+2800 is the empty
Braille pattern.
"""

_VARIATION_SELECTORS = (range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0))

_EMOJI_SELECTORS = "\ufe0e\ufe0f"
"""Selectors that choose between the plain and the coloured shape of a symbol."""

_MOST_MARKS_ON_ONE = 2
"""Combining marks shown on one letter: more of them grow over the lines above and below."""


class TextPart(msgspec.Struct, frozen=True, kw_only=True):
    """A run of text as it is, or one hidden character."""

    text: str
    """Code point of a hidden character, as U+202E."""
    hidden_name: str | None = None
    """The Unicode name of a hidden character, empty if it has none. None: the text is as it is."""


def visible_parts(text: str) -> list[TextPart]:
    """Return the parts of a text, in order; of a text without hidden characters itself alone."""
    if text.isascii() and text.isprintable():
        return [TextPart(text=text)]
    parts: list[TextPart] = []
    for is_hidden, run in groupby(_flagged(text), key=lambda pair: pair[1]):
        chars = [char for char, _ in run]
        parts += map(_mark, chars) if is_hidden else [TextPart(text="".join(chars))]
    return parts


def has_hidden(text: str) -> bool:
    """True if a character of the text would be drawn as nothing or move what is around it."""
    return any(part.hidden_name is not None for part in visible_parts(text))


def has_concealed(text: str, *, allowed: str = "") -> bool:
    """True if a character carries text that a reader does not see, or moves the text around it.

    Those of `allowed` do not count, and neither do wide spaces, combining marks and the selectors
    of emoji: honest sentences have them.
    """
    return any(_is_concealed(char) for char in text if char not in allowed)


def visible(text: str) -> str:
    """Return the text with each hidden character replaced by its code point in brackets."""
    return "".join(
        part.text if part.hidden_name is None else f"[{part.text}]" for part in visible_parts(text)
    )


def _flagged(text: str) -> Iterator[tuple[str, bool]]:
    marks = 0
    for char in text:
        marks = marks + 1 if unicodedata.combining(char) else 0
        yield char, marks > _MOST_MARKS_ON_ONE or _is_hidden(char)


def _is_hidden(char: str) -> bool:
    category = unicodedata.category(char)
    is_odd_space = category == "Zs" and char != " "
    is_selector = any(ord(char) in selectors for selectors in _VARIATION_SELECTORS)
    return category in _HIDDEN_CATEGORIES or is_odd_space or char in _BLANK or is_selector


def _is_concealed(char: str) -> bool:
    is_selector = any(ord(char) in selectors for selectors in _VARIATION_SELECTORS)
    return (
        unicodedata.category(char) in _HIDDEN_CATEGORIES
        or char in _BLANK
        or (is_selector and char not in _EMOJI_SELECTORS)
    )


def _mark(char: str) -> TextPart:
    return TextPart(text=f"U+{ord(char):04X}", hidden_name=unicodedata.name(char, ""))
