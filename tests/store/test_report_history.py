"""Protects the history of reports: recorded changes are real, also after a reorg."""

import json
from contextlib import closing
from itertools import accumulate
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay.service.record_report import NextRefresh, record_refusal, record_report
from core.evm.primitives import Address
from core.report.report import Report
from core.report.rows import RefusalRow
from core.report.verdict import ReportVerdict, VerdictCheck
from sql.chain.blocks import insert_blocks
from sql.engine import small_steps
from sql.engine.store import MEMORY, Store
from sql.reports.report_history import delete_old_history
from sql.tokens.tokens import track_tokens
from sql.unwind import unwind_from
from tests.harness.bare_reports import bare_report
from tests.harness.examples import one_in
from tests.harness.store.sample_rows import LATER, address, block
from tests.harness.store.store_contents import read_rows

TOKEN = address(7)


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """Recorded parts of one report."""

    token: int = 7
    verdict: str = "safe"
    liquidity_usd: float | None = 100.0
    sell_tax: float | None = None
    proxy: bool | None = None
    is_settled: bool = True
    blocks_later: int = 1


def verdict_of(said: Said) -> ReportVerdict:
    check = VerdictCheck(
        key="is_proxy", label="A proxy", severity="info", status="safe", value=said.proxy
    )
    return ReportVerdict(
        policy="p",
        verdict=said.verdict,
        reasons=(),
        has_enough_liquidity=None,
        liquidity_usd=said.liquidity_usd,
        can_buy=None,
        can_sell=None,
        pools=1,
        buy_tax=None,
        sell_tax=said.sell_tax,
        checks=(check,),
    )


def report_at(said: Said, number: int) -> Report:
    report = bare_report(address(said.token), scanned_at_s=number, is_settled=said.is_settled)
    head = msgspec.structs.replace(report.token, block_number=number)
    return msgspec.structs.replace(report, token=head)


def write(store: Store, said: Said, number: int) -> None:
    record_report(store, report_at(said, number), LATER, verdict_of(said))


def history(store: Store) -> list[tuple[object, ...]]:
    return read_rows(
        store,
        "select address, report_history.block_number, verdict, liquidity_usd, sell_tax,"
        " changes from report_history join token using (token_id) order by 1, 2, scanned_at_s",
    )


def changes(store: Store, token: int = 7) -> list[list[list[str | None]] | None]:
    return [
        None if row[5] is None else json.loads(str(row[5]))
        for row in history(store)
        if int(str(row[0]), 16) == token
    ]


says = st.builds(
    Said,
    token=st.sampled_from([7, 7, 8]),
    verdict=st.sampled_from(["safe", "danger", "not_tested"]),
    liquidity_usd=st.sampled_from([None, 0.0, 100.0, 105.0, 112.0, 1e9]),
    sell_tax=st.sampled_from([None, 0.0, 0.5, 99.0]),
    proxy=st.sampled_from([None, False, True]),
    is_settled=st.sampled_from([True, True, False]),
    blocks_later=st.integers(0, 2),
)


@settings(
    max_examples=one_in(2),
    suppress_health_check=[HealthCheck.too_slow],
    deadline=None,
)
@given(
    said=st.lists(says, min_size=5, max_size=12),
    at=st.integers(0, 4),
    more=st.lists(says, min_size=2, max_size=6),
)
def test_after_a_reorg_the_history_is_as_if_its_reports_had_never_been(
    said: list[Said], at: int, more: list[Said]
) -> None:
    numbers = list(accumulate((each.blocks_later for each in said), initial=1))[1:]
    fork = numbers[at]
    placed = list(zip(said, numbers, strict=True))
    later = [(each, 1000 + number) for number, each in enumerate(more)]
    with closing(Store.open(MEMORY)) as reorged, closing(Store.open(MEMORY)) as straight:
        for each, number in placed:
            write(reorged, each, number)
        with reorged.transaction() as tx:
            unwind_from(tx, chain_id=1, number=fork)
        for each, number in placed:
            if number < fork:
                write(straight, each, number)
        for each, number in later:
            write(reorged, each, number)
            write(straight, each, number)
        assert history(reorged) == history(straight)
        read_back(straight, [*((s, n) for s, n in placed if n < fork), *later])


def read_back(store: Store, written: list[tuple[Said, int]]) -> None:
    """Apply all changes of each token to its first report: the last report comes out."""
    for token in (7, 8):
        whole = [pair for pair in written if pair[0].token == token and pair[0].is_settled]
        if not whole:
            assert changes(store, token) == []
            continue
        # Two reports of one second count as one, the later.
        settled = list({number: said for said, number in whole}.values())
        state: dict[str, Any] = {
            "verdict": settled[0].verdict,
            "flag.is_proxy": truth(settled[0].proxy),
            "sell_tax": tax(settled[0].sell_tax),
        }
        for some in changes(store, token):
            for what, before, after in some or ():
                assert before != after
                if what in state:
                    assert state[what] == before
                    state[what] = after
        assert state == {
            "verdict": settled[-1].verdict,
            "flag.is_proxy": truth(settled[-1].proxy),
            "sell_tax": tax(settled[-1].sell_tax),
        }


def truth(value: bool | None) -> str | None:
    return {None: None, True: "true", False: "false"}[value]


def tax(value: float | None) -> str | None:
    return {None: None, 0.0: "0", 0.5: "0.5", 99.0: "99.00"}[value]


@pytest.mark.parametrize(
    ("amounts", "expected_changes"),
    [
        ([100.0, 105.0, 109.0], []),
        ([100.0, 109.0, 111.0], [["liquidity_usd", "100.00", "111.00"]]),
        ([100.0, None], [["liquidity_usd", "100.00", None]]),
        ([100.0, 89.0], [["liquidity_usd", "100.00", "89.00"]]),
        ([0.0, 0.01], [["liquidity_usd", "0", "0.01"]]),
        ([float("inf"), float("nan")], []),
    ],
)
def test_liquidity_that_moves_slowly_is_told_once_it_has_moved_a_tenth(
    store: Store, amounts: list[float | None], expected_changes: list[list[str | None]]
) -> None:
    for number, usd in enumerate(amounts, start=1):
        write(store, Said(liquidity_usd=usd), number)
    assert [one for some in changes(store) for one in some or ()] == expected_changes


def test_a_check_of_another_release_is_no_change(store: Store) -> None:
    write(store, Said(), 1)
    said = verdict_of(Said(proxy=True))
    other = msgspec.structs.replace(said.checks[0], key="of_a_later_release")
    later = msgspec.structs.replace(said, checks=(other,))
    record_report(store, report_at(Said(), 2), LATER, later)
    write(store, Said(proxy=True), 3)
    assert changes(store) == [None, [], []]


def test_a_report_of_an_orphaned_block_does_not_come_in(store: Store) -> None:
    with store.transaction() as tx:
        insert_blocks(tx, [block(5)])
    write(store, Said(), 5)
    assert history(store) == []


def test_a_token_that_is_deleted_leaves_no_history(store: Store) -> None:
    track(store, TOKEN, 10)
    write(store, Said(), 9)
    with store.transaction() as tx:
        unwind_from(tx, chain_id=1, number=10)
    for table in ("report_history", "report_state", "judgement", "token"):
        assert read_rows(store, f"select count(*) from {table}") == [(0,)]  # noqa: S608


def track(store: Store, token: Address, number: int) -> None:
    with store.transaction() as tx:
        track_tokens(tx, chain_id=1, seen={token: number}, because="pool")


def test_after_a_refusal_the_next_report_is_compared_with_none(store: Store) -> None:
    write(store, Said(), 1)
    refusal = RefusalRow(code="not_a_token", reason="", refused_at_s=2)
    refresh = NextRefresh(worth=0, due_s=9)
    record_refusal(store, chain_id=1, address=TOKEN, refusal=refusal, refresh=refresh)
    write(store, Said(verdict="danger"), 3)
    assert changes(store) == [None, None]


def test_old_reports_are_forgotten(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(small_steps, "DELETED_AT_ONCE", 2)
    for number in range(1, 8):
        write(store, Said(sell_tax=float(number)), number)
    delete_old_history(store, chain_id=1, before_s=6)
    assert [row[1] for row in history(store)] == [6, 7]
    delete_old_history(store, chain_id=2, before_s=99)
    assert len(history(store)) == 2
