"""Protects verdict and flags in SQL: they equal the API's answer at the time of the report."""

import re
from collections.abc import Sequence
from pathlib import Path

import httpx
import msgspec
import pytest
from hypothesis import HealthCheck, given, settings

from api.formats.stored_verdict import make_find_verdict, policy_of
from api.formats.summary.flags import CATALOGUE
from api.formats.summary.summary import Summary
from assay.service.record_report import NextRefresh, record_creator, record_report
from config.settings import AnalysisSettings
from core.errors import StoreError
from core.report.report import PoolResultRow, Report
from sql.engine.store import Store
from sql.reports import judgements
from sql.reports.judgements import put_missing_verdicts
from tests.harness.api.sample_reports import (
    LIQUID_USD,
    MINED_AT_S,
    OWNER,
    TOKEN,
    make_pool,
    make_report,
    reports,
)
from tests.harness.api.world import CHAINS, World
from tests.harness.examples import one_in
from tests.harness.store.reader_process import read_apart
from tests.harness.store.store_contents import read_rows

SETTINGS = AnalysisSettings(min_liquidity_usd=LIQUID_USD)
JUDGE = make_find_verdict(CHAINS, SETTINGS)
LATER = NextRefresh(worth=0, due_s=2**40)


def write(store: Store, report: Report) -> None:
    record_report(store, report, LATER, JUDGE(report))


async def answer(world: World, report: Report) -> Summary:
    """Return the answer of a fresh deployment in the second of the report."""
    world.analysis.outcome = report
    world.clock.now_s = float(report.token.scanned_at_s)
    headers = {"X-API-Key": world.new_key()}
    response = await world.client().get(f"/token/1/{report.token.address}/summary", headers=headers)
    assert response.status_code == httpx.codes.OK
    return msgspec.json.decode(response.content, type=Summary)


@settings(
    max_examples=one_in(4),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    deadline=None,
)
@given(report=reports())
async def test_sql_says_what_the_api_answered(
    world: World, world_store: Store, report: Report
) -> None:
    head = msgspec.structs.replace(report.token, chain_id=1, address=TOKEN)
    pools = None if report.pools is None else tuple(map(_placed, range(4), report.pools))
    report = msgspec.structs.replace(report, token=head, pools=pools)
    write(world_store, report)
    api_answer = await answer(world, report)
    columns = (
        "verdict, reasons, danger_flags, warning_flags, info_flags, notice_flags, passed_flags,"
        " unknown_flags, has_enough_liquidity, liquidity_usd, can_buy, can_sell, pools,"
        " buy_tax_pct, sell_tax_pct"
    )
    deepest = api_answer.dominant_pool
    assert read_apart(world_store, f"select {columns} from v_verdicts") == [  # noqa: S608
        (
            api_answer.verdict,
            " ".join(api_answer.verdict_reasons),
            api_answer.danger_flag_count,
            api_answer.warning_flag_count,
            api_answer.info_flag_count,
            api_answer.notice_flag_count,
            api_answer.passed_flag_count,
            api_answer.unknown_flag_count,
            api_answer.has_enough_liquidity,
            api_answer.total_liquidity_usd,
            api_answer.can_buy,
            api_answer.can_sell,
            api_answer.detected_pool_count,
            None if deepest is None else deepest.buy_tax,
            None if deepest is None else deepest.sell_tax,
        )
    ]
    expected = {flag.key: (flag.status, flag.value) for flag in api_answer.flags}
    found = read_apart(world_store, "select flag, status, value, label from v_flags")
    assert len(found) == len(expected)
    assert {str(key): (status, value) for key, status, value, _ in found} == expected
    labels = {flag.key: flag.label for flag in api_answer.flags}
    for key, status, _, label in found:
        if status in ("safe", "unknown"):  # SQL has the label of the finding
            continue
        note = labels[str(key)].removeprefix(str(label))
        assert note == "" or re.fullmatch(r" \(.+\)", note), "a note on the holder of a power"


def _placed(at: int, pool: PoolResultRow) -> PoolResultRow:
    return msgspec.structs.replace(pool, ordinal=at)


def test_a_flag_has_the_severity_of_the_catalogue(world_store: Store) -> None:
    write(world_store, make_report())
    found = dict(read_apart(world_store, "select flag, severity from v_flags"))
    assert found == {check.key: check.severity for check in CATALOGUE if check.key in found}
    assert len(found) == len(CATALOGUE) - 1, "one depends on a setting"


def test_a_report_on_a_chain_that_is_not_configured_is_not_judged(world_store: Store) -> None:
    write(world_store, make_report(chain_id=9))
    assert (
        read_apart(world_store, "select token from v_verdicts union all select token from v_flags")
        == []
    )


def test_a_creator_found_later_is_judged(world_store: Store) -> None:
    report = make_report(creator_address=None, creator_balance_raw=None)
    write(world_store, report)
    question = "select value from v_flags where flag = 'creator_holds_supply'"
    assert read_apart(world_store, question) == [(None,)]
    record_creator(
        world_store,
        chain_id=1,
        address=TOKEN,
        block_hash=report.token.block_hash,
        creator=OWNER,
        balance_raw=report.token.supply_raw,
        find_verdict=JUDGE,
    )
    assert read_apart(world_store, question) == [(True,)]


def fleet(count: int) -> list[Report]:
    """Make reports of different tokens, every other with a pool that refuses sales."""
    return [
        make_report(
            address=f"0x{number + 1:040x}",
            pools=(make_pool(sell="refused" if number % 2 else "passed"),),
        )
        for number in range(count)
    ]


def judged(store: Store) -> Sequence[tuple[object, ...]]:
    return read_rows(
        store,
        "select token_id, policy, verdict, statuses, outcomes from judgement"
        " join check_catalogue using (catalogue_id) order by 1",
    )


def test_reports_of_an_earlier_release_are_judged_in_steps(
    world_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judgements, "_VERDICTS_AT_ONCE", 2)
    policy = policy_of(SETTINGS)
    tokens = fleet(7)
    for report in tokens[:5]:
        record_report(world_store, report, LATER)  # as a release without verdicts wrote it
    for report in tokens[5:]:
        write(world_store, report)
    assert len(judged(world_store)) == 2
    steps = 1
    while put_missing_verdicts(world_store, JUDGE, policy):
        steps += 1
        with monkeypatch.context() as patch, pytest.raises(StoreError):  # one that is interrupted
            patch.setattr(judgements, "put_verdict", _interrupted)
            put_missing_verdicts(world_store, JUDGE, policy)
            raise StoreError(path="", reason="nothing was left to interrupt")
    assert steps == 4
    expected = [
        (at + 1, policy, verdict.verdict)
        for at, verdict in enumerate(map(JUDGE, tokens))
        if verdict is not None
    ]
    assert [row[:3] for row in judged(world_store)] == expected
    assert {row[2] for row in expected} == {"safe", "danger"}
    assert not put_missing_verdicts(world_store, JUDGE, policy)


def _interrupted(*_: object) -> None:
    raise StoreError(path="", reason="interrupted")


def test_other_settings_judge_anew(world_store: Store) -> None:
    for report in fleet(3):
        write(world_store, report)
    strict = AnalysisSettings(min_liquidity_usd=1e9)
    policy = policy_of(strict)
    while put_missing_verdicts(world_store, make_find_verdict(CHAINS, strict), policy):
        pass
    assert read_apart(
        world_store, "select distinct has_enough_liquidity, judged_by from v_verdicts"
    ) == [(False, policy)]


def test_the_history_tells_what_changed(world_store: Store, tmp_path: Path) -> None:
    first = make_report()
    taxed = make_report(
        pools=(make_pool(sell_tax=99.0),), scanned_at_s=MINED_AT_S + 9, block_number=20_000_001
    )
    for report in (first, taxed):
        write(world_store, report)
    history = "select verdict, is_first, epoch(scanned_at) from v_report_history order by all desc"
    assert read_apart(world_store, history) == [
        ("safe", True, MINED_AT_S),
        ("danger", False, MINED_AT_S + 9),
    ]
    changes = read_apart(world_store, "select what, before, after from v_changes order by what")
    assert changes == [
        ("flag.elevated_tax", "false", "true"),
        ("flag.high_tax", "false", "true"),
        ("sell_tax", "0", "99.00"),
        ("verdict", "safe", "danger"),
        ("verdict_reasons", "", "danger_flags warning_flags"),
    ]
