"""Transfers as a back-fill hands them over."""

from collections.abc import Sequence

import numpy as np

from sql.lake.bulk_append import LakeColumns
from tests.harness.lake.serving_files import TOKENS, Event, token_address

_WORD = 2**64 - 1
_TYPES = {
    "block_number": np.int64,
    "log_index": np.int32,
    "token_id": np.int32,
    "sender_high": np.uint32,
    "recipient_high": np.uint32,
    "time_s": np.int64,
}


def transfers_of(events: Sequence[Event]) -> LakeColumns:
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
    columns["time_s"] = [-1 if event.time_s is None else event.time_s for event in events]
    return {name: np.array(values, _TYPES.get(name, np.uint64)) for name, values in columns.items()}


def tokens(last: int = TOKENS) -> LakeColumns:
    """All made-up tokens, or the first ones."""
    ids = range(1, last + 1)
    addresses = [int.from_bytes(token_address(token_id)) for token_id in ids]
    return {
        "token_id": np.array(ids, np.int32),
        "high": np.array([address >> 128 for address in addresses], np.uint32),
        "mid": np.array([address >> 64 & _WORD for address in addresses], np.uint64),
        "low": np.array([address & _WORD for address in addresses], np.uint64),
    }
