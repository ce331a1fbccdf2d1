"""Protects readers of names: look-alikes are found, and a terminal shows and never obeys."""

import io
import json
import unicodedata
from typing import Any

import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st

from config.log import configure_log
from core.process.terminal import printable, takes_colours
from core.text.look_alikes import MOST_CHARS, skeleton, skeleton_words
from core.text.visible_text import has_hidden, visible, visible_parts

ALIKE = [
    ("USDT", "usdt"),
    ("USDT", "USD\u0422"),  # Cyrillic
    ("USDT", "\uff35\uff33\uff24\uff34"),  # full width
    ("USDT", "US\u200bDT"),  # a space of no width
    ("USDT", "\u202eUSDT\u202c"),
    ("USDT", "U.S.D.T"),
    ("USDT", "$USDT"),
    ("USDT", "USD\u20ae"),
    ("USDT", "U\u1e61\u1e0b\u1e6b"),  # accents
    ("WETH", "W\u039eTH"),
    ("PEPE", "\u0420\u0435\u0440\u0435"),
    ("BINANCE", "BlNANCE"),  # a small l
    ("BINANCE", "\u0392\u0399\u039d\u0391\u039dCE"),  # Greek
    ("USDC.e", "usdce"),
    ("ONDO", "0ND0"),
    ("\U0001d54c\U0001d54a\U0001d53b\U0001d54b", "USDT"),  # mathematical letters
]

DIFFERENT = [
    ("USDT", "USDC"),
    ("USDT", "USDT0"),
    ("ETH", "WETH"),
    ("PEPE", "PEPE2"),
    ("\U0001f438", "\U0001f436"),  # a frog, a dog
    ("\u72d7\u5e01", "\u732b\u5e01"),  # dog coin, cat coin
]


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_what_looks_alike_has_one_skeleton(one: str, other: str) -> None:
    assert skeleton(one) == skeleton(other) != ""


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_what_looks_different_does_not(one: str, other: str) -> None:
    assert skeleton(one) != skeleton(other)
    assert skeleton(one) != ""


def test_words_are_parted_where_people_part_them() -> None:
    assert skeleton_words("Shiba-Inu_Token/v2  \u00a0x") == ["shlba", "lnu", "token", "v2", "x"]


@pytest.mark.parametrize("text", ["", " ", "...", "\u202e", "\u200b\u200d", "$"])
def test_a_text_of_nothing_has_none(text: str) -> None:
    assert skeleton_words(text) == []


HIDDEN = st.text("\u200b\u200c\u200d\u202a\u202e\u2066\u2069\u00ad\ufeff\u0301", max_size=3)


@given(st.text("abcXYZ019 -", min_size=1, max_size=20), st.data())
def test_hidden_characters_and_case_change_nothing(text: str, data: st.DataObject) -> None:
    disguised = "".join(data.draw(HIDDEN) + char.swapcase() for char in text)
    assert skeleton_words(disguised[:MOST_CHARS]) == skeleton_words(text) or (
        len(disguised) > MOST_CHARS
    )


@given(st.text(max_size=50))
def test_any_text_has_a_skeleton_without_hidden_characters_or_line_ends(text: str) -> None:
    found = skeleton(text)
    assert found.isprintable() or all(char.isprintable() or ord(char) > 127 for char in found)
    assert len(found.splitlines()) <= 1
    assert "\x00" not in found


def test_a_name_of_any_length_costs_as_much_as_its_beginning() -> None:
    assert len(skeleton("\ufdfa" * 1_000_000)) <= 18 * MOST_CHARS


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


# --- terminal -----------------------------------------------------------------------------------

ESCAPES = [
    ("plain, äöü 漢字 €", "plain, äöü 漢字 €"),
    ("\x1b[31mred\x1b[0m", r"\u001b[31mred\u001b[0m"),
    ("\x1b]0;title\x07", r"\u001b]0;title\u0007"),
    ("two\r\nlines\ttab", r"two\u000d\u000alines\u0009tab"),
    ("\x7f\x9b31m", r"\u007f\u009b31m"),
    ("\u202egnp.exe", r"\u202egnp.exe"),
    ("\u2028\u200b\ufeff", r"\u2028\u200b\ufeff"),
    ("\U000e0041\ud800", r"\udb40\udc41\ud800"),
]


@pytest.mark.parametrize(("text", "shown"), ESCAPES)
def test_what_does_not_print_is_named(text: str, shown: str) -> None:
    assert printable(text) == shown


@given(st.text())
def test_all_that_is_shown_prints(text: str) -> None:
    assert printable(text).isprintable()


@given(st.recursive(st.text() | st.integers() | st.none(), st.lists))
def test_json_stays_the_same_json(value: Any) -> None:
    assert json.loads(printable(json.dumps(value, ensure_ascii=False))) == value


@pytest.mark.parametrize(
    ("is_terminal", "env", "coloured"),
    [
        (True, {}, True),
        (True, {"TERM": "xterm"}, True),
        (True, {"NO_COLOR": ""}, True),
        (True, {"NO_COLOR": "1"}, False),
        (True, {"TERM": "dumb"}, False),
        (False, {}, False),
        (False, {"TERM": "xterm"}, False),
    ],
)
def test_only_a_terminal_that_wants_them_gets_colours(
    is_terminal: bool, env: dict[str, str], coloured: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: is_terminal)
    assert takes_colours(stream, env) is coloured


def fail() -> None:
    raise ValueError("\x1b[5mblink")


def test_the_log_shows_what_a_node_says_and_does_not_obey(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stderr = io.StringIO()
    monkeypatch.setattr("sys.stderr", stderr)
    configure_log()
    try:
        log = structlog.get_logger()
        log.error("node said", reason="\x1b]0;owned\x07", values=["\x1b[2J"])
        try:
            fail()
        except ValueError:
            log.exception("failed")
    finally:
        structlog.reset_defaults()
    said = stderr.getvalue()
    for sequence in ("\x1b]", "\x07", "\x1b[2J", "\x1b[5m"):
        assert sequence not in said
    assert r"\u001b[5mblink" in said
    assert "in fail" in said
    assert all(line.isprintable() for line in said.splitlines())
