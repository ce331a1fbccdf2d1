"""Protects the table of powers on the page of a token: holders by name, the harmful first."""

import msgspec

from api.formats.token_snapshot import take_snapshot
from api.pages.page_rendering import page
from api.pages.views.token_view import TokenView, view_token
from core.evm.primitives import Address, checksum
from core.report.report import Report
from tests.harness.api.sample_reports import (
    LIQUID_USD,
    MINED_AT_S,
    OWNER,
    OWNER_SHOWN,
    make_power,
    make_report,
)
from tests.harness.api.world import make_chain

DEAD_MINT = make_power(
    check="mint_or_burn_function", what="mint", holder_kind="nobody", holder=None
)
EXPLORER = "https://explorer.example"
OTHER = Address("0x" + "12" * 20)
FOLDED = '<details class="group">\n<summary><h3>None of these powers can hurt'


def view(report: Report) -> TokenView:
    chain = msgspec.structs.replace(make_chain(1, "ethereum"), explorer=EXPLORER)
    snapshot = take_snapshot(report, chain, now_s=MINED_AT_S, liquid_above_usd=LIQUID_USD)
    return view_token(snapshot, now_s=MINED_AT_S)


def html_of(report: Report) -> str:
    response = page(
        "token.html",
        token=view(report),
        likeness=None,
        old_because=None,
        card_url="",
        visitor=None,
    )
    return str(response.content)


def test_the_harmful_come_first_with_their_holder() -> None:
    multisig = make_power(
        check="tax_can_be_modified",
        what="tax",
        holder_kind="multisig",
        holder=OTHER,
        detail="3 of 5",
    )
    report = make_report(powers=(DEAD_MINT, multisig, make_power()))
    table = view(report).powers
    assert table is not None
    assert [(line.what, line.holder, line.bound, line.is_harmful) for line in table.lines] == [
        ("Pause all transfers", "one wallet", "", True),
        ("Create tokens", "nobody any more", "", False),
        ("Change the tax", "a multisig", "3 of 5", False),
    ]
    assert table.lines[0].address == OWNER_SHOWN
    text = html_of(report)
    assert FOLDED not in text
    assert f'<a class="address" href="{EXPLORER}/address/{checksum(OTHER)}"' in text
    assert text.rindex("Pause all transfers") < text.rindex("Create tokens")


def test_a_table_without_harm_is_folded() -> None:
    text = html_of(make_report(powers=(DEAD_MINT,)))
    assert FOLDED in text
    assert "Create tokens" in text


def test_no_power_is_said_only_where_all_code_was_followed() -> None:
    none = "Nobody has power over"
    assert none in html_of(make_report(powers=()))
    assert "Who can change what" not in html_of(make_report(powers=None))


def test_equal_rows_are_shown_once_and_many_are_counted() -> None:
    holders = [Address(f"0x{at:040x}") for at in range(60)]
    many = tuple(make_power(holder=holder) for holder in (*holders, *holders))
    table = view(make_report(powers=many)).powers
    assert table is not None
    assert (len(table.lines), table.lines_left_out) == (50, 10)
    assert "10 more are left out" in html_of(make_report(powers=many))


def test_every_text_is_escaped() -> None:
    hostile = make_power(detail="<script>alert(1)</script>", holder=OWNER)
    assert "<script>alert" not in html_of(make_report(powers=(hostile,)))
