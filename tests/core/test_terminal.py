"""Protects terminals: foreign text is shown and never obeyed."""

import io
import json
from typing import Any

import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st

from config.log import configure_log
from core.process.terminal import printable, takes_colours

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
