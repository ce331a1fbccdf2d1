"""Protects the card of a token at a terminal: the worst first, and nothing obeyed."""

import csv
import io
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from api.formats.rendering import FORMATS, render_report
from api.formats.token_snapshot import TokenSnapshot, take_snapshot
from api.pages.views.token_view import TokenView, view_token
from assay.commands import token_commands
from assay.commands.runs.csv_row import csv_of
from assay.commands.runs.token_card import make_card, more_of
from core.report.report import Report
from tests.harness.api.sample_reports import CLOCK, LIQUID_USD, make_pool, make_report, reports
from tests.harness.api.world import make_chain
from tests.harness.examples import one_in

NASTY = "\x1b]0;owned\x07\x9b2J\u202e[red]x[/y]\n=1+1"
CHAIN = make_chain(1, "ethereum", "eth")


def snapshot_of(report: Report) -> TokenSnapshot:
    return take_snapshot(
        report, CHAIN, now_s=report.token.scanned_at_s, liquid_above_usd=LIQUID_USD, clock=CLOCK
    )


def view_of(report: Report) -> TokenView:
    return view_token(snapshot_of(report), now_s=report.token.scanned_at_s)


def shown(view: TokenView, *, width: int = 100, coloured: bool = False) -> str:
    stream = io.StringIO()
    colours = "truecolor" if coloured else None
    console = Console(file=stream, width=width, color_system=colours, force_terminal=coloured)  # type: ignore[arg-type]  # one of the two words that it takes
    console.print(make_card(view))
    console.print(more_of(view), soft_wrap=True)
    return stream.getvalue()


def honeypot(**changes: Any) -> Report:
    pool = make_pool(sell="refused", sell_tax=None, error_message="sell: NO WAY")
    return make_report(pools=(pool,), **changes)


def test_what_is_wrong_stands_before_what_is_not_known_and_what_is_fine() -> None:
    view = view_of(honeypot())
    text = shown(view)
    parts = [view.head.headline, view.head.address, "Risks", "Unknown", "Passed", "Pools"]
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    assert view.head.verdict_words in text
    assert "NO WAY" in text
    for line in (*view.findings.wrong, *view.findings.known):
        assert line.text in text
    assert f"assay scan eth {view.head.address} --format evidence\n" in text


def test_what_is_fine_is_listed_where_nothing_is_wrong_and_counted_where_something_is() -> None:
    view = view_of(honeypot())
    assert view.findings.fine[0].text not in shown(view)
    counted = sum(line.checks for line in view.findings.fine)
    assert f"{counted} checks; --format summary lists them" in shown(view)
    findings = msgspec.structs.replace(view.findings, wrong=())
    unharmed = shown(msgspec.structs.replace(view, findings=findings))
    assert all(line.text in unharmed for line in view.findings.fine)


@settings(max_examples=one_in(4))
@given(reports(), st.sampled_from([40, 80, 100]))
def test_no_report_breaks_the_card(report: Report, width: int) -> None:
    text = shown(view_of(report), width=width)
    assert all(line.isprintable() for line in text.split("\n"))
    *card, _, _ = text.rstrip("\n").split("\n")
    assert max(map(len, card)) <= width


@pytest.mark.parametrize("coloured", [False, True])
def test_a_hostile_name_is_shown_and_not_obeyed(coloured: bool) -> None:
    report = honeypot(name=NASTY, symbol=NASTY)
    text = shown(view_of(report), coloured=coloured)
    assert r"\u001b]0;owned\u0007" in text
    assert "[red]" in text
    for sequence in ("\x1b]", "\x07", "\x9b", "\u202e"):
        assert sequence not in text
    assert ("\x1b[" in text) is coloured


@settings(max_examples=one_in(4))
@given(reports(), st.sampled_from(FORMATS))
def test_csv_is_one_row_that_says_what_the_json_says(report: Report, form: Any) -> None:
    body = render_report(snapshot_of(report), form)
    answer = msgspec.json.decode(body)
    flat = {**answer, **(answer.pop("features", None) or {})}
    flat.pop("features", None)
    (row,) = csv.DictReader(io.StringIO(csv_of(body)))
    assert set(row) == set(flat)
    for key, value in flat.items():
        if value is None:
            assert row[key] == ""
        elif not isinstance(value, str):
            assert msgspec.json.decode(row[key]) == value


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@x", "plain", NASTY])
def test_no_name_is_a_formula_or_a_command(name: str) -> None:
    report = make_report(name=name)
    text = csv_of(render_report(snapshot_of(report), "native"))
    assert all(line.isprintable() for line in text.splitlines())
    (row,) = csv.DictReader(io.StringIO(text))
    assert row["name"][0] not in "=+-@"
    assert name[-3:] in row["name"]


def test_the_command_knows_every_format() -> None:
    assert token_commands.FORMATS == FORMATS
