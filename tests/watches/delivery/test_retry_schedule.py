"""Protects the pace of retries: quick at first, never a hammer, and over after a day."""

from hypothesis import given
from hypothesis import strategies as st

from api.watches.delivery.delivery_worker import GIVE_UP_AFTER_S, LONGEST_WAIT_S, next_attempt_s

chances = st.floats(0, 1)


@given(st.integers(1, 200), chances, st.none() | st.floats(0, 1e9))
def test_a_wait_is_never_too_short_nor_too_long(
    failures: int, chance: float, wanted_s: float | None
) -> None:
    due_s = next_attempt_s(
        failures=failures, failed_first_at_s=0.0, now_s=1.0, chance=chance, retry_after_s=wanted_s
    )
    assert due_s is not None
    wait_s = due_s - 1.0
    assert 0.5 <= wait_s <= LONGEST_WAIT_S
    assert wait_s >= min(2.0 ** (failures - 1), LONGEST_WAIT_S) / 2
    assert wanted_s is None or wait_s >= min(wanted_s, LONGEST_WAIT_S)


@given(st.lists(chances, min_size=100, max_size=100))
def test_a_receiver_that_stays_away_is_tried_for_a_day(chosen: list[float]) -> None:
    now_s, attempts = 0.0, 0
    for chance in chosen:
        attempts += 1
        due_s = next_attempt_s(failures=attempts, failed_first_at_s=0.0, now_s=now_s, chance=chance)
        if due_s is None:
            break
        now_s = due_s
    assert GIVE_UP_AFTER_S <= now_s <= GIVE_UP_AFTER_S + LONGEST_WAIT_S
    assert 30 < attempts < 75
