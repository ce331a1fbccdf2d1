"""Protects the names on a page: nothing in them is hidden, nothing honest is changed."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text.visible_text import has_hidden, visible, visible_parts


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Tether USD", "Tether USD"),
        ("Caf\u00e9 \u72d7\u5e01 \u0441\u043e\u0431\u0430\u043a\u0430 \U0001f436", None),
        ("USD\u202eCT", "USD[U+202E]CT"),
        ("US\u200bDT", "US[U+200B]DT"),
        ("US\u00adDT", "US[U+00AD]DT"),
        ("a\u00a0b\u3000c", "a[U+00A0]b[U+3000]c"),
        ("\u3164", "[U+3164]"),
        ("\u2800", "[U+2800]"),
        ("a\nb\x1b[31m", "a[U+000A]b[U+001B][31m"),
        ("\U000e0041", "[U+E0041]"),
        ("\ufe0f", "[U+FE0F]"),
        ("\ud800", "[U+D800]"),
        ("e\u0301\u0302", None),
        ("e\u0301\u0302\u0303\u0304", "e\u0301\u0302[U+0303][U+0304]"),
    ],
)
def test_hidden_characters_become_marks(text: str, shown: str | None) -> None:
    assert visible(text) == (text if shown is None else shown)
    assert has_hidden(text) == (shown is not None and shown != text)


def test_a_mark_says_what_the_character_is_called() -> None:
    before, mark, after = visible_parts("a\u202eb")
    assert (before.text, after.text) == ("a", "b")
    assert (mark.text, mark.hidden_name) == ("U+202E", "RIGHT-TO-LEFT OVERRIDE")


@given(st.text())
def test_nothing_is_lost_and_nothing_hidden_is_left(text: str) -> None:
    parts = visible_parts(text)
    plain = (
        part.text if part.hidden_name is None else chr(int(part.text[2:], 16)) for part in parts
    )
    assert "".join(plain) == text
    shown = "".join(part.text for part in parts)
    hidden = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
    assert not hidden & {unicodedata.category(char) for char in shown}
