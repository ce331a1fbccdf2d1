"""Logs as columns, in groups of one shape: output of answer decoders, input of event decoders."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

import msgspec
import numpy as np

from core.process.arrays import BoolArray, ByteArray, IndexArray, Int32Array, Int64Array

NO_TIME = -1
"""Mark in `time_s`: the node did not send the block's time with the log."""

HASH_BYTES = 32
NO_HASH = bytes(HASH_BYTES)
"""Transaction hash of a log where the node sent none."""
_PLACE_BITS = 32

LogPlace = tuple[int, int]
"""Block number and log index."""

ADDRESS_BYTES = 20
WORD_BYTES = 32

_MERGED_BELOW = 2_048
"""Groups that have fewer logs on average are merged when answers are joined: many small arrays cost
more than the copy."""


class LogShape(msgspec.Struct, frozen=True, order=True):
    """Properties common to all logs of a group."""

    topic0: bytes
    """32 bytes; empty where the logs have no topics."""
    topics: int
    """Number of topics, topic 0 included."""
    data_size: int
    """Bytes of data."""


class LogGroup(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Logs of one shape, in the order of their answer. Arrays may be views of larger ones."""

    shape: LogShape
    position: IndexArray
    """Place of each log in its answer, ascending."""
    block_number: Int64Array
    log_index: Int32Array
    time_s: Int64Array
    """Time of the block, Unix seconds; NO_TIME where unknown."""
    block_hash: ByteArray
    """uint8[n, 32]."""
    tx_hash: ByteArray
    """uint8[n, 32]; all zero where the node sent none, or no hash."""
    address: ByteArray
    """Emitters, uint8[n, 20]."""
    topics: ByteArray
    """Topics 1 and up, uint8[n, topics - 1, 32]."""
    data: ByteArray
    """uint8[n, data_size]."""

    def __len__(self) -> int:
        return self.position.size

    def take(self, rows: IndexArray | BoolArray) -> "LogGroup":
        """Return the logs at an index or mask as a separate group."""
        return self._each(lambda column: column[rows])

    def _each(self, change: "Callable[[_Array], _Array]") -> "LogGroup":
        changed = {name: change(getattr(self, name)) for name in COLUMNS}
        return msgspec.structs.replace(self, **changed)


_Array = ByteArray | Int32Array | Int64Array | IndexArray

COLUMNS = (
    "position",
    "block_number",
    "log_index",
    "time_s",
    "block_hash",
    "tx_hash",
    "address",
    "topics",
    "data",
)
"""Fields of a group that are arrays with one entry a log."""


class LogColumns(msgspec.Struct, frozen=True, eq=False):
    """Logs of an answer, or of several joined answers."""

    groups: tuple[LogGroup, ...] = ()
    """Several groups may have one shape, if their logs came in different layouts."""

    def __len__(self) -> int:
        return sum(len(group) for group in self.groups)

    def with_topics(self, topics: Iterable[bytes]) -> Iterator[LogGroup]:
        """Yield the groups with one of these as topic 0."""
        wanted = frozenset(topics)
        return (group for group in self.groups if group.shape.topic0 in wanted)

    def block_numbers(self) -> Int64Array:
        """Return the block number of every log, in the order of the answer."""
        numbers = np.empty(len(self), np.int64)
        for group in self.groups:
            numbers[group.position] = group.block_number
        return numbers

    def log_indices(self) -> Int32Array:
        """Return the log index of every log, in the order of the answer."""
        indices = np.empty(len(self), np.int32)
        for group in self.groups:
            indices[group.position] = group.log_index
        return indices

    def hashes_at(
        self, places: Collection[LogPlace], *, shape: LogShape | None = None
    ) -> Mapping[LogPlace, bytes]:
        """Return the transactions of the logs at these places; NO_HASH where the node sent none.

        `shape`: only logs of this shape are looked at. None: all are.
        """
        wanted = np.array([number << _PLACE_BITS | at for number, at in places], np.int64)
        found: dict[LogPlace, bytes] = {}
        for group in self.groups:
            if shape is not None and group.shape != shape:
                continue
            keys = (group.block_number << _PLACE_BITS) | group.log_index
            at = np.flatnonzero(np.isin(keys, wanted))
            numbers, indices = group.block_number[at].tolist(), group.log_index[at].tolist()
            hashes = (row.tobytes() for row in group.tx_hash[at])
            found |= zip(zip(numbers, indices, strict=True), hashes, strict=True)
        return found

    def lacks_times(self) -> bool:
        """True if the time of some log is unknown."""
        return any(bool((group.time_s == NO_TIME).any()) for group in self.groups)

    def in_block(self, number: int) -> "LogColumns":
        """Return the logs of one block, with positions renumbered from 0."""
        rows = [np.flatnonzero(group.block_number == number) for group in self.groups]
        own = zip(self.groups, rows, strict=True)
        return LogColumns(_renumbered([group.take(some) for group, some in own if some.size]))

    def only_topics(self, topics: Iterable[bytes]) -> "LogColumns":
        """Return the logs with one of these as topic 0, with positions renumbered from 0."""
        return LogColumns(_renumbered([*self.with_topics(topics)]))


def no_logs() -> LogColumns:
    """Return the columns of an empty answer."""
    return LogColumns()


def join_logs(parts: Sequence[LogColumns]) -> LogColumns:
    """Join consecutive answers."""
    if len(parts) == 1:
        return parts[0]
    found: dict[LogShape, list[LogGroup]] = {}
    before = 0
    for part in parts:
        for group in part.groups:
            moved = msgspec.structs.replace(group, position=group.position + before)
            found.setdefault(group.shape, []).append(moved)
        before += len(part)
    return LogColumns(tuple(group for groups in found.values() for group in _merged(groups)))


def in_chain_order(logs: LogColumns) -> LogColumns:
    """Return the logs by block and log index; nodes may send the newest block first."""
    numbers, indices = logs.block_numbers(), logs.log_indices()
    descends = (numbers[1:] < numbers[:-1]) | (
        (numbers[1:] == numbers[:-1]) & (indices[1:] < indices[:-1])
    )
    if not descends.any():
        return logs
    place = np.empty(numbers.size, np.intp)
    place[np.lexsort((indices, numbers))] = np.arange(numbers.size)
    moved = (
        msgspec.structs.replace(group, position=place[group.position]) for group in logs.groups
    )
    return LogColumns(tuple(group.take(np.argsort(group.position)) for group in moved))


def merge_groups(groups: Sequence[LogGroup]) -> LogGroup:
    """Return groups of one shape and one answer as one, in the order of the answer."""
    if len(groups) == 1:
        return groups[0]
    columns: Mapping[str, _Array] = {
        name: np.concatenate([getattr(group, name) for group in groups]) for name in COLUMNS
    }
    whole = msgspec.structs.replace(groups[0], **columns)
    order = np.argsort(whole.position, kind="stable")
    return whole.take(order)


def _merged(groups: Sequence[LogGroup]) -> Sequence[LogGroup]:
    if sum(len(group) for group in groups) >= _MERGED_BELOW * len(groups):
        return groups
    return [merge_groups(groups)]


def _renumbered(groups: Sequence[LogGroup]) -> tuple[LogGroup, ...]:
    """Return groups of a part of an answer, with positions from 0 without gaps."""
    if not groups:
        return ()
    left = np.sort(np.concatenate([group.position for group in groups]))
    return tuple(
        msgspec.structs.replace(group, position=np.searchsorted(left, group.position))
        for group in groups
    )
