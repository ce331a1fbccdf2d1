"""Columns of transfers as the lake takes them: addresses and amounts as machine words."""

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from core.arrays import ByteArray, Int32Array
from indexer.decode.hex_columns import encode_hex
from indexer.decode.transfer_events import TransferColumns

_Column = npt.NDArray[np.generic]


class LakeTransfers(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Transfers and their tokens, by the names of `sql.lake.bulk_append`."""

    transfers: pa.Table
    tokens: pa.Table


def to_lake(transfers: TransferColumns, token_ids: Int32Array) -> LakeTransfers:
    """Return transfers, of which each has the id of its token, as columns of words."""
    sender, recipient = _address_words(transfers.sender), _address_words(transfers.recipient)
    amount = np.ascontiguousarray(transfers.amount).view(">u8").astype(np.uint64)
    ids, first = np.unique(token_ids, return_index=True)
    return LakeTransfers(
        transfers=pa.table(
            {
                "block_number": transfers.block_number,
                "log_index": transfers.log_index,
                "token_id": token_ids,
                **{f"sender_{name}": column for name, column in sender.items()},
                **{f"recipient_{name}": column for name, column in recipient.items()},
                **{f"word{at}": amount[:, 3 - at].copy() for at in range(4)},
            }
        ),
        tokens=pa.table(
            {
                "token_id": ids,
                "token": encode_hex(transfers.token[first]),
            }
        ),
    )


def _address_words(addresses: ByteArray) -> dict[str, _Column]:
    """Return the highest 32, middle 64 and lowest 64 bits of uint8[n, 20]."""
    return {
        "high": np.ascontiguousarray(addresses[:, :4]).view(">u4").ravel().astype(np.uint32),
        "mid": np.ascontiguousarray(addresses[:, 4:12]).view(">u8").ravel().astype(np.uint64),
        "low": np.ascontiguousarray(addresses[:, 12:]).view(">u8").ravel().astype(np.uint64),
    }
