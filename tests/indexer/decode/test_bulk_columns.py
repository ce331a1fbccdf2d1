"""Protects the columns that a back-fill hands to the lake: the numbers of each transfer, sorted."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.process.arrays import ByteArray
from indexer.decode.transfer_events import TransferColumns
from indexer.history import bulk_writer
from indexer.history.bulk_writer import to_lake
from sql.lake.bulk_append import TOKEN_COLUMNS_IN, TRANSFER_COLUMNS_IN

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
