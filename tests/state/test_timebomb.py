"""Protects the timebomb: the specification's six rules and its table of statuses, row by row."""

from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.token.contract_clock import ClockReading, ContractClock, clock_at
from analysis.token.timebomb_status import (
    HARMLESS,
    PRECEDENCE,
    YEAR_S,
    Timebomb,
    TimebombState,
    find_status,
    imply,
    place,
    storage_can_change,
)
from core.evm.primitives import Hash32
from core.report.report import ClockLimitRow

NOW_S = 1_790_000_000
BLOCK = 20_000_000
CLOCK = clock_at(ClockReading(block_number=BLOCK, time_s=NOW_S), block_interval_s=12.0)
YEAR_BLOCKS = YEAR_S // 12
SLOT = Hash32("0x" + "0" * 63 + "5")

Compared = Literal["block", "timestamp"] | None


def constant(value: int, compared_with: Compared = None) -> ClockLimitRow:
    return ClockLimitRow(source="constant", slot=None, value=value, compared_with=compared_with)


def stored(value: int | None, compared_with: Compared = None) -> ClockLimitRow:
    return ClockLimitRow(source="storage", slot=SLOT, value=value, compared_with=compared_with)


STAMP = ClockLimitRow(source="stamp", slot=None, value=None, compared_with="block")
OUT_OF_REACH = ClockLimitRow(source="storage", slot=None, value=None, compared_with=None)


# --- placing a value ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "placed"),
    [
        # rule 2: the Unix-time range
        (1_000_000_000, "timestamp"),
        (1_600_000_000, "timestamp"),
        (1_600_000_020, "timestamp"),  # a multiple of 60, as durations of blocks are
        (NOW_S, "timestamp"),
        (NOW_S + 10 * YEAR_S, "timestamp"),
        # rule 3: about two years back to ten years ahead, no multiple of 60
        (BLOCK + 1, "block"),
        (BLOCK - 2 * YEAR_BLOCKS + 1, "block"),
        (BLOCK - 3 * YEAR_BLOCKS + 1, None),
        (BLOCK + 10 * YEAR_BLOCKS - 1, "block"),
        (BLOCK + 10 * YEAR_BLOCKS + 1, None),  # far ahead of the blocks, and not of the time
        (BLOCK + 40, None),  # 20,000,040 is a multiple of 60
        # rule 4: ahead of both clocks by more than ten years
        (NOW_S + 10 * YEAR_S + 1, "limit"),
        (4_102_444_800, "limit"),
        (2**32, "limit"),
        (2**48 - 1, "limit"),
        (2**256 - 1, "limit"),
        # rule 5: everything else
        (0, None),
        (1, None),
        (3_600, None),
        (86_401, None),
        (31_536_000, None),
        (999_999_999, None),
        (-5, None),
    ],
)
def test_a_value_is_placed(value: int, placed: str | None) -> None:
    assert place(value, CLOCK) == placed


@pytest.mark.parametrize(
    ("value", "compared_with", "placed"),
    [
        (BLOCK + 1, "block", "block"),
        (BLOCK + 1, "timestamp", None),  # seconds that look like a block
        (NOW_S, "timestamp", "timestamp"),
        (NOW_S, "block", None),
        (2**32, "block", "limit"),
        (2**32, "timestamp", "limit"),
        (BLOCK + 40, "block", None),
    ],
)
def test_code_that_names_its_clock_is_not_placed_on_the_other(
    value: int, compared_with: Compared, placed: str | None
) -> None:
    assert place(value, CLOCK, compared_with=compared_with) == placed


def test_the_blocks_of_a_fast_chain_may_reach_into_the_unix_times() -> None:
    fast = clock_at(ClockReading(block_number=900_000_000, time_s=NOW_S), block_interval_s=0.25)
    assert place(1_100_000_001, fast) == "timestamp"
    assert place(1_100_000_001, fast, compared_with="block") == "block"


# --- statuses ----------------------------------------------------------------------------------

FRESH_S, OLD_S = NOW_S - YEAR_S, NOW_S - YEAR_S - 1
"""A stored deadline is old when it is more than a year past."""

OLD_BLOCK = BLOCK - 2 * YEAR_BLOCKS - 1
"""Two years at the nominal block time are one at half of it."""


@pytest.mark.parametrize(
    ("limit", "owner_gone", "owner_live"),
    [
        # armed: a deadline is still ahead
        (constant(NOW_S + 1), "armed", "armed"),
        (constant(BLOCK + 1), "armed", "armed"),
        (stored(NOW_S + 1), "armed", "armed"),
        (stored(BLOCK + 1), "armed", "armed"),
        # passed: at or after the value, and nobody can move it
        (constant(NOW_S), "passed", "passed"),
        (constant(BLOCK - 1), "passed", "passed"),
        (stored(OLD_S), "passed", "resettable"),
        (stored(OLD_BLOCK), "passed", "resettable"),
        # unknown: passed, but not old enough
        (stored(FRESH_S), "unknown", "unknown"),
        (stored(NOW_S), "unknown", "unknown"),
        (stored(OLD_BLOCK + 2), "unknown", "unknown"),
        # unreachable: a limit, and a stored one only when the owner is gone
        (constant(2**32), "unreachable", "unreachable"),
        (stored(2**48 - 1), "unreachable", "resettable"),
        # unknown again: not placed
        (constant(3_600), "unknown", "unknown"),
        (stored(0), "unknown", "unknown"),
        (stored(BLOCK - 4 * YEAR_BLOCKS + 1), "unknown", "unknown"),
        (stored(None), "unknown", "unknown"),
        (OUT_OF_REACH, "unknown", "unknown"),
        # what only ever holds the clock of an earlier call
        (STAMP, "passed", "passed"),
    ],
)
def test_the_status_of_one_limit(
    limit: ClockLimitRow, owner_gone: TimebombState, owner_live: TimebombState
) -> None:
    assert imply(limit, CLOCK, can_change=False) == owner_gone
    assert imply(limit, CLOCK, can_change=True) == owner_live


@pytest.mark.parametrize(
    ("renounced", "vacant", "can_change"),
    [
        (True, True, False),
        (True, False, True),  # an owner-check slot holds something
        (True, None, True),  # or could not be read
        (False, True, True),
        (None, True, True),
    ],
)
def test_who_may_still_be_there(renounced: Any, vacant: Any, can_change: bool) -> None:
    found = storage_can_change(ownership_renounced=renounced, owner_slots_vacant=vacant)
    assert found is can_change


@pytest.mark.parametrize(
    ("limits", "can_change", "status"),
    [
        ((constant(NOW_S - 9), constant(2**32)), False, "passed"),
        ((constant(NOW_S - 9), stored(2**32)), True, "resettable"),
        ((constant(NOW_S - 9), stored(2**32)), False, "passed"),
        ((constant(2**32), constant(60)), False, "unknown"),
        ((stored(OLD_S), stored(0)), True, "unknown"),
        ((STAMP, stored(0)), False, "unknown"),
        ((stored(0), OUT_OF_REACH, constant(NOW_S + 9)), True, "armed"),
        ((), False, "unknown"),  # the clock is compared, with what was not understood
    ],
)
def test_the_first_status_in_order_wins(
    limits: tuple[ClockLimitRow, ...], can_change: bool, status: TimebombState
) -> None:
    assert find_status(True, limits, clock=CLOCK, can_change=can_change).status == status


@pytest.mark.parametrize("found", [False, None, "pending"])
def test_without_a_finding_there_is_no_status(found: Any) -> None:
    answer = find_status(found, (constant(NOW_S + 1),), clock=CLOCK, can_change=True)
    assert answer == Timebomb(found=found, status=None, deadlines=())


def test_a_silent_chain_leaves_the_finding_and_says_unknown() -> None:
    answer = find_status(True, (constant(2**32),), clock=None, can_change=False)
    assert answer == Timebomb(found=True, status="unknown", deadlines=())


# --- the list ----------------------------------------------------------------------------------


def test_the_list_holds_each_placed_deadline_once_in_order() -> None:
    limits = (
        stored(NOW_S + 100),
        constant(BLOCK + 1),
        constant(BLOCK - 1),
        constant(BLOCK + 1),
        constant(2**32),
        stored(0),
        OUT_OF_REACH,
        constant(NOW_S + 100),
    )
    deadlines = find_status(True, limits, clock=CLOCK, can_change=True).deadlines
    assert [(row.source, row.clock, row.reached_at_s - NOW_S, row.passed) for row in deadlines] == [
        ("constant", "block", -12, True),
        ("constant", "block", 12, False),
        ("constant", "timestamp", 100, False),
        ("storage", "timestamp", 100, False),
    ]
    assert [row.slot for row in deadlines] == [None, None, None, SLOT]


# --- laws --------------------------------------------------------------------------------------

near = st.sampled_from([BLOCK, NOW_S, OLD_S, OLD_BLOCK, 0, 2**32, NOW_S + 10 * YEAR_S])
values = st.builds(int.__add__, near, st.integers(-100, 100)) | st.integers(-1, 2**256)
compared = st.sampled_from([None, "block", "timestamp"])
stored_limits = st.builds(stored, st.none() | values, compared)
limits = st.builds(constant, values, compared) | stored_limits
lists = st.lists(limits, max_size=5)
waits = st.integers(0, 12 * YEAR_S)


def status_of(rows: list[ClockLimitRow], *, can_change: bool, clock: ContractClock = CLOCK) -> Any:
    return find_status(True, rows, clock=clock, can_change=can_change).status


@given(lists, limits, st.booleans())
def test_one_more_limit_never_weakens_the_status(
    rows: list[ClockLimitRow], more: ClockLimitRow, can_change: bool
) -> None:
    whole = status_of([*rows, more], can_change=can_change)
    alone = imply(more, CLOCK, can_change=can_change)
    former = status_of(rows, can_change=can_change) if rows else alone
    assert whole == min(former, alone, key=PRECEDENCE.index)
    assert status_of([more, *reversed(rows)], can_change=can_change) == whole


@given(st.lists(stored_limits, min_size=1), waits)
def test_nothing_stored_becomes_harmless_while_somebody_may_move_it(
    rows: list[ClockLimitRow], wait_s: int
) -> None:
    answer = find_status(True, rows, clock=CLOCK.moved_on(wait_s), can_change=True)
    assert answer.found is True


@given(lists, st.booleans())
def test_an_owner_who_is_gone_never_makes_it_worse(rows: list[ClockLimitRow], live: bool) -> None:
    gone = find_status(True, rows, clock=CLOCK, can_change=False)
    there = find_status(True, rows, clock=CLOCK, can_change=live)
    assert not (gone.found and not there.found)
    assert gone.deadlines == there.deadlines


@given(lists, st.booleans(), waits)
def test_the_finding_is_off_under_harmless_statuses_alone(
    rows: list[ClockLimitRow], can_change: bool, wait_s: int
) -> None:
    answer = find_status(True, rows, clock=CLOCK.moved_on(wait_s), can_change=can_change)
    assert answer.found is (answer.status not in HARMLESS)
    times = [deadline.reached_at_s for deadline in answer.deadlines]
    assert times == sorted(times)
    assert (answer.status == "armed") is any(not row.passed for row in answer.deadlines)


@given(st.integers(1, 10 * YEAR_S))
def test_a_constant_passes_when_the_clock_reaches_it(ahead_s: int) -> None:
    rows = [constant(NOW_S + ahead_s)]
    assert status_of(rows, can_change=True, clock=CLOCK.moved_on(ahead_s - 1)) == "armed"
    assert status_of(rows, can_change=True, clock=CLOCK.moved_on(ahead_s)) == "passed"


def test_a_stored_deadline_grows_old() -> None:
    rows = [stored(NOW_S + 10)]
    course = [(9, "armed"), (10, "unknown"), (10 + YEAR_S, "unknown"), (11 + YEAR_S, "passed")]
    for wait_s, status in course:
        assert status_of(rows, can_change=False, clock=CLOCK.moved_on(wait_s)) == status


def test_a_limit_comes_into_reach() -> None:
    rows = [constant(NOW_S + 10 * YEAR_S + 1)]
    assert status_of(rows, can_change=False) == "unreachable"
    assert status_of(rows, can_change=False, clock=CLOCK.moved_on(1)) == "armed"


@given(st.integers(-YEAR_BLOCKS, YEAR_BLOCKS), st.integers(0, YEAR_S // 2))
def test_a_block_stays_where_it_is_expected_while_the_clock_moves_on(
    blocks: int, wait_s: int
) -> None:
    row = constant(BLOCK + blocks)
    for clock in (CLOCK, CLOCK.moved_on(wait_s)):
        for deadline in find_status(True, [row], clock=clock, can_change=False).deadlines:
            assert deadline.reached_at_s == NOW_S + 12 * blocks
            assert deadline.passed is (clock.time_s >= NOW_S + 12 * blocks)
