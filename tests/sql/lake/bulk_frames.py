"""Transfers as a back-fill hands them over."""

from collections.abc import Sequence

import pyarrow as pa

from tests.sql.lake.serving_files import TOKENS, Event, token_address

_WORD = 2**64 - 1
_TYPES = {
    "block_number": pa.int64(),
    "log_index": pa.int32(),
    "token_id": pa.int32(),
    "sender_high": pa.uint32(),
    "recipient_high": pa.uint32(),
}


def transfers_of(events: Sequence[Event]) -> pa.Table:
    """Columns of these events."""
    columns: dict[str, list[int]] = {
        "block_number": [event.block_number for event in events],
        "log_index": [event.log_index for event in events],
        "token_id": [event.token_id for event in events],
    }
    for side in ("sender", "recipient"):
        numbers = [getattr(event, side) for event in events]
        columns[f"{side}_high"] = [number >> 128 for number in numbers]
        columns[f"{side}_mid"] = [number >> 64 & _WORD for number in numbers]
        columns[f"{side}_low"] = [number & _WORD for number in numbers]
    for at in range(4):
        columns[f"word{at}"] = [event.amount >> 64 * at & _WORD for event in events]
    return pa.table(
        {name: pa.array(values, _TYPES.get(name, pa.uint64())) for name, values in columns.items()}
    )


def tokens() -> pa.Table:
    """All made-up tokens."""
    numbers = range(1, TOKENS + 1)
    return pa.table(
        {
            "token_id": pa.array(numbers, pa.int32()),
            "token": [f"0x{token_address(at).hex()}" for at in numbers],
        }
    )
