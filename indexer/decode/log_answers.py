"""Decoder of whole answers with logs: by learned byte layouts where they fit, else in general.

The fast way never rejects an answer: where it fails, the general decoder reads the answer or
rejects it.
"""

import msgspec
import numpy as np

from core.process.arrays import ByteArray, IndexArray, Int64Array
from core.rpc.log_answers import WireLog
from indexer.decode.byte_layouts import ByteLayout, RecordPlaces, group_of_records, padded
from indexer.decode.learned_layouts import LayoutCache
from indexer.decode.log_columns import LogColumns, LogGroup, LogShape, in_chain_order
from indexer.decode.logs import columns_of, decode_logs

_SMALL_BYTES = 128 * 1024
"""Size below which answers (about 200 logs) go to the general decoder, which has less overhead."""
_ROWS_AT_ONCE = 512
"""Objects compared and decoded at a time, so that they stay in the processor's cache."""
_SCAN_BYTES = 1 << 20
_WORTH_LEARNING = 8
"""Fewest objects of one length without a layout that are worth a lesson."""
_WIDEST = 2**16 - 2
"""Bytes of the longest object that is compared: lengths of 16 bits are sorted fastest."""

_OPEN = ord("{")
_BLANKS = b" \t\n\r"

_one = msgspec.json.Decoder(WireLog)


class _StumbleError(ValueError):
    """The answer is not in the form that the fast way expects; it may still be valid."""


class LogDecoder:
    """Decoder with the layouts of the answers so far. Not for concurrent use."""

    def __init__(self) -> None:
        self._cache = LayoutCache()

    @property
    def layouts(self) -> int:
        """Return the number of known layouts."""
        return len(self._cache)

    def decode(self, answer: bytes | msgspec.Raw) -> LogColumns:
        """Decode an answer's logs, in the order of the chain.

        Raises ValueError for those that `decode_logs` rejects.
        """
        view = memoryview(answer)
        if len(view) < _SMALL_BYTES:
            return decode_logs(answer)
        try:
            return in_chain_order(self._decode_fast(view))
        except (ValueError, RecursionError):
            return decode_logs(answer)

    def _decode_fast(self, text: memoryview) -> LogColumns:
        objects = _find_objects(text)
        self._cache.begin_answer(objects.starts.size)
        found = _Found(text, objects)
        widths = np.minimum(objects.widths, _WIDEST + 1).astype(np.uint16)
        order = np.argsort(widths, kind="stable")
        ends = np.flatnonzero(np.diff(widths[order])) + 1
        for rows in np.split(order, ends):
            self._decode_length(found, rows)
        return found.columns()

    def _decode_length(self, found: "_Found", rows: IndexArray) -> None:
        width = int(found.objects.widths[rows[0]])
        if width > _WIDEST:
            found.leave(rows)
            return
        for layout in self._cache.of_length(width):
            before = rows.size
            rows = found.take(rows, width, layout)
            if rows.size < before:
                self._cache.note_use(width, layout)
            if not rows.size:
                return
        while rows.size >= _WORTH_LEARNING:
            learned = self._cache.learn(found.text_of(int(rows[0])))
            if learned is None:
                break
            rows = found.take(rows, width, learned)
        found.leave(rows)


class _Objects(msgspec.Struct, frozen=True, eq=False):
    starts: Int64Array
    widths: Int64Array


class _Found:
    """Decoded logs of one answer."""

    def __init__(self, text: memoryview, objects: _Objects) -> None:
        self.objects = objects
        self._text = text
        self._bytes = np.frombuffer(text, np.uint8)
        self._records: dict[tuple[LogShape, bool], list[tuple[IndexArray, ByteArray]]] = {}
        self._left: list[IndexArray] = []

    def text_of(self, row: int) -> bytes:
        start = int(self.objects.starts[row])
        return bytes(self._text[start : start + int(self.objects.widths[row])])

    def leave(self, rows: IndexArray) -> None:
        """Pass these objects to the general decoder."""
        if rows.size:
            self._left.append(rows)

    def take(self, rows: IndexArray, width: int, layout: ByteLayout) -> IndexArray:
        """Decode the objects, all of this length, that fit; return the others."""
        others = []
        parts = self._records.setdefault((layout.shape, layout.has_time), [])
        for at in range(0, rows.size, _ROWS_AT_ONCE):
            some = rows[at : at + _ROWS_AT_ONCE]
            whole = self._gather(some, padded(width))
            fits = layout.fits(whole)
            if fits is not None:
                others.append(some[~fits])
                some, whole = some[fits], whole[fits]
            if some.size:
                parts.append((some, layout.records(whole)))
        return np.concatenate(others) if others else rows[:0]

    def _gather(self, rows: IndexArray, width: int) -> ByteArray:
        starts = self.objects.starts[rows]
        last = self._bytes.size - width
        if starts[-1] <= last:
            return self._windows(width)[starts]
        # The last object's padding would lie behind the answer's end.
        whole = np.zeros((rows.size, width), np.uint8)
        whole[:-1] = self._windows(width)[starts[:-1]] if rows.size > 1 else whole[:-1]
        rest = self._bytes[starts[-1] :]
        whole[-1, : rest.size] = rest
        return whole

    def _windows(self, width: int) -> ByteArray:
        count = max(self._bytes.size - width + 1, 0)
        # `as_strided` and `sliding_window_view` take ten times as long to make the same view.
        return np.ndarray((count, width), np.uint8, self._text, strides=(1, 1))

    def columns(self) -> LogColumns:
        rank = np.empty(self.objects.starts.size, np.intp)
        groups = []
        while self._records:
            # Removed one at a time, so that merged groups are not in memory twice.
            (shape, has_time), parts = self._records.popitem()
            if parts:
                groups.append(_group(parts, shape, rank, has_time=has_time))
        return LogColumns((*groups, *self._decode_left()))

    def _decode_left(self) -> list[LogGroup]:
        if not self._left:
            return []
        rows = np.sort(np.concatenate(self._left))
        # One at a time: only then are they known to be separate objects.
        logs = [_one.decode(self.text_of(row)) for row in rows.tolist()]
        return [
            msgspec.structs.replace(group, position=rows[group.position])
            for group in columns_of(logs).groups
        ]


def _group(
    parts: list[tuple[IndexArray, ByteArray]], shape: LogShape, rank: IndexArray, *, has_time: bool
) -> LogGroup:
    """Return decoded records as a group. `rank`: buffer with a number for each object."""
    position = np.sort(np.concatenate([some for some, _ in parts]))
    rank[position] = np.arange(position.size)
    records = np.empty((position.size, RecordPlaces.of(shape).size), np.uint8)
    for some, part in parts:
        records[rank[some]] = part
    return group_of_records(records, position, shape, has_time=has_time)


def _find_objects(text: memoryview) -> _Objects:
    """Return start and length of the objects of a list. Raises _StumbleError if it is not one.

    Objects begin at every opening brace and end before the next separator, which is the same
    between all. Only decoding shows that each is a whole object.
    """
    raw = np.frombuffer(text, np.uint8)
    starts = np.concatenate(
        [
            np.flatnonzero(raw[at : at + _SCAN_BYTES] == _OPEN) + at
            for at in range(0, raw.size, _SCAN_BYTES)
        ]
    )
    if not starts.size or bytes(text[: starts[0]]).strip(_BLANKS) != b"[":
        raise _StumbleError
    tail = bytes(text[starts[-1] :])
    end = tail.rfind(b"}") + 1
    if tail[end:].strip(_BLANKS) != b"]":
        raise _StumbleError
    separator = b""
    if starts.size > 1:
        first = bytes(text[starts[0] : starts[1]])
        separator = first[first.rfind(b"}") + 1 :]
        if separator.strip(_BLANKS) != b",":
            raise _StumbleError
    widths = np.append(starts[1:] - len(separator), starts[-1] + end) - starts
    if (widths < 1).any():
        raise _StumbleError
    for at, byte in enumerate(separator):
        if (raw[starts[1:] - len(separator) + at] != byte).any():
            raise _StumbleError
    return _Objects(starts, widths)
