"""Stored transfers of a token are complete from their first block on, whatever happens.

And they begin with the token's first, unless the node or the bounds forbid it.
"""

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from unittest.mock import Mock

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import invariant, precondition, rule

from assay.service.record_report import record_report
from core.errors import StoreError
from indexer.history import transfer_history
from indexer.history.backfill import backfill
from indexer.history.transfer_history import Histories
from sql.chain.history_tables import read_history
from sql.engine.store import Store
from sql.engine.table_rows import HistoryRow
from sql.tokens.task_queue import put_task
from sql.tokens.tokens import list_tracked
from tests.harness.bare_reports import bare_report
from tests.harness.examples import one_in
from tests.harness.indexer.follow_machine import LIES, Following
from tests.harness.indexer.token_histories import (
    BUSY,
    POOL_AT,
    QUIET,
    REPORTED_AT_S,
    SETTINGS,
    analysed,
    followed,
    histories_of,
    lived,
    row_of,
    run_out,
    sent_in,
    stored,
)
from tests.harness.node.chain import (
    CHAIN,
    TOKENS,
    InstantClock,
    Minted,
    Odd,
    Pair,
    ScriptedNode,
    Sent,
    client_of,
)
from tests.harness.store.empty_files import new_store
from tests.harness.store.sample_rows import LATER
from tests.harness.store.store_contents import undecoded_in

LONG_S = 1e6


def past_of(store: Store, number: int) -> HistoryRow | None:
    return read_history(store, token_id=row_of(store, number).token_id)


class Remembering(Following):
    """Following with occasional analyses of tokens, whose histories are then fetched."""

    @rule(number=st.integers(0, 3))
    def judge(self, number: int) -> None:
        """One that is not tracked is so from now on."""
        record_report(self.store, bare_report(TOKENS[number], scanned_at_s=1), LATER)
        self.is_level = False

    @rule(
        turns=st.integers(1, 3),
        max_range=st.integers(1, 8),
        keeps_states=st.booleans(),
        lies=st.lists(st.sampled_from(sorted(LIES.keys() - {"no logs"})), max_size=2),
    )
    def take_turns(
        self, turns: int, max_range: int, keeps_states: bool, lies: Sequence[str]
    ) -> None:
        """Withheld old logs show in no other way, so this node does not withhold them."""
        self.node.max_range, self.node.keeps_states = max_range, keeps_states
        self.node.lies = [LIES[name] for name in lies]
        self.run(self.histories_taken(turns))
        self.node.max_range, self.node.keeps_states, self.node.lies = 1_000_000, True, []

    async def histories_taken(self, turns: int) -> bool:
        """Run the histories in a new process, without remembered patience. True: there is nothing
        left to do."""
        clock = InstantClock()
        histories = Histories(CHAIN, self.client, self.store, SETTINGS, now_s=clock.now_s)
        for _ in range(turns):
            clock.time_s += LONG_S
            if not await histories.fetch_next():
                return True
        return False

    @precondition(lambda self: getattr(self, "is_level", False))
    @invariant()
    def what_is_held_is_the_canonical_chain(self) -> None:
        for row in list_tracked(self.store, chain_id=1):
            number = TOKENS.index(row.address)
            stored_rows, sent = stored(self.store, number), sent_in(self.node.canonical, number)
            assert stored_rows == sent[len(sent) - len(stored_rows) :]
            if row.transfers_from_block is not None:
                due = sent_in(self.node.canonical, number, since=row.transfers_from_block)
                assert len(stored_rows) >= len(due)

    def teardown(self) -> None:
        if not hasattr(self, "runner"):
            return
        self.catch_up()
        for number in range(4):
            self.judge(number)
        for _ in range(CHAIN.finality_blocks + 1):
            self.node.extend(())
        self.catch_up()
        self.node.extend(())  # before it, the blocks below are read a second time
        self.catch_up()
        try:
            assert self.run(self.histories_taken(1_000))
            for number in range(4):
                assert stored(self.store, number) == sent_in(self.node.canonical, number)
                past = past_of(self.store, number)
                is_whole = past is not None and past.is_whole
                assert is_whole or row_of(self.store, number).transfers_from_block == 0
        finally:
            super().teardown()


Remembering.TestCase.settings = settings(
    max_examples=one_in(8),
    stateful_step_count=12,
    suppress_health_check=list(HealthCheck),
)
test_remembering = Remembering.TestCase


# --- one token, whose pool comes late -------------------------------------------------------------


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = new_store(tmp_path / "store.duckdb")
    yield opened
    opened.close()


@pytest.fixture
def clock() -> InstantClock:
    """After the first report, with which the history is due."""
    clock = InstantClock()
    clock.time_s = REPORTED_AT_S
    return clock


async def test_it_ends_where_the_token_began(store: Store, clock: InstantClock) -> None:
    node = lived()
    await followed(node, store)
    node.ranges.clear()
    await run_out(histories_of(node, store, clock))
    assert stored(store, 0) == sent_in(node.canonical, 0)
    past = past_of(store, 0)
    assert past is not None
    assert past.is_whole
    assert past.logs == BUSY
    assert 1 + QUIET - 8 < min(first for first, _ in node.ranges) <= 1 + QUIET
    assert not stored(store, 1), "another token's"


@pytest.mark.parametrize(
    ("bounds", "requests"),
    [
        ({"history_logs": 10}, 2),
        ({"history_requests": 3}, 3),
        ({"history_requests": 45, "initial_log_range": 1, "max_log_range": 1}, 45),
    ],
)
async def test_a_giant_is_left_where_the_bound_is(
    store: Store, clock: InstantClock, bounds: dict[str, int], requests: int
) -> None:
    node = lived()
    await followed(node, store)
    node.ranges.clear()
    await run_out(histories_of(node, store, clock, **bounds))
    past = past_of(store, 0)
    assert past is not None
    assert not past.is_whole
    since = row_of(store, 0).transfers_from_block
    assert since is not None
    assert 0 < since < POOL_AT
    assert stored(store, 0) == sent_in(node.canonical, 0, since=since)
    assert past.requests == len(node.ranges) == requests
    clock.time_s += LONG_S
    analysed(store)
    assert await run_out(histories_of(node, store, clock, **bounds)) == 0
    analysed(store)
    await run_out(histories_of(node, store, clock))  # the operator allows more
    assert stored(store, 0) == sent_in(node.canonical, 0)


async def test_a_node_that_has_forgotten_all_code_tells_of_no_beginning(
    store: Store, clock: InstantClock
) -> None:
    node = lived()
    await followed(node, store)
    node.says_no_code = True
    await run_out(histories_of(node, store, clock))
    assert row_of(store, 0).transfers_from_block == 0
    assert stored(store, 0) == sent_in(node.canonical, 0)


async def test_no_request_is_no_history(store: Store, clock: InstantClock) -> None:
    node = lived()
    await followed(node, store)
    assert await run_out(histories_of(node, store, clock, history_requests=0)) == 0


async def test_a_node_without_old_logs_is_asked_again_rarely(
    store: Store, clock: InstantClock
) -> None:
    node = lived()
    await followed(node, store)
    node.oldest_logs = 60
    histories = histories_of(node, store, clock)
    node.ranges.clear()
    for _ in range(100):
        await histories.fetch_next()
        clock.time_s += 3_600.0
    assert len(node.ranges) < 150, "hours of waiting, the longer the more it was refused"
    since = row_of(store, 0).transfers_from_block
    assert since is not None
    assert 60 <= since < POOL_AT
    past = past_of(store, 0)
    assert past is not None
    assert not past.is_whole
    assert stored(store, 0) == sent_in(node.canonical, 0, since=since)
    node.oldest_logs = 0
    clock.time_s += LONG_S
    await run_out(histories)
    assert stored(store, 0) == sent_in(node.canonical, 0)


async def test_a_turn_that_did_not_end_comes_again_within_a_minute(
    store: Store, clock: InstantClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A caller waits for a history whose process was restarted."""
    node = lived()
    await followed(node, store)
    full = Mock(side_effect=StoreError(path="store.duckdb", reason="the disk is full"))
    with monkeypatch.context() as patch, pytest.raises(StoreError):
        patch.setattr(transfer_history, "write_history", full)
        await histories_of(node, store, clock).fetch_next()
    restarted = histories_of(node, store, clock)
    assert await run_out(restarted) == 0, "others come first"
    clock.time_s += 60.0
    await run_out(restarted)
    assert stored(store, 0) == sent_in(node.canonical, 0)


@pytest.mark.parametrize(("supply_raw", "is_told"), [(777, True), (778, False), (776, False)])
async def test_without_old_states_the_supply_tells_the_end(
    store: Store, clock: InstantClock, supply_raw: int, is_told: bool
) -> None:
    node = ScriptedNode()
    node.keeps_states = False
    for number in range(1, POOL_AT):
        node.extend([Minted(0, 777)] if number == POOL_AT - 20 else ())
    node.extend([Pair(-1, 0)])
    for _ in range(CHAIN.finality_blocks):
        node.extend(())
    await followed(node, store, supply_raw=supply_raw)
    await run_out(histories_of(node, store, clock))
    since = row_of(store, 0).transfers_from_block
    assert since is not None
    assert POOL_AT - 30 < since <= POOL_AT - 20 if is_told else since == 0


async def test_logs_of_another_shape_are_kept_once_whoever_brings_them(
    store: Store, clock: InstantClock
) -> None:
    node = lived(odd_every=7)
    await followed(node, store)
    await run_out(histories_of(node, store, clock))
    odd = [block.number for block in node.canonical if Odd(0) in block.events]
    assert len(odd) > 5
    assert [row[1] for row in undecoded_in(store)] == odd
    past = past_of(store, 0)
    assert past is not None
    assert past.logs == BUSY, "they count, too"
    await backfill(CHAIN, client_of(node), store, SETTINGS, from_block=0, to_block=70, clock=clock)
    assert row_of(store, 0).first_seen_block == 1 + QUIET, "so it brings the same transfers"
    assert [row[1] for row in undecoded_in(store)] == odd
    assert stored(store, 0) == sent_in(node.canonical, 0)


async def test_only_final_blocks_are_fetched(store: Store, clock: InstantClock) -> None:
    node = lived()
    node.reorg(12, [[Sent(0, 1)]] * 2)  # the joint is not final any more
    await followed(node, store)
    assert node.head.number - POOL_AT < CHAIN.finality_blocks
    histories = histories_of(node, store, clock)
    while node.head.number - POOL_AT < CHAIN.finality_blocks - 1:
        assert not await histories.fetch_next()
        clock.time_s += LONG_S
        node.extend(())
        await followed(node, store)
    node.extend(())
    await followed(node, store)
    assert await histories.fetch_next()


async def test_a_token_that_was_just_analysed_is_due(store: Store) -> None:
    """Reports are dated by Unix time, so that is the clock of the queue too."""
    node = lived()
    await followed(node, store)
    with store.transaction() as tx:
        put_task(tx, "history", token=row_of(store, 0), worth=0, due_s=int(time.time()))
    assert await Histories(CHAIN, client_of(node), store, SETTINGS).fetch_next()
    assert len(stored(store, 0)) > len(sent_in(node.canonical, 0, since=POOL_AT))
