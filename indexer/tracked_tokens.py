"""In-memory set of tracked tokens of one chain, searched by whole columns of addresses.

Sorted by the first eight bytes of the address; the other twelve are compared, too, as addresses
with equal first bytes can be mined. Additions are collected in a dict and merged in bulk.
"""

from collections.abc import Iterable
from typing import Any

import msgspec
import numpy as np

from core.process.arrays import (
    BoolArray,
    ByteArray,
    IndexArray,
    Int32Array,
    Int64Array,
    Uint32Array,
    Uint64Array,
)

NOT_TRACKED = -1

_ADDRESS_BYTES = 20
_MOST_ADDED = 4_096
"""Most additions before a merge, which copies the whole set."""
_SORTED_ABOVE = 4_096
"""Fewest addresses that are worth sorting first: most transfers are of few tokens, each of which is
then searched once, in memory order."""
_ONE_BY_ONE_BELOW = 1_024
"""Fewest addresses that are not looked up in the dict of additions one by one."""

_Parts = tuple[Uint64Array, Uint64Array, Uint32Array]

TokenColumns = tuple[ByteArray, Int32Array, Int64Array]
"""Addresses, uint8[n, 20], with the ids and first blocks of their tokens."""


class FoundTokens(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Tracked tokens at given addresses, in the order of the addresses."""

    token_id: Int32Array
    """NOT_TRACKED where the address is not tracked."""
    first_seen_block: Int64Array
    """First block whose transfers are kept; 0 where the address is not tracked."""


class AddressKeys(msgspec.Struct, frozen=True, eq=False):
    """Addresses to look up, in one or several sets of tokens."""

    addresses: ByteArray
    """uint8[m, 20]; for many addresses, sorted by `head` and without consecutive duplicates."""
    head: Uint64Array
    """Bytes 0 to 7 of the address."""
    middle: Uint64Array
    """Bytes 8 to 15."""
    tail: Uint32Array
    """Bytes 16 to 19."""
    place: IndexArray | None
    """Row in `addresses` of each requested address. None: the rows are the requested addresses."""

    @classmethod
    def of(cls, addresses: ByteArray) -> "AddressKeys":
        """Return the keys of addresses, uint8[n, 20]."""
        head, middle, tail = _parts(addresses)
        if head.size <= _SORTED_ABOVE:
            return cls(addresses, head, middle, tail, None)
        order = np.argsort(head)
        head, middle, tail = head[order], middle[order], tail[order]
        begins = np.ones(head.size, np.bool_)
        begins[1:] = (head[1:] != head[:-1]) | (middle[1:] != middle[:-1]) | (tail[1:] != tail[:-1])
        place = np.empty(head.size, np.intp)
        place[order] = np.cumsum(begins) - 1
        return cls(addresses[order[begins]], head[begins], middle[begins], tail[begins], place)


class _Sorted(msgspec.Struct, frozen=True, eq=False):
    """Tokens sorted by `head`. Equal heads are in no particular order."""

    head: Uint64Array
    """Bytes 0 to 7 of the address."""
    middle: Uint64Array
    """Bytes 8 to 15."""
    tail: Uint32Array
    """Bytes 16 to 19."""
    token_id: Int32Array
    first_seen_block: Int64Array

    def keep(self, rows: BoolArray | IndexArray) -> "_Sorted":
        return _Sorted(
            self.head[rows],
            self.middle[rows],
            self.tail[rows],
            self.token_id[rows],
            self.first_seen_block[rows],
        )


class TrackedTokens:
    """Tracked tokens of one chain. Not for concurrent use during changes."""

    def __init__(
        self, addresses: ByteArray, token_ids: Int32Array, first_seen_blocks: Int64Array
    ) -> None:
        """Start with these tokens: uint8[n, 20], int32[n], int64[n], in any order.

        Sorted addresses load fastest. Raises ValueError if an address occurs twice.
        """
        self._merged = _sort(addresses, token_ids, first_seen_blocks)
        _refuse_doubles(self._merged)
        self._added: dict[bytes, tuple[int, int]] = {}
        self._added_sorted: _Sorted | None = None

    def __len__(self) -> int:
        return self._merged.head.size + len(self._added)

    @classmethod
    def empty(cls) -> "TrackedTokens":
        """Return an empty set."""
        return cls(
            np.empty((0, _ADDRESS_BYTES), np.uint8), np.empty(0, np.int32), np.empty(0, np.int64)
        )

    @classmethod
    def of_pages(cls, pages: Iterable[TokenColumns], *, at_most: int) -> "TrackedTokens":
        """Return the set of tokens that come page by page, `at_most` in all.

        Peak memory is little more than that of the result. Raises ValueError if an address occurs
        twice.
        """
        tokens = cls.empty()
        tokens._merged = _gather(pages, at_most=at_most)
        _refuse_doubles(tokens._merged)
        return tokens

    @property
    def nbytes(self) -> int:
        """Return the bytes of memory of the merged tokens."""
        one = self._merged
        parts = (one.head, one.middle, one.tail, one.token_id, one.first_seen_block)
        return sum(part.nbytes for part in parts)

    def find(self, keys: AddressKeys) -> FoundTokens:
        """Look up addresses."""
        token_id = np.full(len(keys.addresses), NOT_TRACKED, np.int32)
        first_seen = np.zeros(len(keys.addresses), np.int64)
        parts = (keys.head, keys.middle, keys.tail)
        _search(self._merged, parts, token_id, first_seen)
        if self._added and len(keys.addresses) < _ONE_BY_ONE_BELOW:
            for at, address in enumerate(_keys(keys.addresses)):
                known = self._added.get(address)
                if known is not None:
                    token_id[at], first_seen[at] = known
        elif self._added:
            if self._added_sorted is None:
                self._added_sorted = self._sort_added()
            _search(self._added_sorted, parts, token_id, first_seen)
        if keys.place is not None:
            token_id, first_seen = token_id[keys.place], first_seen[keys.place]
        return FoundTokens(token_id=token_id, first_seen_block=first_seen)

    def add(
        self, addresses: ByteArray, token_ids: Int32Array, first_seen_blocks: Int64Array
    ) -> None:
        """Add tokens: uint8[n, 20], int32[n], int64[n].

        The last entry of a token replaces earlier ones, in the set and among the arguments.
        """
        fresh = dict(
            zip(
                _keys(addresses),
                zip(token_ids.tolist(), first_seen_blocks.tolist(), strict=True),
                strict=True,
            )
        )
        self._remove_merged(np.frombuffer(b"".join(fresh), np.uint8).reshape(-1, _ADDRESS_BYTES))
        self._added |= fresh
        self._added_sorted = None
        if len(self._added) > _MOST_ADDED:
            self._merge()

    def remove(self, token_ids: Iterable[int]) -> None:
        """Remove the tokens with these ids, as a reorg does. Unknown ids are ignored."""
        gone = set(token_ids)
        if not gone:
            return
        stays = ~np.isin(self._merged.token_id, np.fromiter(gone, np.int32, len(gone)))
        if not stays.all():
            self._merged = self._merged.keep(stays)
        self._added = {key: one for key, one in self._added.items() if one[0] not in gone}
        self._added_sorted = None

    def _remove_merged(self, addresses: ByteArray) -> None:
        known = np.full(len(addresses), NOT_TRACKED, np.int32)
        _search(self._merged, _parts(addresses), known, np.zeros(len(addresses), np.int64))
        stale = known[known != NOT_TRACKED]
        if stale.size:
            self._merged = self._merged.keep(~np.isin(self._merged.token_id, stale))

    def _sort_added(self) -> _Sorted:
        joined = np.frombuffer(b"".join(self._added), np.uint8).reshape(-1, _ADDRESS_BYTES)
        values = np.array([*self._added.values()], np.int64).reshape(-1, 2)
        return _sort(joined, values[:, 0].astype(np.int32), values[:, 1].copy())

    def _merge(self) -> None:
        old, new = self._merged, self._sort_added()
        at = np.searchsorted(old.head, new.head)
        self._merged = _Sorted(
            np.insert(old.head, at, new.head),
            np.insert(old.middle, at, new.middle),
            np.insert(old.tail, at, new.tail),
            np.insert(old.token_id, at, new.token_id),
            np.insert(old.first_seen_block, at, new.first_seen_block),
        )
        self._added = {}
        self._added_sorted = None


def _parts(addresses: ByteArray) -> _Parts:
    """Return bytes 0 to 7, 8 to 15 and 16 to 19 as big-endian numbers."""
    head, middle = (
        np.ascontiguousarray(addresses[:, start : start + 8]).view(">u8").ravel().astype(np.uint64)
        for start in (0, 8)
    )
    tail = np.ascontiguousarray(addresses[:, 16:]).view(">u4").ravel().astype(np.uint32)
    return head, middle, tail


def _keys(addresses: ByteArray) -> list[bytes]:
    joined = np.ascontiguousarray(addresses).tobytes()
    return [joined[at : at + _ADDRESS_BYTES] for at in range(0, len(joined), _ADDRESS_BYTES)]


def _sort(addresses: ByteArray, token_ids: Int32Array, first_seen: Int64Array) -> _Sorted:
    head, middle, tail = _parts(addresses)
    whole = _Sorted(head, middle, tail, token_ids, first_seen)
    if (head[1:] >= head[:-1]).all():
        return whole
    return whole.keep(np.argsort(head))


def _gather(pages: Iterable[TokenColumns], *, at_most: int) -> _Sorted:
    """Return all pages sorted. A column takes memory only once it is written."""
    columns: list[np.ndarray[Any, Any]] = [
        np.empty(at_most, kind) for kind in (np.uint64, np.uint64, np.uint32, np.int32, np.int64)
    ]
    count = 0
    for addresses, token_ids, first_seen in pages:
        end = count + len(token_ids)
        parts = (*_parts(addresses), token_ids, first_seen)
        for column, part in zip(columns, parts, strict=True):
            column[count:end] = part
        count = end
    order = np.argsort(columns[0][:count])
    for at, column in enumerate(columns):
        columns[at] = column[order]  # one by one, so that only one is held twice
    return _Sorted(*columns)


def _refuse_doubles(tokens: _Sorted) -> None:
    again = tokens.head[1:] == tokens.head[:-1]
    if not again.any():
        return
    rows = np.flatnonzero(np.append(again, False) | np.insert(again, 0, False))
    parts = (tokens.head[rows], tokens.middle[rows], tokens.tail[rows])
    if len(set(zip(*(part.tolist() for part in parts), strict=True))) < rows.size:
        message = "an address occurs twice among the tracked tokens"
        raise ValueError(message)


def _search(
    tokens: _Sorted,
    parts: _Parts,
    token_id: Int32Array,
    first_seen: Int64Array,
) -> None:
    """Write id and first block of the found addresses into `token_id` and `first_seen`."""
    if not tokens.head.size:
        return
    head, middle, tail = parts
    at = np.searchsorted(tokens.head, head)
    rows = np.arange(head.size)
    while rows.size:
        # Round by round through runs of equal heads; almost all runs have one token.
        inside = at < tokens.head.size
        rows, at = rows[inside], at[inside]
        same = tokens.head[at] == head[rows]
        rows, at = rows[same], at[same]
        whole = (tokens.middle[at] == middle[rows]) & (tokens.tail[at] == tail[rows])
        token_id[rows[whole]] = tokens.token_id[at[whole]]
        first_seen[rows[whole]] = tokens.first_seen_block[at[whole]]
        rows, at = rows[~whole], at[~whole] + 1
