"""Protects the feed in the store: one sequence, replay from any place, recorded gaps, cliffs."""

import msgspec

from assay.service.record_report import NextRefresh, record_refusal, record_report
from core.evm.primitives import Address, Hash32, HexBytes
from core.report.feed_lines import FeedDetail, FeedLine, TokenLaunch
from core.report.liquidity_cliff import LiquidityCliff
from core.report.rows import RefusalRow
from core.report.verdict import ReportVerdict
from sql.chain.cliff_tables import delete_old_cliffs, find_newest_cliff, insert_cliffs
from sql.chain.feed_tables import (
    StoredFeedLine,
    delete_old_lines,
    find_feed_gap,
    find_newest_line,
    list_lines,
    list_verdicts,
    write_lines,
)
from sql.engine.store import Store
from sql.unwind import unwind_from
from tests.harness.bare_reports import bare_report

TOKEN = Address("0x" + "ab" * 20)
LATER = NextRefresh(worth=0, due_s=2**40)


def launch(block_number: int, *, seen_at_s: int = 100) -> FeedLine:
    return FeedLine(
        kind="launch",
        token=TOKEN,
        block_number=block_number,
        tx_hash=Hash32("0x" + "5c" * 32),
        log_index=3,
        seen_at_s=seen_at_s,
        detail=FeedDetail(launch=TokenLaunch(source="a-pad", pool=None, creator=TOKEN)),
    )


def write(store: Store, *lines: FeedLine, chain_id: int = 1) -> None:
    with store.transaction(chain_id=chain_id) as tx:
        write_lines(tx, lines, chain_id=chain_id)


def lines(store: Store, *, after: int = 0, chain_id: int = 1) -> list[StoredFeedLine]:
    return list_lines(store, chain_id=chain_id, after=after, at_most=1_000)


def verdict(name: str) -> ReportVerdict:
    return ReportVerdict(
        policy="test",
        verdict=name,
        reasons=("sell_failed",) if name == "danger" else (),
        has_enough_liquidity=True,
        liquidity_usd=1.0,
        can_buy=True,
        can_sell=name != "danger",
        pools=1,
        buy_tax=0.0,
        sell_tax=0.0,
        checks=(),
    )


def test_a_cursor_begins_anywhere_and_chains_are_apart(store: Store) -> None:
    write(store, launch(5), launch(6))
    write(store, launch(7), chain_id=56)
    write(store, launch(8))
    found = lines(store)
    assert [line.block_number for line in found] == [5, 6, 8]
    assert [line.block_number for line in lines(store, after=found[1].sequence)] == [8]
    assert lines(store, after=found[2].sequence) == []
    assert find_newest_line(store, chain_id=1) == found[2].sequence
    assert find_newest_line(store, chain_id=99) == 0
    launched = found[0].decode_detail().launch
    assert launched == TokenLaunch(source="a-pad", pool=None, creator=TOKEN)
    assert (found[0].tx_hash, found[0].log_index) == ("0x" + "5c" * 32, 3)


def test_old_lines_are_deleted_as_a_gap_and_numbers_are_not_given_again(store: Store) -> None:
    write(store, *(launch(5, seen_at_s=10) for _ in range(2_500)), launch(6, seen_at_s=50))
    write(store, launch(7, seen_at_s=20))  # read late: what stands before it is younger
    newest = find_newest_line(store, chain_id=1)
    delete_old_lines(store, chain_id=1, before_s=30)
    assert [line.block_number for line in lines(store)] == [6, 7]
    assert find_feed_gap(store, chain_id=1) == lines(store)[0].sequence - 1
    assert find_feed_gap(store, chain_id=56) == 0
    delete_old_lines(store, chain_id=1, before_s=60)
    assert (lines(store), find_feed_gap(store, chain_id=1)) == ([], newest)
    assert find_newest_line(store, chain_id=1) == newest
    write(store, launch(8))
    assert lines(store)[0].sequence > newest


def test_a_reorg_is_a_line_if_there_is_anything_to_take_back(store: Store) -> None:
    write(store, launch(5), launch(6))
    for number in (9, 6):
        with store.transaction(chain_id=1) as tx:
            unwind_from(tx, chain_id=1, number=number)
    assert [(line.kind, line.block_number) for line in lines(store)] == [
        ("launch", 5),
        ("launch", 6),
        ("reorg", 6),
    ]


def test_each_changed_verdict_is_a_line_and_the_snapshot_has_the_last(store: Store) -> None:
    for name in ("safe", "safe", "danger"):
        record_report(store, bare_report(TOKEN), LATER, verdict(name))
    with store.snapshot() as reader:
        (state,) = list_verdicts(reader, chain_id=1, after=0, at_most=10)
        assert (state.token, state.verdict, state.reasons) == (TOKEN, "danger", ("sell_failed",))
        assert list_verdicts(reader, chain_id=1, after=state.token_id, at_most=10) == []
        assert list_verdicts(reader, chain_id=56, after=0, at_most=10) == []
    refusal = RefusalRow(code="not_a_token", reason="destroyed", refused_at_s=9)
    record_refusal(store, chain_id=1, address=TOKEN, refusal=refusal, refresh=LATER)
    changes = [line.decode_detail().verdict for line in lines(store)]
    assert [(one.before, one.after) for one in changes if one is not None] == [
        (None, "safe"),
        ("safe", "danger"),
        ("danger", "refused"),
    ]


# --- liquidity cliffs ---------------------------------------------------------------------------

OTHER = Address("0x" + "cd" * 20)
FIRST = LiquidityCliff(
    pool=HexBytes("0x" + "12" * 20),
    source="an exchange",
    block_number=5,
    log_index=1,
    time_s=500,
    tx_hash=Hash32("0x" + "5c" * 32),
    left_pct=62.5,
)
SECOND = msgspec.structs.replace(FIRST, block_number=7, time_s=700, tx_hash=None, left_pct=99.0)


def find(store: Store, *, token: Address = TOKEN, up_to: int = 9) -> LiquidityCliff | None:
    return find_newest_cliff(store, chain_id=1, token=token, up_to=up_to)


def test_the_newest_cliff_is_found_until_it_is_undone_or_old(store: Store) -> None:
    for _ in range(2):  # a span may be stored twice
        with store.transaction(chain_id=1) as tx:
            insert_cliffs(tx, [(TOKEN, FIRST), (TOKEN, SECOND)], chain_id=1)
    assert (find(store), find(store, up_to=6), find(store, up_to=4)) == (SECOND, FIRST, None)
    assert find(store, token=OTHER) is None
    with store.transaction(chain_id=1) as tx:
        unwind_from(tx, chain_id=1, number=6)
    assert find(store) == FIRST
    delete_old_cliffs(store, chain_id=1, before_s=500)
    assert find(store) == FIRST
    delete_old_cliffs(store, chain_id=1, before_s=501)
    assert find(store) is None
