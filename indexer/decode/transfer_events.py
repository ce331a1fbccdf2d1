"""Decoder of ERC-20 transfers: logs in, transfer columns out."""

from collections.abc import Iterable

import msgspec
import numpy as np

from core.evm.event_signatures import parse_event
from core.evm.primitives import BlockRef
from core.process.arrays import BoolArray, ByteArray, IndexArray, Int32Array, Int64Array
from indexer.decode.log_columns import (
    ADDRESS_BYTES,
    WORD_BYTES,
    LogColumns,
    LogGroup,
    LogShape,
)
from indexer.decode.undecoded import UndecodedLogs
from indexer.decode.words import is_address, to_address, topic, word

TRANSFER_TOPIC = parse_event(
    "Transfer(address indexed from,address indexed to,uint256 value)"
).topic0
"""Source: EIP-20. EIP-721 has the same topic, with its third argument indexed too."""

_TOPIC0 = bytes.fromhex(TRANSFER_TOPIC[2:])
PLAIN_TRANSFER = LogShape(topic0=_TOPIC0, topics=3, data_size=WORD_BYTES)
_SENDER = topic(1)
_RECIPIENT = topic(2)
_AMOUNT = word(0)


class TransferColumns(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Transfers in chain order, of tracked and other tokens."""

    block_number: Int64Array
    log_index: Int32Array
    token: ByteArray
    """uint8[n, 20]."""
    sender: ByteArray
    """uint8[n, 20]."""
    recipient: ByteArray
    """uint8[n, 20]."""
    amount: ByteArray
    """Big-endian, in the token's smallest unit: uint8[n, 32]."""
    time_s: Int64Array
    """Time of the block, Unix seconds; NO_TIME where unknown."""

    def __len__(self) -> int:
        return self.block_number.size

    def take(self, rows: IndexArray | BoolArray) -> "TransferColumns":
        """Return the transfers at these indices or under this mask."""
        at = np.flatnonzero(rows) if rows.dtype == np.bool_ else rows
        # `take` copies whole rows of bytes; indexing goes byte by byte.
        return TransferColumns(
            block_number=self.block_number.take(at),
            log_index=self.log_index.take(at),
            token=self.token.take(at, axis=0),
            sender=self.sender.take(at, axis=0),
            recipient=self.recipient.take(at, axis=0),
            amount=self.amount.take(at, axis=0),
            time_s=self.time_s.take(at),
        )


def with_block_times(transfers: TransferColumns, blocks: Iterable[BlockRef]) -> TransferColumns:
    """Return the transfers with the times of the given blocks."""
    times = {block.number: block.time_s for block in blocks}
    numbers = np.array(sorted(times), np.int64)
    if not numbers.size:
        return transfers
    at = np.searchsorted(numbers, transfers.block_number).clip(max=numbers.size - 1)
    block_times = np.array([times[number] for number in numbers.tolist()], np.int64)[at]
    is_known = numbers[at] == transfers.block_number
    return msgspec.structs.replace(
        transfers, time_s=np.where(is_known, block_times, transfers.time_s)
    )


class DecodedTransfers(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Decoded logs with the topic of a transfer."""

    transfers: TransferColumns
    undecoded: UndecodedLogs
    """Transfer events in other shapes (EIP-721, none indexed, more data). Only those of tracked
    tokens matter."""


def decode_transfers(logs: LogColumns) -> DecodedTransfers:
    """Return the transfers among these logs."""
    found: list[TransferColumns] = []
    strays: list[LogGroup] = []
    for group in logs.with_topics((_TOPIC0,)):
        if group.shape != PLAIN_TRANSFER:
            strays.append(group)
            continue
        fits = is_address(_SENDER.of(group)) & is_address(_RECIPIENT.of(group))
        columns = _of_group(group)
        if not fits.all():
            columns = columns.take(fits)
            strays.append(group.take(~fits))
        found.append(columns)
    return DecodedTransfers(
        transfers=_in_chain_order(_joined(found)), undecoded=UndecodedLogs(tuple(strays))
    )


def _joined(parts: list[TransferColumns]) -> TransferColumns:
    if len(parts) == 1:
        return parts[0]
    no_address = np.empty((0, ADDRESS_BYTES), np.uint8)
    return TransferColumns(
        block_number=np.concatenate([np.empty(0, np.int64), *(p.block_number for p in parts)]),
        log_index=np.concatenate([np.empty(0, np.int32), *(p.log_index for p in parts)]),
        token=np.concatenate([no_address, *(p.token for p in parts)]),
        sender=np.concatenate([no_address, *(p.sender for p in parts)]),
        recipient=np.concatenate([no_address, *(p.recipient for p in parts)]),
        amount=np.concatenate(
            [np.empty((0, WORD_BYTES), np.uint8), *(part.amount for part in parts)]
        ),
        time_s=np.concatenate([np.empty(0, np.int64), *(part.time_s for part in parts)]),
    )


def _of_group(group: LogGroup) -> TransferColumns:
    return TransferColumns(
        block_number=group.block_number,
        log_index=group.log_index,
        token=group.address,
        sender=to_address(_SENDER.of(group)),
        recipient=to_address(_RECIPIENT.of(group)),
        amount=_AMOUNT.of(group),
        time_s=group.time_s,
    )


def _in_chain_order(columns: TransferColumns) -> TransferColumns:
    """Return the columns sorted. Usually they are sorted already: answers come in chain order."""
    after, before = columns.block_number[1:], columns.block_number[:-1]
    ascends = (after > before) | (
        (after == before) & (columns.log_index[1:] > columns.log_index[:-1])
    )
    if ascends.all():
        return columns
    return columns.take(np.lexsort((columns.log_index, columns.block_number)))
