"""Protects notifications of watchers: each change once, and after a reorg the final state."""

from collections.abc import Sequence
from contextlib import closing
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay.service.record_report import NextRefresh, record_refusal, record_report
from core.evm.primitives import Address
from core.process.secret import Secret
from core.report.notifications import ALL_KINDS, kind_of, notable_changes, notified_state
from core.report.report_changes import Change
from core.report.rows import RefusalRow
from core.report.verdict import ReportVerdict, VerdictCheck
from sql.chain.blocks import insert_blocks
from sql.engine.store import MEMORY, Store
from sql.tokens.task_queue import take_tasks
from sql.unwind import unwind_from
from sql.watches import watch_events
from sql.watches.watch_messages import (
    WatchMessage,
    delete_old_messages,
    find_next,
    list_after,
    list_due,
    note_delivered,
)
from sql.watches.watches import (
    NewWatch,
    add_tokens,
    create_watch,
    find_watch,
    list_tokens,
    pause_watch,
    remove_tokens,
    remove_watch,
    resume_watch,
)
from tests.harness.bare_reports import bare_report
from tests.harness.examples import one_in
from tests.harness.store.sample_rows import LATER, address, block
from tests.harness.store.store_contents import read_rows

TOKEN = address(7)


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """Parts of one report."""

    verdict: str = "safe"
    sell_tax: float | None = 0.0
    liquidity_usd: float | None = 100.0
    owner: int | None = 1
    proxy: bool | None = False


def say(
    store: Store, said: Said, number: int, *, token: Address = TOKEN, is_settled: bool = True
) -> None:
    report = bare_report(token, scanned_at_s=number, is_settled=is_settled)
    owner = None if said.owner is None else address(said.owner)
    head = msgspec.structs.replace(report.token, block_number=number, owner_address=owner)
    check = VerdictCheck(
        key="is_proxy", label="A proxy", severity="info", status="info", value=said.proxy
    )
    report_verdict = ReportVerdict(
        policy="p",
        verdict=said.verdict,
        reasons=(f"because of {number}",),
        has_enough_liquidity=None,
        liquidity_usd=said.liquidity_usd,
        can_buy=None,
        can_sell=None,
        pools=1,
        buy_tax=None,
        sell_tax=said.sell_tax,
        checks=(check,),
        headline=f"said at {number}",
    )
    record_report(store, msgspec.structs.replace(report, token=head), LATER, report_verdict)


def watch(
    store: Store,
    *tokens: Address,
    kinds: Sequence[str] = ALL_KINDS,
    url: str | None = None,
) -> int:
    with store.transaction() as tx:
        secret = None if url is None else Secret("whsec_AAAA")
        new = NewWatch(key_id=1, name="w", kinds=tuple(kinds), url=url, secret=secret)
        watch_id = create_watch(tx, new, now_s=0)
        add_tokens(tx, watch_id, chain_id=1, addresses=tokens or (TOKEN,), now_s=0)
    return watch_id


def messages(store: Store, watch_id: int) -> list[WatchMessage]:
    return list_after(store, watch_id, after=0, at_most=10_000)


def delivered_changes(
    store: Store, watch_id: int
) -> list[list[tuple[str, str | None, str | None]]]:
    """The changes of each message, without those of the reader's no interest."""
    return [
        [(one.what, one.before, one.after) for one in message.event.changes]
        for message in messages(store, watch_id)
        if message.event is not None
    ]


def test_the_first_report_is_what_later_ones_are_compared_with(store: Store) -> None:
    say(store, Said(verdict="danger"), 1)
    watch_id = watch(store)
    assert [one.is_awaiting for one in list_tokens(store, watch_id)] == [True]
    say(store, Said(), 2, is_settled=False)
    say(store, Said(), 2)
    assert [one.is_awaiting for one in list_tokens(store, watch_id)] == [False]
    say(store, Said(), 3)
    assert delivered_changes(store, watch_id) == []
    say(store, Said(verdict="danger", sell_tax=99.0), 4)
    (message,) = messages(store, watch_id)
    event = message.event
    assert event is not None
    assert set(event.changes) == {
        Change("verdict", "safe", "danger"),
        Change("sell_tax", "0", "99.00"),
    }
    assert (event.verdict_before, event.verdict, event.headline) == ("safe", "danger", "said at 4")
    assert (message.chain_id, message.address, message.block_number) == (1, TOKEN, 4)
    assert event.reasons == ("because of 4",)


def test_a_watch_is_told_only_what_it_wants(store: Store) -> None:
    taxes, owners, ready = (
        watch(store, kinds=["tax"]),
        watch(store, kinds=["owner"]),
        watch(store, kinds=["tax", "baseline"]),
    )
    say(store, Said(), 1)
    say(store, Said(sell_tax=5.0, liquidity_usd=1.0), 2)
    say(store, Said(sell_tax=5.0, liquidity_usd=1.0, owner=2), 3)
    assert [len(messages(store, one)) for one in (taxes, owners, ready)] == [1, 1, 2]
    assert [message.kind for message in messages(store, ready)] == ["baseline", "change"]
    # A message is stored once for all who get it.
    assert read_rows(store, "select count(*) from watch_event") == [(3,)]


def test_a_token_that_others_watch_begins_with_its_next_report(store: Store) -> None:
    watch(store)
    say(store, Said(), 1)
    late = watch(store, kinds=[*ALL_KINDS, "baseline"])
    say(store, Said(sell_tax=9.0), 2)
    say(store, Said(sell_tax=10.0), 3)
    assert [message.kind for message in messages(store, late)] == ["baseline", "change"]
    assert delivered_changes(store, late)[1] == [("sell_tax", "9.00", "10.00")]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ([Said(sell_tax=None), Said(sell_tax=0.0)], []),
        ([Said(sell_tax=None), Said(sell_tax=7.0)], [("sell_tax", "0", "7.00")]),
        ([Said(sell_tax=0.06), Said(sell_tax=0.09)], []),
        ([Said(sell_tax=0.06), Said(sell_tax=0.12)], [("sell_tax", "0", "0.12")]),
        ([Said(liquidity_usd=95.0), Said(liquidity_usd=91.0)], []),
        (
            [Said(liquidity_usd=95.0), Said(liquidity_usd=89.0)],
            [("liquidity_usd", "100.00", "89.00")],
        ),
        ([Said(proxy=None), Said(proxy=True)], [("flag.is_proxy", "false", "true")]),
        (
            [Said(verdict="not_tested", sell_tax=None), Said()],
            [("verdict", "safe", "not_tested"), ("verdict", "not_tested", "safe")],
        ),
    ],
)
def test_an_answer_that_is_lost_for_a_moment_is_no_change(
    store: Store, said: list[Said], expected: list[Any]
) -> None:
    watch_id = watch(store)
    for number, each in enumerate([Said(), *said], start=1):
        say(store, each, number)
    assert [one for message in delivered_changes(store, watch_id) for one in message] == expected


says = st.builds(
    Said,
    verdict=st.sampled_from(["safe", "danger", "not_tested"]),
    sell_tax=st.sampled_from([None, 0.0, 5.0, 99.0]),
    liquidity_usd=st.sampled_from([None, 0.0, 100.0, 105.0, 1e6]),
    owner=st.sampled_from([None, 1, 2]),
    proxy=st.sampled_from([None, False, True]),
)
steps = st.lists(st.tuples(st.sampled_from(["report", "report", "reorg"]), says), max_size=20)


@settings(max_examples=one_in(2), suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(steps)
def test_told_changes_lead_from_the_first_report_to_the_last_whatever_reorgs(
    taken: list[tuple[str, Said]],
) -> None:
    """Applied in order, each from the end of the one before, they end at the present state."""
    with closing(Store.open(MEMORY)) as store:
        watch_id = watch(store)
        say(store, Said(), 1)
        known: dict[str, str | None] = {
            "verdict": "safe",
            "sell_tax": "0",
            "owner_address": address(1),
            "flag.is_proxy": "false",
        }
        seen = dict(known)
        for number, (step, said) in enumerate(taken, start=2):
            if step == "reorg":
                with store.transaction() as tx:
                    unwind_from(tx, chain_id=1, number=max(2, number - 3))
            say(store, said, number)
            now = {
                "verdict": said.verdict,
                "sell_tax": {None: None, 0.0: "0", 5.0: "5.00", 99.0: "99.00"}[said.sell_tax],
                "owner_address": None if said.owner is None else address(said.owner),
                "flag.is_proxy": {None: None, True: "true", False: "false"}[said.proxy],
            }
            known |= {what: value for what, value in now.items() if value is not None}
        for message in delivered_changes(store, watch_id):
            for what, before, after in message:
                assert before != after
                if what in seen:
                    assert seen[what] == before
                    seen[what] = after
        assert seen == known


def test_a_change_that_a_reorg_takes_back_is_told_back_once(store: Store) -> None:
    watch_id = watch(store)
    say(store, Said(), 1)
    say(store, Said(sell_tax=9.0), 2)
    for again in (Said(sell_tax=9.0), Said(sell_tax=0.0), Said(sell_tax=0.0)):
        with store.transaction() as tx:
            unwind_from(tx, chain_id=1, number=2)
        say(store, again, 2)
    assert delivered_changes(store, watch_id) == [
        [("sell_tax", "0", "9.00")],
        [("sell_tax", "9.00", "0")],
    ]


def test_a_report_of_an_orphaned_block_is_not_told(store: Store) -> None:
    watch_id = watch(store)
    say(store, Said(), 1)
    with store.transaction() as tx:
        insert_blocks(tx, [block(5)])
    say(store, Said(sell_tax=50.0), 5)
    assert delivered_changes(store, watch_id) == []


def test_a_token_that_is_one_no_more_is_told_once(store: Store) -> None:
    watch_id = watch(store)
    say(store, Said(), 1)
    for at in (2, 3):
        refusal = RefusalRow(code="not_a_token", reason="no", refused_at_s=at)
        refresh = NextRefresh(worth=0, due_s=9)
        record_refusal(store, chain_id=1, address=TOKEN, refusal=refusal, refresh=refresh)
    say(store, Said(), 4)
    assert delivered_changes(store, watch_id) == [
        [("verdict", "safe", "refused")],
        [("verdict", "refused", "safe")],
    ]


def test_a_paused_watch_hears_nothing_and_sends_what_waits_when_it_goes_on(store: Store) -> None:
    watch_id = watch(store, url="https://a.test")
    say(store, Said(), 1)
    say(store, Said(owner=2), 2)
    with store.transaction() as tx:
        pause_watch(tx, watch_id)
    assert list_due(store, now_s=10, at_most=9) == []
    assert find_next(store, watch_id) is None
    say(store, Said(owner=3), 3)
    with store.transaction() as tx:
        resume_watch(tx, watch_id, now_s=9)
    assert [target.watch_id for target in list_due(store, now_s=10, at_most=9)] == [watch_id]
    say(store, Said(owner=3), 4)
    # Its only watcher was paused in the meantime, so it gets the present state.
    assert delivered_changes(store, watch_id) == [
        [("owner_address", address(1), address(2))],
        [("owner_address", address(2), address(3))],
    ]


def test_what_a_full_queue_does_not_take_is_counted_and_said(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch_events, "MOST_PENDING", 2)
    watch_id = watch(store, url="https://a.test")
    for number in range(1, 7):
        say(store, Said(owner=number), number)
    found = find_watch(store, watch_id)
    assert found is not None
    assert (found.pending, found.missed) == (2, 3)
    first = find_next(store, watch_id)
    assert first is not None
    note_delivered(store, first, now_s=7)
    note_delivered(store, first, now_s=7)
    say(store, Said(owner=9), 9)
    assert [message.missed for message in messages(store, watch_id)] == [0, 0, 3]
    found = find_watch(store, watch_id)
    assert found is not None
    assert (found.pending, found.missed) == (2, 0)
    assert read_rows(store, "select count(*) from watch_event") == [(3,)]


def test_a_new_token_is_due_for_one_analysis(store: Store) -> None:
    watch(store)
    taken = take_tasks(store, "changed", chain_id=1, now_s=5, again_s=6, at_most=9)
    assert [task.token.address for task in taken] == [TOKEN]
    say(store, Said(), 5, is_settled=False)
    assert take_tasks(store, "changed", chain_id=1, now_s=7, again_s=8, at_most=9)
    say(store, Said(), 8)
    assert not take_tasks(store, "changed", chain_id=1, now_s=10**9, again_s=10**9, at_most=9)


def test_a_watch_that_goes_takes_everything_of_its_own_along(store: Store) -> None:
    gone, stays = watch(store), watch(store, TOKEN, address(8))
    for number in (1, 2):
        say(store, Said(owner=number), number)
        say(store, Said(owner=number), number, token=address(8))
    with store.transaction() as tx:
        remove_watch(tx, gone)
        assert remove_tokens(tx, stays, chain_id=1, addresses=[address(8), address(9)]) == 1
    assert read_rows(store, "select count(*) from watch_state") == [(1,)]
    with store.transaction() as tx:
        remove_watch(tx, stays)
    for table in ("watch", "watch_token", "watch_state", "watch_event", "watch_message"):
        assert read_rows(store, f"select count(*) from {table}") == [(0,)]  # noqa: S608


def test_old_messages_are_forgotten_but_none_that_waits(store: Store) -> None:
    reader, hook = watch(store), watch(store, url="https://a.test")
    for number in range(1, 5):
        say(store, Said(owner=number), number)
    delete_old_messages(store, before_s=4)
    assert [message.block_number for message in messages(store, reader)] == [4]
    assert [message.block_number for message in messages(store, hook)] == [2, 3, 4]
    found = find_watch(store, reader)
    assert found is not None
    (left,) = messages(store, reader)
    assert 0 < found.forgotten < left.id


def test_every_part_of_a_report_has_its_kind(store: Store) -> None:
    """Recorded parts of reports are announced, except the reasons, which go with the verdict."""
    watch_id = watch(store, kinds=[*ALL_KINDS, "baseline"])
    say(store, Said(), 1)
    (state,) = read_rows(store, "select state from watch_state")
    assert state
    (message,) = messages(store, watch_id)
    assert message.event is not None
    kinds = {kind_of(change.what) for change in message.event.changes}
    assert kinds <= set(ALL_KINDS)
    assert kind_of("verdict_reasons") is None


texts = st.sampled_from([None, "0", "1", "2"])
states = st.fixed_dictionaries({"verdict": st.sampled_from("ab"), "owner_address": texts})


@given(st.lists(states, min_size=1, max_size=10))
def test_nothing_is_told_twice(seen: list[dict[str, str | None]]) -> None:
    before = None
    for state in seen:
        after = notified_state(before, state)
        assert notable_changes(after, state) == []
        before = after
