"""Columns of logs are the same logs however they are cut, and those of a back-fill are sorted."""

import itertools

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.evm.primitives import Hash32
from core.process.arrays import ByteArray
from core.rpc.failures import DisagreementError
from indexer.answer_checks import check_range_logs
from indexer.decode import log_columns
from indexer.decode.log_columns import LogColumns, join_logs
from indexer.decode.logs import decode_logs
from indexer.decode.transfer_events import TransferColumns
from indexer.history import bulk_writer
from indexer.history.bulk_writer import to_lake
from sql.lake.bulk_append import TOKEN_COLUMNS_IN, TRANSFER_COLUMNS_IN
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
def test_two_logs_that_change_places_are_put_in_order(seed: int, at: int, other: int) -> None:
    logs = plain(make_logs(lot_of(seed), 30))[:20]
    swapped = [*logs]
    at, other = at % len(logs), other % len(logs)
    swapped[at], swapped[other] = swapped[other], swapped[at]
    found = columns(swapped)
    where = {"first": logs[0].block_number, "last": logs[-1].block_number, "topics": TOPICS}
    check_range_logs(found, headers=[], **where)  # type: ignore[arg-type]  # mixed keywords
    assert rows_of(found) == rows_of(columns(logs))


# --- bulk columns -------------------------------------------------------------------------------

ADDRESSES = st.binary(min_size=20, max_size=20)

AMOUNTS = st.sampled_from([0, 1, 2**64 - 1, 2**64, 2**128, 2**255, 2**256 - 1])

LOW = 2**64 - 1


def bytes_of(values: list[bytes], size: int) -> ByteArray:
    """Return every second of twice as many longer rows, as decoders hand over views."""
    whole = np.zeros((2 * len(values), size + 3), np.uint8)
    whole[::2, 1 : size + 1] = np.frombuffer(b"".join(values), np.uint8).reshape(-1, size)
    return whole[::2, 1 : size + 1]


@pytest.mark.parametrize("few", [bulk_writer._FEW, 0], ids=["radix", "many tokens"])
@given(
    tokens=st.lists(ADDRESSES, min_size=1, max_size=6, unique=True),
    rows=st.lists(st.tuples(st.integers(0, 5), ADDRESSES, ADDRESSES, AMOUNTS), max_size=30),
)
def test_rows_are_sorted_by_token_and_each_keeps_its_numbers(
    few: int, tokens: list[bytes], rows: list[tuple[int, bytes, bytes, int]]
) -> None:
    """Ids are given out in the order in which tokens were met, which is none of addresses."""
    chosen = [at % len(tokens) for at, *_ in rows]
    transfers = TransferColumns(
        block_number=np.arange(len(rows), dtype=np.int64) // 3 + 2**40,
        log_index=np.arange(len(rows), dtype=np.int32),
        token=bytes_of([tokens[at] for at in chosen], 20),
        sender=bytes_of([sender for _, sender, _, _ in rows], 20),
        recipient=bytes_of([recipient for _, _, recipient, _ in rows], 20),
        amount=bytes_of([amount.to_bytes(32) for *_, amount in rows], 32),
        time_s=np.arange(len(rows), dtype=np.int64) // 3 - 1,
    )
    ids = np.array([7 * at + 3 for at in chosen], np.int32)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bulk_writer, "_FEW", few)
        found = to_lake(transfers, ids)

    expected = [
        (
            *(at // 3 + 2**40, at, 7 * token + 3),
            *(part for side in (sender, recipient) for part in in_three(side)),
            *(amount >> 64 * word & LOW for word in range(4)),
            at // 3 - 1,
        )
        for at, (token, (_, sender, recipient, amount)) in enumerate(zip(chosen, rows, strict=True))
    ]
    expected.sort(key=lambda row: (tokens[(row[2] - 3) // 7], row[0], row[1]))
    assert tuple(found.transfers) == TRANSFER_COLUMNS_IN
    assert [
        *zip(*(column.tolist() for column in found.transfers.values()), strict=True)
    ] == expected
    assert tuple(found.tokens) == TOKEN_COLUMNS_IN
    stored_tokens = {*zip(*(column.tolist() for column in found.tokens.values()), strict=True)}
    assert stored_tokens == {(7 * at + 3, *in_three(tokens[at])) for at in chosen}


def in_three(address: bytes) -> tuple[int, int, int]:
    """Return the highest 32, middle 64 and lowest 64 bits."""
    number = int.from_bytes(address)
    return number >> 128, number >> 64 & LOW, number & LOW
