"""Protects the contract with callers: every object of every answer, field by field and by type."""

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import given

from api.formats.native.compat import CompatFeatures, CompatHolder, render_compat
from api.formats.native.native import render_native
from api.formats.native.shapes import Deadline, Envelope, Holder, NativeFeatures, Pool
from api.formats.summary.flags import Flag
from api.formats.summary.power_checks import PowerShown
from api.formats.summary.record_shown import OutcomesShown, RecordedTrades, TrackRecordShown
from api.formats.summary.summary import DominantPool, Summary, render_summary
from api.routes.agent_keys import TrialKey
from core.report.report import Report
from tests.harness.api.sample_reports import CLOCK, LIQUID_USD, TOKEN_SHOWN, reports
from tests.harness.api.specified_fields import TABLES, check

STRUCTS: dict[str, type[msgspec.Struct]] = {
    "envelope": Envelope,
    "native": NativeFeatures,
    "pool": Pool,
    "holder": Holder,
    "deadline": Deadline,
    "compat": CompatFeatures,
    "compat_holder": CompatHolder,
    "summary": Summary,
    "flag": Flag,
    "dominant_pool": DominantPool,
    "power": PowerShown,
    "track_record": TrackRecordShown,
    "outcomes": OutcomesShown,
    "recorded_trades": RecordedTrades,
    "trial_key": TrialKey,
}


def sent_by(report: Report) -> Iterator[tuple[dict[str, Any], str]]:
    """Every object that any answer on the report holds, with its table."""
    rendered = render_native(report, clock=CLOCK, liquid_above_usd=LIQUID_USD)
    native = msgspec.json.decode(msgspec.json.encode(rendered))
    yield native, "native"
    for name, table in [
        ("dex", "pool"),
        ("top_holders", "holder"),
        ("burn_addresses", "holder"),
        ("timebomb_deadlines", "deadline"),
    ]:
        yield from ((item, table) for item in native[name])
    compat = msgspec.json.decode(msgspec.json.encode(render_compat(report, rendered)))
    yield compat, "compat"
    yield from ((item, "compat_holder") for item in compat["holders"])
    shown = render_summary(
        report, rendered, chain="ethereum", address=TOKEN_SHOWN, liquid_above_usd=LIQUID_USD
    )
    summary = msgspec.json.decode(msgspec.json.encode(shown))
    yield summary, "summary"
    yield from ((item, "flag") for item in (*summary["flags"], *summary["highlights"]))
    if summary["dominant_pool"]:
        yield summary["dominant_pool"], "dominant_pool"
    yield from ((power, "power") for power in summary["powers"])
    if record := summary["track_record"]:
        yield record, "track_record"
        yield from ((record[key], "recorded_trades") for key in ("total", "last_day"))


@pytest.mark.parametrize("table", TABLES)
def test_each_object_has_exactly_the_specified_keys(table: str) -> None:
    assert list(STRUCTS[table].__struct_encode_fields__) == list(TABLES[table])


@given(reports())
def test_every_report_is_sent_in_the_specified_types(report: Report) -> None:
    for sent, table in sent_by(report):
        check(sent, table)


@given(reports())
def test_one_key_may_be_absent_and_only_when_it_was_not_assessed(report: Report) -> None:
    sent = msgspec.json.decode(
        msgspec.json.encode(render_native(report, clock=CLOCK, liquid_above_usd=LIQUID_USD))
    )
    not_assessed = report.token.owner_can_change_balance is None
    assert set(TABLES["native"]) - set(sent) == (
        {"owner_can_change_balance"} if not_assessed else set()
    )
