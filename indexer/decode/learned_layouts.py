"""Byte layouts learned from logs: one log's JSON is scanned strictly, and its hex values located.

A new layout must reproduce the general decoder's result for the same log before it is used. The
cache of layouts is bounded, as senders of logs choose the lengths.
"""

import re
from collections import OrderedDict

import msgspec
import numpy as np

from core.process.arrays import Uint64Array
from core.rpc.log_answers import WireLog
from indexer.decode.byte_layouts import (
    NUMBER_BYTES,
    ByteLayout,
    RecordPlaces,
    Segment,
    group_of_records,
    padded,
)
from indexer.decode.log_columns import ADDRESS_BYTES, COLUMNS, HASH_BYTES, LogShape
from indexer.decode.logs import MOST_TOPICS, columns_of

_BLANKS = rb"[ \t\n\r]*+"  # possessive: two neighbours would else share a run in every way
_STRING = rb'"[^"\\\x00-\x1f]*"'
_OTHER = rb"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null"
_LIST = rb"\[%s(?:%s(?:%s,%s%s)*)?%s\]" % (_BLANKS, _STRING, _BLANKS, _BLANKS, _STRING, _BLANKS)
_MEMBER = re.compile(
    rb"%s(?P<key>%s)%s:%s(?P<value>%s|%s|%s)%s(?P<end>[,}])"
    % (_BLANKS, _STRING, _BLANKS, _BLANKS, _STRING, _LIST, _OTHER, _BLANKS)
)
_ITEM = re.compile(_STRING)
_HEX = re.compile(rb'"0[xX]([0-9a-fA-F]*)"')
_LONGEST_NUMBER = 2 * NUMBER_BYTES

_Span = tuple[int, int]
"""First digit of a hex value, and the place behind its last."""

_Value = _Span | list[_Span] | bytes
"""A hex text, a list of them, or the text of anything else."""

_one = msgspec.json.Decoder(WireLog)


class _Unlearnable(Exception):  # noqa: N818 - an outcome of a lesson, never an error to a caller
    """The object has no layout that applies to others."""


def learn(text: bytes) -> ByteLayout | None:
    """Return the layout of a log's object. None: only the general decoder can read it."""
    try:
        layout = _layout(text)
        return layout if _agrees(layout, text) else None
    except (
        _Unlearnable,
        ValueError,
        RecursionError,
    ):  # the general decoder refuses it: let it do so
        return None


def _layout(text: bytes) -> ByteLayout:
    members = _members(text)
    topics = members.pop(b"topics", None)
    if not isinstance(topics, list) or len(topics) > MOST_TOPICS:
        raise _Unlearnable
    data = _span(members.pop(b"data", None), most=None)
    topic_spans = [_span(topic, most=2 * HASH_BYTES, exact=True) for topic in topics]
    first = bytes.fromhex(text[slice(*topic_spans[0])].decode()) if topic_spans else b""
    if (data[1] - data[0]) % 2:
        raise _Unlearnable
    shape = LogShape(first, len(topics), (data[1] - data[0]) // 2)
    places = RecordPlaces.of(shape)
    segments = [Segment(*span, 2 * HASH_BYTES * at) for at, span in enumerate(topic_spans[1:])] + [
        Segment(*data, 2 * places.data)
    ]
    numbers = {
        b"blockNumber": places.block_number,
        b"logIndex": places.log_index,
        b"blockTimestamp": places.time_s,
    }
    values = {
        b"blockHash": (places.block_hash, HASH_BYTES),
        b"transactionHash": (places.tx_hash, HASH_BYTES),
        b"address": (places.address, ADDRESS_BYTES),
    }
    has_time = b"blockTimestamp" in members
    digits = 2 * places.size
    for key, value in members.items():
        if key in numbers:
            start, end = _span(value, most=_LONGEST_NUMBER)
            to = 2 * (numbers[key] + NUMBER_BYTES) - (end - start)
            segments.append(Segment(start, end, to))
        elif key in values:
            to, size = values[key]
            segments.append(Segment(*_span(value, most=2 * size, exact=True), 2 * to))
        elif isinstance(value, tuple):
            # An unused field: only checked for hex digits.
            segments.append(Segment(*value, digits))
            digits += -(-(value[1] - value[0]) // 2) * 2
    mask, fixed = _mask(text, segments)
    return ByteLayout(
        shape=shape,
        has_time=has_time,
        mask=mask,
        fixed=fixed,
        segments=tuple(one for one in segments if one.end > one.start),
        digits=digits,
    )


def _members(text: bytes) -> dict[bytes, _Value]:
    """Return the members of a flat object by name. Raises _Unlearnable for any other text."""
    found: dict[bytes, _Value] = {}
    at, ending = 1, b""
    if text[:1] != b"{":
        raise _Unlearnable
    while ending != b"}":
        match = _MEMBER.match(text, at)
        if match is None:
            raise _Unlearnable
        key = match["key"][1:-1]
        if key in found:
            raise _Unlearnable
        found[key] = _value(text, *match.span("value"))
        at, ending = match.end(), match["end"]
    if at != len(text):
        raise _Unlearnable
    return found


def _value(text: bytes, start: int, end: int) -> _Value:
    kind = text[start : start + 1]
    if kind == b"[":
        items = [match.span() for match in _ITEM.finditer(text, start, end)]
        return [_span(_value(text, *item), most=None) for item in items]
    match = _HEX.fullmatch(text, start, end) if kind == b'"' else None
    return text[start:end] if match is None else match.span(1)


def _span(value: _Value | None, *, most: int | None, exact: bool = False) -> _Span:
    """Return the place of a hex text with at most, or exactly, this number of digits."""
    if not isinstance(value, tuple):
        raise _Unlearnable
    digits = value[1] - value[0]
    if most is not None and (digits > most or (exact and digits != most)):
        raise _Unlearnable
    return value


def _mask(text: bytes, segments: list[Segment]) -> tuple[Uint64Array, Uint64Array]:
    mask = np.zeros(padded(len(text)), np.uint8)
    mask[: len(text)] = 0xFF
    for one in segments:
        mask[one.start : one.end] = 0
    fixed = np.zeros_like(mask)
    fixed[: len(text)] = np.frombuffer(text, np.uint8)
    fixed &= mask
    return mask.view(np.uint64), fixed.view(np.uint64)


def _agrees(layout: ByteLayout, text: bytes) -> bool:
    """True if layout and general decoder agree about the object."""
    (expected,) = columns_of([_one.decode(text)]).groups
    whole = np.zeros((1, padded(len(text))), np.uint8)
    whole[0, : len(text)] = np.frombuffer(text, np.uint8)
    records = np.ascontiguousarray(layout.records(whole))
    found = group_of_records(records, expected.position, layout.shape, has_time=layout.has_time)
    return (
        layout.fits(whole) is None
        and found.shape == expected.shape
        and all(np.array_equal(getattr(found, name), getattr(expected, name)) for name in COLUMNS)
    )


MOST_OF_A_LENGTH = 12
MOST_LAYOUTS = 512

_LESSONS = 8
"""Lessons per answer, whatever its size."""
_LOGS_A_LESSON = 64
"""Logs per additional lesson: a lesson costs as much as a hundred logs in the general decoder."""


class LayoutCache:
    """Known layouts by length of the object, last used first. Not for concurrent use."""

    def __init__(self) -> None:
        self._by_length: OrderedDict[int, list[ByteLayout]] = OrderedDict()
        self._lessons_left = 0
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def begin_answer(self, logs: int) -> None:
        """Grant the lessons of an answer with this number of logs."""
        self._lessons_left = _LESSONS + logs // _LOGS_A_LESSON

    def of_length(self, width: int) -> tuple[ByteLayout, ...]:
        """Return the layouts of objects of this length."""
        known = self._by_length.get(width)
        if known is None:
            return ()
        self._by_length.move_to_end(width)
        return tuple(known)

    def note_use(self, width: int, layout: ByteLayout) -> None:
        """Move a layout to the front of its length."""
        known = self._by_length[width]
        if known[0] is not layout:
            known.remove(layout)
            known.insert(0, layout)

    def learn(self, text: bytes) -> ByteLayout | None:
        """Learn from an object that no layout fits. None: it cannot be learned, or no lessons are
        left."""
        if self._lessons_left <= 0:
            return None
        self._lessons_left -= 1
        layout = learn(text)
        if layout is not None:
            self._keep(len(text), layout)
        return layout

    def _keep(self, width: int, layout: ByteLayout) -> None:
        known = self._by_length.setdefault(width, [])
        known.insert(0, layout)
        self._count += 1
        if len(known) > MOST_OF_A_LENGTH:
            known.pop()
            self._count -= 1
        self._by_length.move_to_end(width)
        while self._count > MOST_LAYOUTS:
            _, dropped = self._by_length.popitem(last=False)
            self._count -= len(dropped)
