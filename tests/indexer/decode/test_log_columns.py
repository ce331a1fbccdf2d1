"""Columns of logs are the same logs however they are cut, joined and selected."""

import itertools

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.evm.primitives import Hash32
from core.rpc.failures import DisagreementError
from indexer.answer_checks import check_range_logs
from indexer.decode import log_columns
from indexer.decode.log_columns import LogColumns, join_logs
from indexer.decode.logs import decode_logs
from tests.harness.indexer.log_answers import (
    NODES,
    SWAP,
    TRANSFER,
    MadeLog,
    lot_of,
    make_logs,
    members_of,
    write_answer,
)
from tests.harness.indexer.wire_logs import expected_rows, rows_of

GETH = NODES["geth"]
SEEDS = st.integers(0, 2**32)
TOPICS = [Hash32("0x" + TRANSFER), Hash32("0x" + SWAP)]


def columns(logs: list[MadeLog]) -> LogColumns:
    return decode_logs(write_answer([members_of(log, GETH) for log in logs], GETH))


@pytest.fixture(params=[0, 10**6], ids=["chained", "merged"])
def merging(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_columns, "_MERGED_BELOW", request.param)


@pytest.mark.usefixtures("merging")
@pytest.mark.parametrize("cuts", [[], [0], [7], [1, 2, 3], [10, 10, 20]])
def test_parts_joined_are_the_whole(cuts: list[int]) -> None:
    logs = make_logs(lot_of(cuts), 30)
    bounds = [0, *cuts, 30]
    parts = [columns(logs[at:end]) for at, end in itertools.pairwise(bounds)]
    joined = join_logs(parts)
    assert len(joined) == 30
    assert rows_of(joined) == expected_rows(logs, GETH)
    assert joined.block_numbers().tolist() == [log.block_number for log in logs]
    assert joined.log_indices().tolist() == [log.log_index for log in logs]


@pytest.mark.parametrize("seed", range(5))
def test_selections_are_those_of_a_list(seed: int) -> None:
    logs = make_logs(lot_of(seed), 40)
    whole = join_logs([columns(logs[:15]), columns(logs[15:])])
    for number in {log.block_number for log in logs}:
        own = [log for log in logs if log.block_number == number]
        assert rows_of(whole.in_block(number)) == expected_rows(own, GETH)
    swaps = [log for log in logs if log.topics[:1] == (SWAP,)]
    assert rows_of(whole.only_topics([bytes.fromhex(SWAP)])) == expected_rows(swaps, GETH)
    assert not len(whole.only_topics([]))
    assert not len(whole.in_block(10**9))


def test_unknown_times_are_noticed() -> None:
    (log,) = make_logs(lot_of(1), 1)
    timed, untimed = members_of(log, GETH), members_of(log, NODES["older geth"])
    assert not decode_logs(write_answer([timed, timed], GETH)).lacks_times()
    assert decode_logs(write_answer([timed, untimed], GETH)).lacks_times()


def plain(logs: list[MadeLog]) -> list[MadeLog]:
    """Those that a query for the topics would return."""
    return [log for log in logs if log.topics]


@pytest.mark.usefixtures("merging")
@pytest.mark.parametrize("seed", range(8))
def test_a_second_hash_of_a_block_is_seen_across_shapes(seed: int) -> None:
    lot = lot_of(seed)
    logs = plain(make_logs(lot, 40))
    first, last = logs[0].block_number, logs[-1].block_number

    def check(some: list[MadeLog]) -> None:
        check_range_logs(columns(some), first=first, last=last, topics=TOPICS, headers=[])

    check(logs)
    for at, log in enumerate(logs):
        # Only its last byte differs: equal beginnings can be made.
        other = log.block_hash[:-2] + f"{int(log.block_hash[-2:], 16) ^ 1:02x}"
        changed = [*logs]
        changed[at] = msgspec.structs.replace(log, block_hash=other)
        if sum(one.block_number == log.block_number for one in logs) == 1:
            check(changed)
            continue
        with pytest.raises(DisagreementError, match="two hashes"):
            check(changed)


@given(seed=SEEDS, at=st.integers(0, 19), other=st.integers(0, 19))
def test_two_logs_that_change_places_are_seen(seed: int, at: int, other: int) -> None:
    logs = plain(make_logs(lot_of(seed), 30))[:20]
    first, last = logs[0].block_number, logs[-1].block_number
    swapped = [*logs]
    at, other = at % len(logs), other % len(logs)
    swapped[at], swapped[other] = swapped[other], swapped[at]
    found = columns(swapped)
    if at == other:
        check_range_logs(found, first=first, last=last, topics=TOPICS, headers=[])
        return
    with pytest.raises(DisagreementError, match="out of order"):
        check_range_logs(found, first=first, last=last, topics=TOPICS, headers=[])
