"""Protects clients of compat: each row of the mapping, checked on the JSON alone.

The rules are written here a second time, from the specification, over the answers in both formats;
nothing of the mapping code is used.
"""

from collections.abc import Callable
from decimal import Decimal
from typing import Any, get_args, get_type_hints

import msgspec
import pytest
from hypothesis import given, settings

from analysis.token.timebomb_status import TimebombState as TimebombStatus
from api.formats.native.compat import render_compat
from api.formats.native.native import render_native
from api.formats.native.shapes import Deadline, Envelope
from api.formats.summary.flags import Status
from api.formats.summary.summary import VERDICTS, Verdict, render_summary
from core.report.report import Report
from tests.harness.api.sample_reports import CLOCK, LIQUID_USD, TOKEN_SHOWN, reports
from tests.harness.api.specified_fields import MAPPING, TABLES, VALUES
from tests.harness.examples import one_in

Sent = dict[str, Any]


def both(report: Report) -> tuple[Sent, Sent]:
    """The features as sent in either format."""
    native = render_native(report, clock=CLOCK, liquid_above_usd=LIQUID_USD)
    shapes = (native, render_compat(report, native))
    one, other = (msgspec.json.decode(msgspec.json.encode(shape)) for shape in shapes)
    return one, other


def as_text(value: Any) -> Any:
    """Write a boolean as a digit, text as it is, a pending answer as null."""
    if isinstance(value, bool):
        return str(int(value))
    return None if value == "pending" else value


def is_number(text: Any, value: float | None) -> bool:
    """The text is the number, without exponent, sign or needless digits."""
    if value is None or text is None:
        return text is value
    whole, _, fraction = text.partition(".")
    is_short = not fraction.endswith("0") and (text == whole or fraction != "")
    return float(text) == value and is_short and (whole + fraction).isdecimal()


def same(text: Any, native: Sent, field: str) -> bool:
    return bool(text == as_text(native.get(field)))


def percent(text: Any, native: Sent, field: str) -> bool:
    return is_number(text, native[field])


def pools(text: Any, native: Sent, field: str) -> bool:
    side = {"receive_tax": "buy_tax", "send_tax": "sell_tax"}[field]
    reported = [pool[side] for pool in native["dex"] if isinstance(pool[side], int | float)]
    return is_number(text, reported[0] if reported else native[field])


def either(text: Any, native: Sent, *fields: str) -> bool:
    values = [native[field] for field in fields]
    if True in values:
        return bool(text == "1")
    return bool(text == ("0" if values == [False, False] else None))


def named(text: Any, native: Sent, bypass: str, spenders: str) -> bool:
    expected = {None: None, False: "0", True: "1" if native[spenders] else "0"}
    return bool(text == expected[native[bypass]])


def null(text: Any, _: Sent) -> bool:
    return text is None


def extra(text: Any, _: Sent) -> bool:
    return text is not None


RULES: dict[str, Callable[..., bool]] = {
    rule.__name__: rule for rule in (same, percent, pools, either, named, null, extra)
}


def test_every_compat_field_is_a_row() -> None:
    assert set(MAPPING) == set(TABLES["compat"])


@settings(max_examples=one_in(2))
@given(reports())
def test_each_row_of_the_mapping(report: Report) -> None:
    native, compat = both(report)
    for field, (rule, *reads) in MAPPING.items():
        assert RULES[rule](compat[field], native, *reads), (field, compat[field], reads)


@settings(max_examples=one_in(2))
@given(reports())
def test_supply_and_holders_keep_every_digit(report: Report) -> None:
    native, compat = both(report)
    unit = 10**report.token.decimals
    top = sorted((h for h in report.holders if h.role == "top"), key=lambda h: h.ordinal)[:10]
    shown = [(compat["total_supply"], report.token.supply_raw)]
    shown += [
        (sent["balance"], h.amount_raw) for sent, h in zip(compat["holders"], top, strict=True)
    ]
    for text, raw in shown:
        whole, _, fraction = text.partition(".")
        assert int(whole) * unit + int(fraction.ljust(report.token.decimals, "0") or 0) == raw
    assert [h["address"] for h in compat["holders"]] == [
        h["owner_address"] for h in native["top_holders"]
    ]
    for sent, holder in zip(compat["holders"], native["top_holders"], strict=True):
        share = Decimal(sent["percent"]) * 100
        assert float(share) == pytest.approx(holder["pct_held"], rel=1e-12, abs=1e-300)


@settings(max_examples=one_in(2))
@given(reports())
def test_text_of_a_closed_set_is_of_that_set(report: Report) -> None:
    native, _ = both(report)
    rendered = render_native(report, clock=CLOCK, liquid_above_usd=LIQUID_USD)
    summary = render_summary(
        report, rendered, chain="ethereum", address=TOKEN_SHOWN, liquid_above_usd=LIQUID_USD
    )
    assert str(native["timebomb_status"] or "null") in VALUES["timebomb_status"]
    for deadline in native["timebomb_deadlines"]:
        assert deadline["source"] in VALUES["source"]
        assert deadline["clock"] in VALUES["clock"]
        assert (deadline["slot"] is None) is (deadline["source"] == "constant")
    assert summary.verdict in VALUES["verdict"]
    assert set(summary.verdict_reasons) <= set(VALUES["verdict_reasons"])
    assert {flag.status for flag in summary.flags} <= set(VALUES["status"])


@settings(max_examples=one_in(2))
@given(reports())
def test_pending_stands_only_where_it_may(report: Report) -> None:
    native, _ = both(report)
    may = {name for name, kinds in TABLES["native"].items() if "pending" in kinds}
    assert {name for name, value in native.items() if value == "pending"} <= may
    in_pools = {
        name for pool in native["dex"] for name, value in pool.items() if value == "pending"
    }
    assert in_pools <= {"buy_success", "buy_tax", "sell_success", "sell_tax"}
    for pool in native["dex"]:
        for side in ("buy", "sell"):
            is_waiting = pool[f"{side}_success"] == "pending"
            assert is_waiting is (pool[f"{side}_tax"] == "pending")


def test_the_document_names_the_same_sets() -> None:
    def named_in(kind: Any) -> set[str]:
        return {value for value in get_args(kind) if isinstance(value, str)}

    closed = {name: set(values) - {"null"} for name, values in VALUES.items()}
    deadline = get_type_hints(Deadline)
    assert named_in(deadline["source"]) == closed["source"]
    assert named_in(deadline["clock"]) == closed["clock"]
    assert named_in(Verdict) == closed["verdict"]
    assert list(VERDICTS) == VALUES["verdict_reasons"]
    assert list(get_args(Status)) == VALUES["status"]
    source = get_args(get_type_hints(Envelope)["price_source"])[0]
    assert named_in(source) == closed["price_source"]
    assert named_in(TimebombStatus) == closed["timebomb_status"]
