"""General decoder of logs: parsed JSON in, columns out.

The only authority on well-formed logs: faster decoders must agree with it or hand over to it.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

import msgspec
import numpy as np

from core.process.arrays import ByteArray, IndexArray, Int32Array, Int64Array, Uint64Array
from core.rpc.failures import IllFormedError
from core.rpc.log_answers import WireLog, decode_wire_logs
from indexer.decode.hex_columns import (
    PREFIX_CHARS,
    decode_hex,
    decode_quantities,
    decode_quantity,
)
from indexer.decode.log_columns import (
    ADDRESS_BYTES,
    HASH_BYTES,
    NO_TIME,
    LogColumns,
    LogGroup,
    LogShape,
    in_chain_order,
    no_logs,
)

MOST_TOPICS = 4
MOST_BLOCK_NUMBER = 2**63 - 1
MOST_LOG_INDEX = 2**31 - 1
"""Stored as 32 bits; no block has two thousand million logs."""
MOST_TIME_S = 2**63 - 1

_NUMBERS = "block number or log index"

T = TypeVar("T")


def decode_logs(body: bytes | msgspec.Raw) -> LogColumns:
    """Decode the answer's logs, in the order of the chain.

    Raises ValueError (msgspec's errors are among them) for anything that is not a list of mined
    logs with well-formed hex, `removed` ones included.
    """
    return in_chain_order(columns_of(decode_wire_logs(body)))


def columns_of(logs: Sequence[WireLog]) -> LogColumns:
    """Return parsed logs as columns. Raises IllFormedError."""
    if not logs:
        return no_logs()
    if any(log.removed for log in logs):
        raise IllFormedError(part="log: it was removed by a reorganisation")
    columns = _WholeColumns(logs)
    return LogColumns(tuple(columns.group(shape, rows) for shape, rows in columns.shapes()))


class _WholeColumns:
    """Columns over all logs, from which the groups take their rows."""

    def __init__(self, logs: Sequence[WireLog]) -> None:
        self._logs = logs
        self._block_number = _checked(_NUMBERS, _numbers, [log.block_number for log in logs])
        self._log_index = _checked(_NUMBERS, _indices, [log.log_index for log in logs])
        self._address = _checked("address", _addresses, [log.address for log in logs])
        self._block_hash = _checked("block_hash", _hashes, [log.block_hash for log in logs])
        self._tx_hash = _tx_hashes([log.transaction_hash or "" for log in logs])
        self._time_s = _times([log.block_timestamp for log in logs])
        counts = [len(log.topics) for log in logs]
        if max(counts) > MOST_TOPICS:
            raise IllFormedError(part="topics of a log")
        self._topics = _checked("topics", _hashes, [text for log in logs for text in log.topics])
        self._first_topic: IndexArray = np.cumsum([0, *counts[:-1]])

    def shapes(self) -> list[tuple[LogShape, list[int]]]:
        """Return the shapes of the logs, each with its rows."""
        found: dict[LogShape, list[int]] = {}
        flat = self._topics.tobytes()
        starts = (self._first_topic * HASH_BYTES).tolist()
        for row, (log, start) in enumerate(zip(self._logs, starts, strict=True)):
            topics = len(log.topics)
            digits = len(log.hex_data) - PREFIX_CHARS
            if digits < 0 or digits % 2:
                raise IllFormedError(part="data of a log")
            topic0 = flat[start : start + HASH_BYTES] if topics else b""
            found.setdefault(LogShape(topic0, topics, digits // 2), []).append(row)
        return [*found.items()]

    def group(self, shape: LogShape, rows: Sequence[int]) -> LogGroup:
        at = np.array(rows, np.intp)
        indexed = max(shape.topics - 1, 0)
        topics = self._topics[self._first_topic[at][:, None] + np.arange(1, indexed + 1)]
        texts = [self._logs[row].hex_data for row in rows]
        return LogGroup(
            shape=shape,
            position=at,
            block_number=self._block_number[at],
            log_index=self._log_index[at],
            time_s=self._time_s[at],
            block_hash=self._block_hash[at],
            tx_hash=self._tx_hash[at],
            address=self._address[at],
            topics=topics,
            data=_checked("data", lambda data: decode_hex(data, size=shape.data_size), texts),
        )


def _checked(part: str, decode: Callable[[Sequence[str]], T], texts: Sequence[str]) -> T:
    try:
        return decode(texts)
    except ValueError:
        raise IllFormedError(part=f"{part} of a log") from None


def _addresses(texts: Sequence[str]) -> ByteArray:
    return decode_hex(texts, size=ADDRESS_BYTES)


def _hashes(texts: Sequence[str]) -> ByteArray:
    return decode_hex(texts, size=HASH_BYTES)


def _bounded(texts: Sequence[str], most: int) -> Uint64Array:
    numbers = decode_quantities(texts)
    if (numbers > most).any():
        message = f"one is above {most}"
        raise ValueError(message)
    return numbers


def _numbers(texts: Sequence[str]) -> Int64Array:
    return _bounded(texts, MOST_BLOCK_NUMBER).astype(np.int64)


def _indices(texts: Sequence[str]) -> Int32Array:
    return _bounded(texts, MOST_LOG_INDEX).astype(np.int32)


def _tx_hashes(texts: Sequence[str]) -> ByteArray:
    """Return the valid hashes; few logs need one, so a node may send something else, or none."""
    try:
        return _hashes(texts)
    except ValueError:
        return np.concatenate([_tx_hash(text) for text in texts])


def _tx_hash(text: str) -> ByteArray:
    try:
        return _hashes([text])
    except ValueError:
        return np.zeros((1, HASH_BYTES), np.uint8)


def _times(values: Sequence[str | float | None]) -> Int64Array:
    """Return the times that are hex quantities; nodes also send none, or JSON numbers."""
    texts = [value for value in values if isinstance(value, str)]
    if len(texts) == len(values):
        try:
            return _bounded(texts, MOST_TIME_S).astype(np.int64)
        except ValueError:
            pass
    return np.array([_time(value) for value in values], np.int64)


def _time(value: str | float | None) -> int:
    number = decode_quantity(value) if isinstance(value, str) else None
    return NO_TIME if number is None or number > MOST_TIME_S else number
