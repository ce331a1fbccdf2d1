"""Undecoded logs: those with a known topic but another shape. They are stored, too."""

from collections.abc import Sequence

import msgspec
import numpy as np

from core.evm.primitives import Address, Hash32, HexBytes
from core.process.arrays import BoolArray, ByteArray, Int32Array, Int64Array
from indexer.decode.hex_columns import encode_hex
from indexer.decode.log_columns import ADDRESS_BYTES, LogGroup
from sql.engine.table_rows import UndecodedRow

_KEPT_BYTES = 1_024


class UndecodedLogs(msgspec.Struct, frozen=True, eq=False):
    """Undecoded logs; rows are made on demand."""

    groups: tuple[LogGroup, ...] = ()

    def __len__(self) -> int:
        return sum(len(group) for group in self.groups)

    @property
    def address(self) -> ByteArray:
        """Return the emitters, uint8[n, 20], group by group."""
        return np.concatenate(
            [np.empty((0, ADDRESS_BYTES), np.uint8), *(group.address for group in self.groups)]
        )

    @property
    def block_number(self) -> Int64Array:
        """Return the block numbers, group by group."""
        return np.concatenate(
            [np.empty(0, np.int64), *(group.block_number for group in self.groups)]
        )

    @property
    def log_index(self) -> Int32Array:
        """Return the log indices, group by group."""
        return np.concatenate([np.empty(0, np.int32), *(group.log_index for group in self.groups)])

    def take(self, kept: BoolArray) -> "UndecodedLogs":
        """Return the logs for which the mask, group by group, is true."""
        ends = np.cumsum([len(group) for group in self.groups])
        parts = np.split(kept, ends[:-1]) if len(ends) else []
        taken = (group.take(part) for group, part in zip(self.groups, parts, strict=True))
        return UndecodedLogs(tuple(group for group in taken if len(group)))

    def rows(self, *, chain_id: int) -> list[UndecodedRow]:
        """Return the logs as rows in chain order, each once, data cut at 1,024 bytes."""
        found = {
            (row.block_number, row.log_index): row
            for group in self.groups
            for row in _rows(group, chain_id)
        }
        return [found[place] for place in sorted(found)]


def join_undecoded(parts: Sequence[UndecodedLogs]) -> UndecodedLogs:
    """Return the logs that several decoders left undecoded."""
    return UndecodedLogs(tuple(group for part in parts for group in part.groups))


def _rows(group: LogGroup, chain_id: int) -> list[UndecodedRow]:
    shape = group.shape
    topic0 = Hash32("0x" + shape.topic0.hex())
    return [
        UndecodedRow(
            chain_id=chain_id,
            block_number=block_number,
            log_index=log_index,
            address=Address(address),
            topic0=topic0,
            topic_count=shape.topics,
            data=HexBytes(data),
        )
        for block_number, log_index, address, data in zip(
            group.block_number.tolist(),
            group.log_index.tolist(),
            encode_hex(group.address),
            encode_hex(group.data[:, :_KEPT_BYTES]),
            strict=True,
        )
    ]
