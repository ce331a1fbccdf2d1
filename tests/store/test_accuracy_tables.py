"""Protects the counts of accuracy: nothing is lost or doubled by settling, adding up, unwinding and
age.

An explanation by one report is taken back when its block is unwound.
"""

import msgspec
import pytest

from core.evm.primitives import Address, Hash32, HexBytes
from core.report.accuracy import PredictionFlag
from core.report.disagreements import Disagreement
from core.report.finding_outcomes import FindingOutcomes
from core.report.report import PoolResultRow
from sql.engine.store import Store
from sql.engine.table_rows import TokenRow
from sql.reports.accuracy_counts import (
    DAY_S,
    AccuracyCount,
    AccuracySum,
    add_up_counts,
    delete_old_counts,
    insert_counts,
    sum_counts,
)
from sql.reports.disagreement_tables import (
    MOST_KEPT,
    delete_old_disagreements,
    list_newest_disagreements,
    settle_disagreements,
    undo_disagreements_from,
    write_disagreements,
)
from sql.reports.outcome_counts import FirstDayOutcome, list_known_outcomes, put_outcomes
from sql.tokens.tokens import read_token, track_tokens
from tests.harness.bare_reports import bare_report
from tests.harness.store.store_contents import read_rows

TOKEN = Address("0x" + "ab" * 20)
POOL = Address("0x" + "02" * 20)
NOW_S = 20 * DAY_S


def outcome(number: int, findings: str, *, is_trapped: bool | None) -> FirstDayOutcome:
    return FirstDayOutcome(
        address=Address(f"0x{number:040x}"),
        findings=findings,
        is_trapped=is_trapped,
        block_number=number,
    )


def put(store: Store, *outcomes: FirstDayOutcome) -> None:
    with store.transaction(chain_id=1) as tx:
        put_outcomes(tx, outcomes, chain_id=1)


def test_each_token_counts_once_by_its_last_outcome(store: Store) -> None:
    put(store, *(outcome(number, "a", is_trapped=number < 90) for number in range(102)))
    a_hundred_and_two = FindingOutcomes(findings="a", known=102, trapped=90)
    assert list_known_outcomes(store, chain_id=1) == [a_hundred_and_two]
    assert list_known_outcomes(store, chain_id=2) == []

    put(store, *(outcome(number, "a", is_trapped=number < 90) for number in range(102)))
    assert list_known_outcomes(store, chain_id=1) == [a_hundred_and_two]

    put(store, outcome(0, "b", is_trapped=True), outcome(1, "a", is_trapped=None))
    put(store, outcome(101, "a", is_trapped=True))
    (left,) = list_known_outcomes(store, chain_id=1)
    assert left == FindingOutcomes(findings="a", known=100, trapped=89)

    put(store, outcome(2, "b", is_trapped=True))
    assert list_known_outcomes(store, chain_id=1) == []


@pytest.fixture
def token(store: Store) -> TokenRow:
    with store.transaction() as tx:
        track_tokens(tx, chain_id=1, seen={TOKEN: 1}, because="request")
    row = read_token(store, chain_id=1, address=TOKEN)
    assert row is not None
    return row


def differing(token: TokenRow, block_number: int, **changes: object) -> Disagreement:
    plain = Disagreement(
        chain_id=1,
        block_number=block_number,
        block_time_s=NOW_S,
        token_id=token.token_id,
        tx_hash=Hash32("0x" + "5c" * 32),
        log_index=3,
        trader=None,
        pool=HexBytes(POOL),
        dex="a dex",
        flag="sell_tax",
        age="hour",
        report_block=5,
        predicted="0.0",
        observed="30.0",
        is_certain=True,
    )
    return msgspec.structs.replace(plain, **changes)


def write(store: Store, *found: Disagreement, now_s: int = NOW_S) -> None:
    """As a block's commit does, one count for each."""
    with store.transaction() as tx:
        insert_counts(tx, [counted(one) for one in found])
        write_disagreements(tx, found, now_s=now_s)


def counted(one: Disagreement) -> AccuracyCount:
    return AccuracyCount(
        chain_id=1,
        day_s=NOW_S,
        block_number=one.block_number,
        dex=one.dex,
        flag=one.flag,
        age=one.age,
        agreed=10,
        disagreed=int(one.is_certain),
        explained=0,
        uncounted=int(not one.is_certain),
    )


def settle(
    store: Store,
    token: TokenRow,
    block_number: int,
    sell_tax: float | None,
    *,
    pool_id: Hash32 | None = None,
    by_size: bool = False,
) -> None:
    """Settle as a report of that block does. `by_size`: its sales depend on their size."""
    bare = bare_report(TOKEN, scanned_at_s=1)
    pool = PoolResultRow(
        ordinal=0,
        pool=POOL,
        pool_id=pool_id,
        kind="AmmV2",
        dex="a dex",
        quote=POOL,
        liquidity_usd=1.0,
        quote_side_usd=1.0,
        buy="passed",
        buy_tax=0.0,
        sell="refused" if sell_tax is None else "passed",
        sell_tax=sell_tax,
        error_code=None,
        error_message=None,
        is_launchpad=None,
        token_usd=None,
    )
    report = msgspec.structs.replace(
        bare,
        token=msgspec.structs.replace(bare.token, block_number=block_number),
        scan=msgspec.structs.replace(bare.scan, sell_depends_on_size=by_size),
        pools=(pool,),
    )
    with store.transaction() as tx:
        settle_disagreements(tx, token, report)


def tally(store: Store, flag: PredictionFlag = "sell_tax") -> tuple[int, int, int, int]:
    (one,) = [one for one in sum_counts(store, chain_id=1, from_s=0) if one.flag == flag] or [
        _none(flag)
    ]
    return one.agreed, one.disagreed, one.explained, one.uncounted


def _none(flag: PredictionFlag) -> AccuracySum:
    return AccuracySum(
        dex="", flag=flag, age="hour", agreed=0, disagreed=0, explained=0, uncounted=0
    )


def explanations(store: Store) -> list[str | None]:
    return [one.explanation for one in list_newest_disagreements(store, chain_id=1, at_most=99)]


@pytest.mark.parametrize("is_added_up", [False, True])
@pytest.mark.parametrize(
    ("changes", "sell_tax", "explanation", "after"),
    [
        ({}, 30.2, "changed", (10, 1, 1, 0)),
        ({}, 0.0, "unexplained", (10, 1, 0, 0)),
        ({}, None, "unexplained", (10, 1, 0, 0)),
        ({"is_certain": False}, 30.0, "changed", (10, 1, 1, 0)),
        ({"is_certain": False}, 0.0, "bundled", (10, 0, 0, 1)),
        ({"is_certain": False, "predicted": "40.0"}, 40.0, "unseen", (10, 0, 0, 1)),
    ],
)
def test_a_later_report_settles_and_a_reorg_of_its_block_takes_that_back(
    store: Store,
    token: TokenRow,
    changes: dict[str, object],
    sell_tax: float | None,
    explanation: str,
    after: tuple[int, int, int, int],
    is_added_up: bool,
) -> None:
    write(store, differing(token, 7, **changes))
    before = tally(store)
    settle(store, token, 6, sell_tax)
    assert explanations(store) == [None]  # the report is of a block before
    if is_added_up:
        add_up_counts(store, chain_id=1, final=7)
        assert tally(store) == before
        assert read_rows(store, "select block_number from accuracy_count") == [(-1,)]
    settle(store, token, 8, sell_tax)
    assert explanations(store) == [explanation]
    assert tally(store) == after
    with store.transaction() as tx:
        undo_disagreements_from(tx, chain_id=1, number=8)
    assert explanations(store) == [None]
    assert tally(store) == before


@pytest.mark.parametrize(
    ("flag", "explanation", "explained"), [("sell_tax", "size", 1), ("buy_tax", "unexplained", 0)]
)
def test_a_report_that_says_that_sales_depend_on_size_explains_one_that_paid_more(
    store: Store, token: TokenRow, flag: PredictionFlag, explanation: str, explained: int
) -> None:
    write(store, differing(token, 7, flag=flag))
    settle(store, token, 8, 0.0, by_size=True)
    assert explanations(store) == [explanation]
    assert tally(store, flag) == (10, 1, explained, 0)
    # The next one will have the same result: no reason for an immediate analysis.
    with store.transaction() as tx:
        tx.execute("tasks/delete_task", kind="changed", token_id=token.token_id)
    write(store, differing(token, 9, flag=flag, report_block=8))
    assert read_rows(store, "select due_s from task where kind = 'changed'") == [(NOW_S + 3600,)]


def test_pools_of_one_contract_are_told_apart(store: Store, token: TokenRow) -> None:
    first, second = (Hash32("0x" + digits * 32) for digits in ("0a", "0b"))
    write(store, differing(token, 7, pool=first))
    settle(store, token, 8, 30.0, pool_id=second)
    assert explanations(store) == [None]
    settle(store, token, 8, 30.0, pool_id=first)
    assert explanations(store) == ["changed"]


def test_a_reorg_takes_back_its_blocks_and_no_others(store: Store, token: TokenRow) -> None:
    write(store, differing(token, 7))
    write(store, differing(token, 8))
    with store.transaction() as tx:
        undo_disagreements_from(tx, chain_id=56, number=0)
        undo_disagreements_from(tx, chain_id=1, number=8)
    assert tally(store) == (10, 1, 0, 0)
    assert len(explanations(store)) == 1


def test_adding_up_adds_to_what_the_day_has(store: Store, token: TokenRow) -> None:
    for block_number in range(7, 12):
        write(store, differing(token, block_number))
        add_up_counts(store, chain_id=1, final=block_number - 1)
    assert tally(store) == (50, 5, 0, 0)
    assert len(read_rows(store, "select block_number from accuracy_count")) == 2


def test_few_are_kept_of_a_report_and_all_are_counted(store: Store, token: TokenRow) -> None:
    for block_number in range(7, 7 + 2 * MOST_KEPT):
        write(store, differing(token, block_number))
    assert len(explanations(store)) == MOST_KEPT
    assert tally(store) == (20 * MOST_KEPT, 2 * MOST_KEPT, 0, 0)


def test_a_report_that_repeats_itself_is_asked_for_an_hour_later(
    store: Store, token: TokenRow
) -> None:
    write(store, differing(token, 7))
    assert read_rows(store, "select due_s from task where kind = 'changed'") == [(NOW_S,)]
    settle(store, token, 8, 0.0)
    with store.transaction() as tx:
        tx.execute("tasks/delete_task", kind="changed", token_id=token.token_id)
    write(store, differing(token, 9, report_block=8, block_time_s=NOW_S + 10), now_s=NOW_S + 10)
    assert read_rows(store, "select due_s from task where kind = 'changed'") == [(NOW_S + 3600,)]


def test_age_takes_whole_days_and_old_evidence(store: Store, token: TokenRow) -> None:
    write(store, differing(token, 7))
    delete_old_counts(store, chain_id=1, before_s=NOW_S + DAY_S - 1)
    delete_old_disagreements(store, chain_id=1, before_s=NOW_S)
    assert tally(store) == (10, 1, 0, 0)
    assert len(explanations(store)) == 1
    delete_old_counts(store, chain_id=1, before_s=NOW_S + 2 * DAY_S)
    delete_old_disagreements(store, chain_id=1, before_s=NOW_S + 1)
    assert tally(store) == (0, 0, 0, 0)
    assert explanations(store) == []
