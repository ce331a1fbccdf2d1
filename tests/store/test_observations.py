"""Protects observations of a watched token: they lead to one analysis that is late enough."""

from contextlib import closing
from itertools import pairwise

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analysis.reads.indexed_facts import SaleHistory
from assay.service.record_report import record_refusal, record_report
from assay.service.store_adapter import ReportStore
from config.facts.load_chains import load_chains
from config.settings import AnalysisSettings
from core.evm.primitives import BlockRef
from core.report.notifications import ObservationKind
from core.report.report import Report
from core.report.rows import RefusalRow
from sql.chain.blocks import insert_blocks
from sql.engine.store import MEMORY, Store
from sql.tokens.observations import (
    Observation,
    ObservationPace,
    delete_old_observations,
    find_earliest_after,
    list_causes,
    write_gap,
    write_observations,
)
from sql.tokens.task_queue import has_due, take_tasks
from sql.tokens.tokens import read_token, track_tokens
from sql.tokens.watched_tokens import (
    list_watched_pools,
    list_watched_tokens,
    read_reserves,
    read_revision,
    write_reserves,
)
from sql.unwind import unwind_from
from tests.harness.bare_reports import bare_report
from tests.harness.examples import one_in
from tests.harness.store.sample_rows import LATER, address, block, hash32
from tests.harness.store.store_contents import read_rows, write_rows

PACE = ObservationPace(every_blocks=5, block_time_s=12.0)
NOW_S = 1_700_000_000
TOKEN = 7


class WatchRow(msgspec.Struct, frozen=True, kw_only=True):
    id: int
    is_paused: int


class WatchTokenRow(msgspec.Struct, frozen=True, kw_only=True):
    watch_id: int
    token_id: int


def report_at(number: int, token: int = TOKEN, *, is_settled: bool = True) -> Report:
    report = bare_report(address(token), scanned_at_s=number, is_settled=is_settled)
    head = msgspec.structs.replace(report.token, block_number=number, block_hash=block(number).hash)
    return msgspec.structs.replace(report, token=head)


def watch(store: Store, *tokens: int, watch_id: int = 1) -> dict[int, int]:
    """Ids of these tokens, by number, watched from now on."""
    with store.transaction() as tx:
        seen = {address(token): 1 for token in tokens}
        track_tokens(tx, chain_id=1, seen=seen, because="request")
        ids = {}
        for token in tokens:
            row = read_token(tx, chain_id=1, address=address(token))
            assert row is not None
            ids[token] = row.token_id
        tx.insert("watch", [WatchRow(id=watch_id, is_paused=0)])
        rows = [WatchTokenRow(watch_id=watch_id, token_id=each) for each in ids.values()]
        tx.insert("watch_token", rows)
    return ids


def observe(store: Store, token_id: int, *numbers: int) -> None:
    with store.transaction() as tx:
        write_observations(
            tx,
            [
                Observation(
                    chain_id=1,
                    block_number=number,
                    block_time_s=NOW_S + 12 * number,
                    token_id=token_id,
                    kind="state",
                    what="a slot",
                )
                for number in numbers
            ],
            pace=PACE,
            now_s=NOW_S,
        )


def due_at(store: Store) -> list[tuple[int, int]]:
    rows = read_rows(store, "select token_id, due_s from task where kind = 'changed' order by 1")
    return [(int(str(row[0])), int(str(row[1])) - NOW_S) for row in rows]


def taken(store: Store, now_s: int = NOW_S) -> list[int]:
    tasks = take_tasks(store, "changed", chain_id=1, now_s=now_s, again_s=now_s + 2, at_most=9)
    return [task.token.token_id for task in tasks]


def test_an_analysis_is_due_until_a_settled_report_of_that_block_or_a_later_one() -> None:
    with closing(Store.open(MEMORY)) as store:
        ids = watch(store, TOKEN)
        observe(store, ids[TOKEN], 100, 101)
        assert has_due(store, "changed", chain_id=1, now_s=NOW_S)
        assert not has_due(store, "changed", chain_id=2, now_s=NOW_S)
        assert not has_due(store, "refresh", chain_id=1, now_s=NOW_S)
        assert taken(store) == [ids[TOKEN]]  # many observations, one analysis
        assert not has_due(store, "changed", chain_id=1, now_s=NOW_S + 1)
        assert taken(store) == []
        assert taken(store, NOW_S + 2) == [ids[TOKEN]]  # not reported as done
        record_report(store, report_at(100), LATER)
        assert due_at(store)  # of an older block
        record_report(store, report_at(101, is_settled=False), LATER)
        assert due_at(store)  # a part of it is not known
        record_report(store, report_at(101), LATER)
        assert not due_at(store)
        observe(store, ids[TOKEN], 102)
        refusal = RefusalRow(code="not_a_token", reason="", refused_at_s=1)
        record_refusal(store, chain_id=1, address=address(TOKEN), refusal=refusal, refresh=LATER)
        assert not due_at(store)


@settings(max_examples=one_in(1), suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(gaps=st.lists(st.integers(1, 9), min_size=1, max_size=40), every=st.integers(1, 8))
def test_a_token_that_changes_all_the_time_is_analysed_now_and_then_and_never_late(
    gaps: list[int], every: int
) -> None:
    """On a clock of blocks: an analysis that is due in a block has that block's state."""
    pace = ObservationPace(every_blocks=every, block_time_s=1.0)
    changes = {sum(gaps[: at + 1]) for at in range(len(gaps))}
    report, due, analysed, pending = 0, None, [], None
    for number in range(1, max(changes) + 3):
        if number in changes:
            pending = number
            due = number + pace.delay_s(number, report_block=report)
        if due is not None and due <= number:
            report, due, pending = number, None, None
            analysed.append(number)
        assert pending is None or number - pending < 2
    quiet = [number for number in analysed if number - 1 not in changes or number in changes]
    if max(gaps) == 1:  # a change in every block
        assert all(after - before >= every for before, after in pairwise(quiet))
    assert report >= max(changes)


@pytest.mark.parametrize(
    ("report_block", "delay_s"), [(None, 0), (100, 12), (96, 12), (95, 0), (10, 0)]
)
def test_the_first_change_waits_for_nobody(report_block: int | None, delay_s: int) -> None:
    assert PACE.delay_s(100, report_block=report_block) == delay_s


@pytest.mark.parametrize(
    ("number", "time_s", "delay_s"),
    [(99, 1_000, 12), (99, 1_010, 2), (90, 1_002, 1), (100, 1_000, 12), (99, 1_050, 0)],
)
def test_a_block_is_waited_for_no_longer_than_blocks_take(
    number: int, time_s: int, delay_s: int
) -> None:
    earlier, later = (
        BlockRef(number=at, hash=hash32(at), parent_hash=hash32(at - 1), time_s=when)
        for at, when in ((number, time_s), (100, 1_012))
    )
    assert PACE.between(earlier, later).delay_s(100, report_block=100) == delay_s


def test_a_reorg_takes_observations_back_and_doubts_reports_of_its_blocks() -> None:
    with closing(Store.open(MEMORY)) as store:
        ids = watch(store, TOKEN, 8, 9)
        with store.transaction() as tx:
            insert_blocks(tx, [block(number) for number in range(98, 104)])
        for token, number in ((TOKEN, 102), (8, 99)):
            record_report(store, report_at(number, token), LATER)
        observe(store, ids[8], 99, 103)
        record_report(store, report_at(103, 8), LATER)
        record_report(store, report_at(99, 8), LATER)
        assert [token_id for token_id, _ in due_at(store)] == [ids[8]]
        with store.transaction() as tx:
            unwind_from(tx, chain_id=1, number=101)
        seen = list_causes(store, ids[8], above=-1, up_to=1_000)
        assert [one.block_number for one in seen] == [99]
        assert {token_id for token_id, _ in due_at(store)} == {ids[TOKEN], ids[8]}
        # A report of the branch that is gone settles nothing.
        with store.transaction() as tx:
            insert_blocks(tx, [block(number, branch=1_000) for number in range(101, 104)])
        record_report(store, report_at(102), LATER)
        assert ids[TOKEN] in dict(due_at(store))


def test_causes_are_those_between_two_reports_newest_first() -> None:
    with closing(Store.open(MEMORY)) as store:
        ids = watch(store, TOKEN, 8)
        observe(store, ids[TOKEN], 100, 101, 101, 102, 103)
        observe(store, ids[8], 101)
        causes = list_causes(store, ids[TOKEN], above=100, up_to=102)
        assert [one.block_number for one in causes] == [102, 101, 101]
        assert [one.block_number for one in list_causes(store, ids[TOKEN], above=0, up_to=9)] == []
        newest = list_causes(store, ids[TOKEN], above=0, up_to=999, at_most=2)
        assert [one.block_number for one in newest] == [103, 102]
        assert find_earliest_after(store, ids[TOKEN], above=100) == NOW_S + 12 * 101
        assert find_earliest_after(store, ids[TOKEN], above=103) is None


def test_a_gap_is_told_once_of_each_token_with_an_older_report() -> None:
    with closing(Store.open(MEMORY)) as store:
        ids = watch(store, TOKEN, 8, 9)
        record_report(store, report_at(50), LATER)
        record_report(store, report_at(200, 8), LATER)
        for first in (100, 200):
            last = BlockRef(number=first + 99, hash=hash32(1), parent_hash=hash32(0), time_s=NOW_S)
            with store.transaction() as tx:
                write_gap(tx, chain_id=1, first=first, last=last, now_s=NOW_S)
        gaps = {token: list_causes(store, ids[token], above=0, up_to=999) for token in ids}
        assert [one.what for one in gaps[TOKEN]] == ["100 to 199"]
        assert not gaps[8]
        assert not gaps[9]  # there is no report that could be out of date
        assert due_at(store) == [(ids[TOKEN], 0)]
        record_report(store, report_at(250), LATER)
        assert not due_at(store)


def test_the_revision_moves_with_watches_and_with_reports_of_watched_tokens_alone() -> None:
    with closing(Store.open(MEMORY)) as store:
        record_report(store, report_at(50, 1), LATER)
        revisions = [read_revision(store)]
        assert revisions == [0]
        ids = watch(store, TOKEN)
        revisions.append(read_revision(store))
        record_report(store, report_at(51, 1), LATER)
        assert read_revision(store) == revisions[-1]
        record_report(store, report_at(50), LATER)
        revisions.append(read_revision(store))
        with store.transaction() as tx:
            write_reserves(tx, ids[TOKEN], report_block=50, reserves=())
        assert read_reserves(store, ids[TOKEN], report_block=50) == ()
        assert read_reserves(store, ids[TOKEN], report_block=51) is None
        assert [one.report_block for one in list_watched_tokens(store, chain_id=1)] == [50]
        assert list_watched_tokens(store, chain_id=2) == []
        assert list_watched_pools(store, chain_id=1) == []
        execute(store, "update watch set is_paused = 1")
        revisions.append(read_revision(store))
        assert list_watched_tokens(store, chain_id=1) == []
        execute(store, "delete from watch")
        revisions.append(read_revision(store))
        assert len(set(revisions)) == len(revisions)
        delete_old_observations(store, chain_id=1, before_s=0)
        assert read_reserves(store, ids[TOKEN], report_block=50) is None


def execute(store: Store, statement: str) -> None:
    """Execute a statement that changes watches, as the owner of their tables."""
    write_rows(store, statement)


def test_old_observations_are_forgotten() -> None:
    with closing(Store.open(MEMORY)) as store:
        ids = watch(store, TOKEN)
        observe(store, ids[TOKEN], 100, 200)
        delete_old_observations(store, chain_id=1, before_s=NOW_S + 12 * 150)
        left = list_causes(store, ids[TOKEN], above=-1, up_to=999)
        assert [one.block_number for one in left] == [200]


async def test_failed_sales_of_a_token_are_told_from_its_other_failures() -> None:
    with closing(Store.open(MEMORY)) as store:
        token_id = watch(store, TOKEN)[TOKEN]
        kinds: tuple[tuple[ObservationKind, str], ...] = (
            ("failed_trade", "sell"),
            ("failed_trade", "buy"),
            ("owner_call", "0x12345678"),
            ("failed_trade", "sell"),
        )
        with store.transaction() as tx:
            write_observations(
                tx,
                [
                    Observation(
                        chain_id=1,
                        block_number=number,
                        block_time_s=NOW_S + number,
                        token_id=token_id,
                        kind=kind,
                        tx_hash=hash32(number),
                        sender=address(number),
                        what=what,
                        detail="not you",
                    )
                    for number, (kind, what) in enumerate(kinds, 1)
                ],
                pace=PACE,
                now_s=NOW_S,
            )
        index = ReportStore(store, AnalysisSettings())

        def pin(number: int) -> BlockRef:
            return BlockRef(number=number, hash=hash32(number), parent_hash=hash32(0), time_s=NOW_S)

        chain = next(one for one in load_chains(None) if one.id == 1)
        found = await index.sale_history(chain, address(TOKEN), pin(3))
        assert [(one.block_number, one.trader) for one in found.failed] == [(1, address(1))]
        assert (found.is_watched, found.call_blocks) == (True, (3,))
        unknown = await index.sale_history(chain, address(TOKEN + 1), pin(9))
        assert unknown == SaleHistory()
