"""Protects the counts of due tasks: they are those of a list, and bounded."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sql.engine.store import Store
from sql.tokens import task_queue
from sql.tokens.task_queue import DueCounts, count_due, put_task, take_tasks
from sql.tokens.tokens import track_tokens
from tests.harness.examples import one_in
from tests.harness.store.empty_files import NewStore
from tests.harness.store.sample_rows import address

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
