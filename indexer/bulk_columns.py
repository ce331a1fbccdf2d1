"""Transfers in the column layout of the lake: sorted, addresses and amounts as machine words."""

import msgspec
import numpy as np
import numpy.typing as npt

from core.process.arrays import ByteArray, IndexArray, Int32Array
from indexer.decode.transfer_events import TransferColumns
from sql.lake.bulk_append import LakeColumns

_ADDRESS = np.dtype([("high", ">u4"), ("mid", ">u8"), ("low", ">u8")])
_FEW = 2**16
"""Tokens below this are counted in 16 bits, which numpy sorts by radix, five times as fast."""


class LakeTransfers(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Transfers and their tokens, with the column names of `sql.lake.bulk_append`."""

    transfers: LakeColumns
    """Sorted by token, block and log index."""
    tokens: LakeColumns


def to_lake(transfers: TransferColumns, token_ids: Int32Array) -> LakeTransfers:
    """Return transfers in chain order, each with the id of its token, as columns of words."""
    first = _first_of_each(token_ids)
    order = _by_token(token_ids, first, np.lexsort(transfers.token[first].T[::-1]))
    amount = transfers.amount.view(">u8")
    return LakeTransfers(
        transfers={
            "block_number": transfers.block_number[order],
            "log_index": transfers.log_index[order],
            "token_id": token_ids[order],
            **_address_words("sender_", transfers.sender, order),
            **_address_words("recipient_", transfers.recipient, order),
            **{f"word{at}": amount[:, 3 - at].astype(np.uint64)[order] for at in range(4)},
            "time_s": transfers.time_s[order],
        },
        tokens={"token_id": token_ids[first], **_address_words("", transfers.token, first)},
    )


def _first_of_each(token_ids: Int32Array) -> IndexArray:
    """Return the first row of each token, by its id."""
    rows = np.full(int(token_ids.max(initial=-1)) + 1, -1, np.intp)
    rows[token_ids[::-1]] = np.arange(token_ids.size - 1, -1, -1)
    return rows[rows >= 0]


def _by_token(token_ids: Int32Array, first: IndexArray, tokens: IndexArray) -> IndexArray:
    """Return the rows sorted by token; the sort is stable."""
    places = np.empty(
        int(token_ids.max(initial=-1)) + 1, np.uint16 if first.size < _FEW else np.int32
    )
    places[token_ids[first][tokens]] = np.arange(first.size)
    return np.argsort(places[token_ids], kind="stable")


def _address_words(
    side: str, addresses: ByteArray, rows: IndexArray
) -> dict[str, npt.NDArray[np.generic]]:
    """Return the highest 32, middle 64 and lowest 64 bits of these rows of uint8[n, 20]."""
    words = addresses.view(_ADDRESS).ravel()
    return {
        f"{side}high": words["high"].astype(np.uint32)[rows],
        f"{side}mid": words["mid"].astype(np.uint64)[rows],
        f"{side}low": words["low"].astype(np.uint64)[rows],
    }
