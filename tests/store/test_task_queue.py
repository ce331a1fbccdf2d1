"""Protects the queue: the most valuable task first, bounded counts, and nothing lost by a crash."""

from collections.abc import Sequence

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sql.engine.sqlite_file import SqliteTransaction
from sql.engine.store import FileStore, Store
from sql.engine.table_rows import TokenRow
from sql.tokens import task_queue
from sql.tokens.task_queue import (
    DueCounts,
    Task,
    TaskKind,
    add_task,
    count_due,
    drop_task,
    put_task,
    take_tasks,
)
from sql.tokens.tokens import track_tokens
from tests.harness.examples import one_in
from tests.harness.store.empty_files import NewStore
from tests.harness.store.sample_rows import address
from tests.harness.store.store_contents import read_rows, reopened

KINDS: tuple[TaskKind, ...] = ("refresh", "creator", "history")

TOKENS = 8

AGAIN_S = 50


class Put(msgspec.Struct, frozen=True):
    kind: TaskKind
    token: int
    worth: int
    due_s: int
    is_added: bool
    """Only where there is none."""


class Drop(msgspec.Struct, frozen=True):
    kind: TaskKind
    token: int


class Take(msgspec.Struct, frozen=True):
    kind: TaskKind
    at_most: int
    after_s: int
    """Since the last turn."""


kinds = st.sampled_from(KINDS)

tokens = st.integers(0, TOKENS - 1)

worths = st.integers(-3, 3) | st.integers(-(2**62), 2**62)

puts = st.builds(Put, kinds, tokens, worths, st.integers(0, 200), st.booleans())

steps = st.one_of(
    puts,
    puts,
    st.builds(Drop, kinds, tokens),
    st.builds(Take, kinds, st.integers(0, 4), st.integers(0, 60)),
)


class Planned:
    """The queue as a dict: worth, time and whether it was woken, by kind and token."""

    def __init__(self) -> None:
        self.tasks: dict[tuple[TaskKind, int], tuple[int, int, bool]] = {}

    def take(self, step: Take, *, now_s: int, at_most_woken: int) -> list[int]:
        asleep = sorted(
            (due_s, -worth, token)
            for (kind, token), (worth, due_s, is_due) in self.tasks.items()
            if kind == step.kind and not is_due and due_s <= now_s
        )
        # Of tasks of the same time any may be woken first: here there is room for all.
        assert len(asleep) <= at_most_woken
        for due_s, minus_worth, token in asleep:
            self.tasks[step.kind, token] = (-minus_worth, due_s, True)
        due = sorted(
            (-worth, token)
            for (kind, token), (worth, _, is_due) in self.tasks.items()
            if kind == step.kind and is_due
        )
        taken = [token for _, token in due[: step.at_most]]
        for minus_worth, token in due[: step.at_most]:
            self.tasks[step.kind, token] = (-minus_worth, now_s + AGAIN_S, False)
        return taken


def tracked_rows(store: Store, count: int, *, chain_id: int = 1) -> list[TokenRow]:
    """Tokens that nobody has a task for."""
    with store.transaction() as tx:
        seen = {address(at + 1): 0 for at in range(count)}
        return track_tokens(tx, chain_id=chain_id, seen=seen, because="request")


def put(store: Store, token: TokenRow, *, worth: int, due_s: int) -> None:
    with store.transaction() as tx:
        put_task(tx, "refresh", token=token, worth=worth, due_s=due_s)


def take(store: Store, *, now_s: int, at_most: int = 100, chain_id: int = 1) -> list[Task]:
    again_s = now_s + AGAIN_S
    return take_tasks(
        store, "refresh", chain_id=chain_id, now_s=now_s, again_s=again_s, at_most=at_most
    )


@settings(max_examples=one_in(1))
@given(played=st.lists(steps, max_size=40))
def test_the_queue_is_a_list_by_worth(
    temporary_store: NewStore, played: Sequence[Put | Drop | Take]
) -> None:
    with temporary_store() as store:
        rows, planned, now_s = tracked_rows(store, TOKENS), Planned(), 0
        for step in played:
            if isinstance(step, Take):
                now_s += step.after_s
                found = take_tasks(
                    store,
                    step.kind,
                    chain_id=1,
                    now_s=now_s,
                    again_s=now_s + AGAIN_S,
                    at_most=step.at_most,
                )
                wanted = planned.take(step, now_s=now_s, at_most_woken=TOKENS)
                assert [task.token for task in found] == [rows[token] for token in wanted]
                assert [task.worth for task in found] == [
                    planned.tasks[step.kind, token][0] for token in wanted
                ]
                continue
            with store.transaction() as tx:
                if isinstance(step, Drop):
                    drop_task(tx, step.kind, token_id=rows[step.token].token_id)
                    planned.tasks.pop((step.kind, step.token), None)
                    continue
                write = add_task if step.is_added else put_task
                write(tx, step.kind, token=rows[step.token], worth=step.worth, due_s=step.due_s)
                key = (step.kind, step.token)
                if not step.is_added or key not in planned.tasks:
                    planned.tasks[key] = (step.worth, step.due_s, False)


def test_a_task_that_was_taken_comes_again_unless_it_is_done(store: Store) -> None:
    """The process that took it may have died: only the table remembers."""
    (token,) = tracked_rows(store, 1)
    put(store, token, worth=5, due_s=10)
    assert take(store, now_s=9) == []
    assert take(store, now_s=10) == [Task(token=token, worth=5)]
    assert take(store, now_s=10 + AGAIN_S - 1) == []
    other = reopened(store)
    assert take(other, now_s=10 + AGAIN_S) == [Task(token=token, worth=5)]
    other.close()
    with store.transaction() as tx:
        drop_task(tx, "refresh", token_id=token.token_id)
    assert take(store, now_s=10**9) == []


def test_a_turn_that_fails_takes_nothing(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    tokens = tracked_rows(store, 3)
    for token in tokens:
        put(store, token, worth=1, due_s=0)
    before = read_rows(store, "select * from task order by token_id")
    with monkeypatch.context() as patch, pytest.raises(ZeroDivisionError):
        patch.setattr(task_queue, "Task", lambda **_: 1 // 0)
        take(store, now_s=1)
    assert read_rows(store, "select * from task order by token_id") == before
    assert len(take(store, now_s=1)) == 3


def test_tasks_wake_in_bounded_steps_and_none_is_forgotten(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The oldest wake first; a flood of them does not hold the write lock for long."""
    monkeypatch.setattr(task_queue, "_MOST_WOKEN", 4)
    tokens = tracked_rows(store, 10)
    for at, token in enumerate(tokens):
        put(store, token, worth=at, due_s=at)
    taken, awake = [], 0
    for _ in range(10):
        taken += [task.worth for task in take(store, now_s=100, at_most=1)]
        now_awake = read_rows(store, "select count(*) from task where is_due = 1")[0][0]
        assert isinstance(now_awake, int)
        assert now_awake <= awake + 4 - 1
        awake = now_awake
    assert taken[0] == 3  # the best of the four oldest
    assert sorted(taken) == list(range(10))


def test_chains_and_kinds_have_queues_of_their_own(store: Store) -> None:
    (here,), (there,) = tracked_rows(store, 1), tracked_rows(store, 1, chain_id=56)
    for token in (here, there):
        put(store, token, worth=1, due_s=0)
    with store.transaction() as tx:
        put_task(tx, "creator", token=here, worth=9, due_s=0)
    assert take(store, now_s=1, chain_id=56) == [Task(token=there, worth=1)]
    assert take(store, now_s=1) == [Task(token=here, worth=1)]
    creators = take_tasks(store, "creator", chain_id=1, now_s=1, again_s=2, at_most=9)
    assert creators == [Task(token=here, worth=9)]


def test_what_a_turn_costs_does_not_grow_with_the_queue(file_store: FileStore) -> None:
    """Counted in steps of SQLite's virtual machine, a hundred times as many tasks."""
    costs = []
    for count in (100, 10_000):
        with file_store.transaction() as tx:
            assert isinstance(tx, SqliteTransaction)
            tx._connection.execute("delete from task")
            tx._connection.executemany(
                "insert into task values ('refresh', ?, 1, ?, ?, ?)",
                ((at, at % 977, at, at % 2) for at in range(1, count + 1)),
            )
        costs.append(steps_of_a_turn(file_store, now_s=5))
    assert costs[1] < 2 * costs[0]


def steps_of_a_turn(file_store: FileStore, *, now_s: int) -> int:
    """In tens."""
    tens = [0]

    def note() -> int:
        tens[0] += 1
        return 0

    with file_store.transaction() as tx:
        assert isinstance(tx, SqliteTransaction)
        tx._connection.set_progress_handler(note, 10)
    try:
        take(file_store, now_s=now_s, at_most=10)
    finally:
        with file_store.transaction() as tx:
            assert isinstance(tx, SqliteTransaction)
            tx._connection.set_progress_handler(None, 10)
    return tens[0]


# --- due counts ---------------------------------------------------------------------------------

NOW_S = 10_000_000

AGES_S = (0, 59, 60, 3_599, 3_600, 86_399, 86_400, NOW_S)


def put_due(store: Store, due: list[int]) -> None:
    with store.transaction() as tx:
        seen = {address(at + 1): 0 for at in range(len(due))}
        tokens = track_tokens(tx, chain_id=1, seen=seen, because="request")
        for token, due_s in zip(tokens, due, strict=True):
            put_task(tx, "history", token=token, worth=due_s % 7, due_s=due_s)


@settings(max_examples=one_in(4))
@given(
    ages_s=st.lists(st.sampled_from(AGES_S) | st.integers(-100, NOW_S - 1), max_size=12),
    is_woken=st.booleans(),
)
def test_they_are_those_of_a_list(
    temporary_store: NewStore, ages_s: list[int], is_woken: bool
) -> None:
    with temporary_store() as store:
        put_due(store, [NOW_S - age_s for age_s in ages_s])
        if is_woken:  # and taken by nobody
            take_tasks(store, "history", chain_id=1, now_s=NOW_S, again_s=NOW_S, at_most=0)
        found = count_due(store, "history", chain_id=1, now_s=NOW_S)
        assert count_due(store, "refresh", chain_id=1, now_s=NOW_S) == DueCounts()
        assert count_due(store, "history", chain_id=2, now_s=NOW_S) == DueCounts()
    due = [age_s for age_s in ages_s if 0 <= age_s < NOW_S]
    assert found == DueCounts(
        new=ages_s.count(NOW_S),
        minute=sum(age_s < 60 for age_s in due),
        hour=sum(60 <= age_s < 3_600 for age_s in due),
        day=sum(3_600 <= age_s < 86_400 for age_s in due),
        older=sum(age_s >= 86_400 for age_s in due),
    )


def test_they_are_bounded(temporary_store: NewStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(task_queue, "COUNTED_AT_MOST", 3)
    with temporary_store() as store:
        put_due(store, [NOW_S - 5] * 10)
        assert count_due(store, "history", chain_id=1, now_s=NOW_S).minute == 3
