"""Symbolic memory of one path: stored words by the expression of their address.

Addresses are numbers where the free memory pointer is known and expressions where it is not;
"pointer + 32" is one expression however it was computed, so that loads find stored words. A store
that covers part of an earlier one leaves the rest of that as a fragment: no two cells overlap.

A store changes every cell that is not provably apart from it (`address_ranges`) to an unknown word.
At most 160 cells are kept.
"""

from collections.abc import Callable, Iterator
from typing import Final

from analysis.static.evm.address_ranges import HEAP, AddressRanges
from analysis.static.evm.expressions import MASK, Expr, ExprPool, Value
from core.evm.primitives import ADDRESS_BITS, ADDRESS_MASK

_WORD: Final = 32
_SELECTOR: Final = 4
_LOW_BITS: Final = _WORD - 1
_MOST_CELLS: Final = 160
"""Cells of one memory; beyond this the oldest are dropped."""


_MOST_HASHED: Final = 512
"""Bytes of one hash whose content is tracked; mapping keys and array roots need 64."""

_ENDLESS: Final = 2**257
_HALF: Final = 2**255
_POINTER: Final = 0x40
"""Address of the free memory pointer. Source: Solidity documentation, "Layout in Memory"."""

Fragment = tuple[Value, int, int]
"""A part of a stored word: the word, its first byte still present, the number of bytes."""

Cell = Value | Fragment


class SymbolicMemory:
    """Words by address, oldest store first. Copies are copy-on-write."""

    __slots__ = (
        "_is_aligned",
        "_is_numeric",
        "_is_shared",
        "_pool",
        "_ranges",
        "cells",
        "is_clean",
    )

    def __init__(self, pool: ExprPool, ranges: AddressRanges | None = None) -> None:
        self._pool = pool
        self._ranges = ranges or AddressRanges(pool)
        self.cells: dict[Value, Cell] = {}
        self.is_clean = True
        """True if all bytes at numeric addresses that are in no cell are still zero."""
        self._is_aligned = True
        """True if all cells are whole words at multiples of 32 from their base."""
        self._is_numeric = True
        """True if all cells are at numeric addresses."""
        self._is_shared = False

    def copy(self) -> "SymbolicMemory":
        """Return an independent memory with the same words."""
        self._is_shared = True
        other = SymbolicMemory(self._pool, self._ranges)
        other.cells = self.cells
        other.is_clean = self.is_clean
        other._is_aligned = self._is_aligned
        other._is_numeric = self._is_numeric
        other._is_shared = True
        return other

    def is_same(self, other: "SymbolicMemory") -> bool:
        """True if both hold the same."""
        return self.is_clean is other.is_clean and (
            self.cells is other.cells or self.cells == other.cells
        )

    def common(
        self, other: "SymbolicMemory", join: Callable[[Value, Value, Value], Value]
    ) -> "SymbolicMemory":
        """Return the merge of both: cells in which they agree, and `join(place, one, two)` where
        both hold different whole words. Other cells become unknown."""
        theirs = other.cells
        found = SymbolicMemory(self._pool, self._ranges)
        cells = found.cells
        for place, kept in self.cells.items():
            word = theirs.get(place)
            if word is None:
                continue
            if kept is word or kept == word:
                cells[place] = kept
            elif not isinstance(kept, tuple) and not isinstance(word, tuple):
                cells[place] = join(place, kept, word)
        found._is_aligned = self._is_aligned or other._is_aligned
        found._is_numeric = self._is_numeric or other._is_numeric
        is_all = len(cells) == len(self.cells) == len(theirs)
        self._join_above_pointer(other, found)
        found.is_clean = is_all and self.is_clean and other.is_clean
        return found

    def _join_above_pointer(self, other: "SymbolicMemory", found: "SymbolicMemory") -> None:
        """Add the words in which both agree at the same distance from the free memory pointer."""
        one, two = self.cells.get(_POINTER), other.cells.get(_POINTER)
        joined = found.cells.get(_POINTER)
        if not isinstance(joined, Expr) or (joined is one and joined is two):
            return
        if not isinstance(one, int | Expr) or not isinstance(two, int | Expr):
            return
        (base, start), (their_base, their_start) = _split(one), _split(two)
        for cell, word in self.cells.items():
            near, offset = _split(cell)
            distance = offset - start
            if near is not base or isinstance(word, tuple) or distance & _LOW_BITS:
                continue
            if other.cells.get(self._at(their_base, their_start + distance)) == word:
                found.cells[self._at(joined, distance)] = word
                found._is_numeric = False

    def _own(self) -> dict[Value, Cell]:
        """Return the cells for writing, copied first if they are shared."""
        if self._is_shared:
            self.cells = dict(self.cells)
            self._is_shared = False
        return self.cells

    # --- stores -------------------------------------------------------------------------------

    def store(self, place: Value, word: Value) -> None:
        """Execute MSTORE."""
        cells = self._own()
        known = cells.get(place)
        is_whole = known is not None and known.__class__ is not tuple
        if is_whole or (self._is_aligned and _is_aligned(place)):
            cells.pop(place, None)
        else:
            self._is_aligned = False
            self._cut(place, _WORD)
        if place.__class__ is not int or not self._is_numeric:
            self._disturb(place, _WORD)
        self._put(place, word)

    def store_byte(self, place: Value, word: Value) -> None:
        """Execute MSTORE8."""
        self._store_part(place, (word, _WORD - 1, 1))

    def store_words(self, place: Value, words: list[Value], length: int) -> None:
        """Store the first `length` bytes of consecutive words."""
        for offset, word in zip(range(0, length, _WORD), words, strict=True):
            at = self._pool.build("ADD", offset, place)
            if length - offset < _WORD:
                self._store_part(at, (word, 0, length - offset))
            else:
                self.store(at, word)

    def _store_part(self, place: Value, part: Fragment) -> None:
        self._own()
        self._is_aligned = False
        self._cut(place, part[2])
        self._disturb(place, part[2])
        self._put(place, part)

    def _put(self, place: Value, cell: Cell) -> None:
        cells = self.cells
        if len(cells) >= _MOST_CELLS:
            del cells[next(iter(cells))]
            self.is_clean = False
        cells[place] = cell
        if place.__class__ is not int:
            self.is_clean = self._is_numeric = False

    def _disturb(self, place: Value, length: Value) -> None:
        """Make the cells with another base unknown that a store may hit."""
        if self._is_numeric and place.__class__ is int:
            return
        cells = self.cells
        base, start = _split(place)
        end = self._pool.build("ADD", place, length) if isinstance(length, Expr) else None
        is_unknown = base is not None and not self._ranges.is_at_least(base, 0, -start)
        for cell, kept in cells.items():
            if is_unknown and cell.__class__ is int and cell < HEAP:
                continue
            other, offset = _split(cell)
            if other is not base and not self._is_apart(
                (base, start), length, end, (other, offset), _parts(kept)[2]
            ):
                unknown = self._pool.intern("memory", cell, place)
                word, first, size = _parts(kept)
                disturbed = self._pool.disturbed(word, unknown)
                is_part = isinstance(kept, tuple)
                cells[cell] = (disturbed, first, size) if is_part else disturbed

    def _is_apart(
        self,
        store: tuple[Expr | None, int],
        length: Value,
        end: Value | None,
        cell: tuple[Expr | None, int],
        size: int,
    ) -> bool:
        """True if a store surely ends before a cell, or starts behind it. `end`: of the store, if
        its length is not a number."""
        is_at_least = self._ranges.is_at_least
        one, other = store[0] or 0, cell[0] or 0
        between = cell[1] - store[1]
        if is_at_least(one, other, size + between):
            return True
        if isinstance(length, int):
            return is_at_least(other, one, length - between)
        return end is not None and is_at_least(other, end, -cell[1])

    def replace(self, place: Value, cell: Cell) -> None:
        """Change what is known of the content of a cell."""
        self._own()[place] = cell

    def forget(self, place: Value, length: Value) -> None:
        """Make `length` bytes from `place` on unknown.

        Length unknown: all bytes from there on.
        """
        if length == 0:
            return
        self._own()
        self.is_clean = False
        if not isinstance(length, int):
            self._cut(place, _ENDLESS)
        else:
            self._is_aligned &= _is_aligned(place) and not length & _LOW_BITS
            self._cut(place, length)
        self._disturb(place, length)

    def _cut(self, place: Value, length: int) -> None:
        """Remove a byte range from the cells; the rest of a cut word stays as a fragment."""
        base, start = _split(place)
        end = start + length
        for cell, offset in self._near(base, start, end):
            word, first, count = _parts(self.cells[cell])
            if offset + count <= start:
                continue
            del self.cells[cell]
            if offset < start:
                self.cells[cell] = (word, first, start - offset)
            if offset + count > end:
                rest = (word, first + end - offset, offset + count - end)
                self.cells[self._at(base, end)] = rest

    def _near(self, base: Expr | None, start: int, end: int) -> list[tuple[Value, int]]:
        """Return the cells that may have bytes in a range of offsets from a base, each with its
        offset. Base None: numeric addresses."""
        low = start - _WORD
        if base is None:
            return [
                (cell, cell) for cell in self.cells if isinstance(cell, int) and low < cell < end
            ]
        places = [(cell, _split(cell)) for cell in self.cells if isinstance(cell, Expr)]
        return [
            (cell, offset)
            for cell, (other, offset) in places
            if other is base and low < offset < end
        ]

    def _at(self, base: Expr | None, offset: int) -> Value:
        return offset if base is None else self._pool.build("ADD", offset % 2**256, base)

    # --- reads --------------------------------------------------------------------------------

    def load(self, place: Value) -> Value:
        """Execute MLOAD. Unknown bytes give an expression that is named after the address."""
        cell = self.cells.get(place)
        if cell is not None and not isinstance(cell, tuple):
            return cell
        if self._is_aligned and _is_aligned(place):
            return self._unknown(place)
        return self._composed(place)

    def head(self, place: Value) -> Value:
        """Return the word at the address. Of a constant fragment of at least four bytes, such as a
        call's selector, return its bytes followed by zeros."""
        cell = self.cells.get(place)
        if isinstance(cell, tuple):
            word, first, count = cell
            if isinstance(word, int) and not first and count >= _SELECTOR:
                return word >> (below := 8 * (_WORD - count)) << below
        return self.load(place)

    def _unknown(self, place: Value) -> Value:
        if self.is_clean and isinstance(place, int):
            return 0
        return self._pool.intern("memory", place)

    def _composed(self, place: Value) -> Value:
        """Return the word composed of the cells that hold its bytes."""
        make = self._pool.build
        whole: Value = 0
        missing = 2**256 - 1
        base, start = _split(place)
        for at, (word, first, count) in self._parts_of(base, start, start + _WORD):
            mask = (2 ** (8 * count) - 1) << 8 * (_WORD - at - count)
            direction, bytes_off = ("SHR", at - first) if at > first else ("SHL", first - at)
            part = make("AND", mask, make(direction, 8 * bytes_off, word))
            whole = make("OR", whole, part)
            missing &= ~mask
        if not missing or (self.is_clean and base is None):
            return whole
        unknown = self._pool.intern("memory", place)
        return make("OR", whole, make("AND", missing, unknown))

    def _parts_of(self, base: Expr | None, start: int, end: int) -> list[tuple[int, Fragment]]:
        """Return the fragments in a byte range, sorted by their offset into it."""
        found = []
        for cell, offset in self._near(base, start, end):
            word, first, count = _parts(self.cells[cell])
            low, high = max(offset, start), min(offset + count, end)
            if low < high:
                found.append((low - start, (word, first + low - offset, high - low)))
        return sorted(found, key=lambda part: part[0])

    def hash(self, place: Value, length: Value) -> Value:
        """Return the KECCAK256 of a byte range: of whole words, or `packed` with its pieces."""
        pool = self._pool
        length = _distance(length)
        if not isinstance(length, int) or not 0 < length <= _MOST_HASHED:
            return pool.intern("keccak", pool.intern("memory", place), length)
        words = self._whole_words(place, length)
        if words is not None and not (len(words) == 1 and _halves(words[0])):
            return pool.hash_words(words)
        return pool.intern("packed", length, *self._pieces(place, length))

    def _whole_words(self, place: Value, length: int) -> tuple[Value, ...] | None:
        if length % _WORD:
            return None
        words: list[Value] = []
        for offset in range(0, length, _WORD):
            cell = self.cells.get(self._pool.build("ADD", offset, place) if offset else place)
            if cell is None or isinstance(cell, tuple):
                return None
            words.append(cell)
        return tuple(words)

    def _pieces(self, place: Value, length: int) -> Iterator[Value]:
        """Yield offset and content of each piece of a byte range, in turn."""
        base, start = _split(place)
        done = 0
        for at, (word, first, count) in self._parts_of(base, start, start + length):
            if at > done:
                yield from self._gap(base, start, done)
            for offset, content in _contents(word, first, first + count):
                yield from (at + offset - first, content)
            done = at + count
        if done < length:
            yield from self._gap(base, start, done)

    def _gap(self, base: Expr | None, start: int, done: int) -> tuple[Value, Value]:
        """Return offset and content of bytes that are in no cell."""
        return done, self._unknown(self._at(base, start + done))


def _distance(length: Value) -> Value:
    """Return a length as a number if it is the difference of two addresses with one base.

    Else the length unchanged. Bases are pointers here: within one hash a pointer has one value.
    """
    rest = 0
    counts: dict[Expr, int] = {}
    waiting = [(length, 1)]
    while waiting:
        word, sign = waiting.pop()
        if isinstance(word, int):
            rest += sign * word
        elif word.operation == "ADD":
            waiting += [(each, sign) for each in word.arguments]
        elif word.operation == "SUB":
            minuend, subtrahend = word.arguments
            waiting += [(minuend, sign), (subtrahend, -sign)]
        else:
            counts[word] = counts.get(word, 0) + sign
    return length if any(counts.values()) else rest & MASK


def _is_aligned(place: Value) -> bool:
    """True if the address is a multiple of 32 bytes from its base."""
    if isinstance(place, Expr):
        first = place.arguments[0] if place.operation == "ADD" else 0
        return not isinstance(first, int) or not first & _LOW_BITS
    return not place & _LOW_BITS


def _split(place: Value) -> tuple[Expr | None, int]:
    """Return base and offset in bytes of an address. Base None: a numeric address."""
    if isinstance(place, int):
        return None, place
    if place.place is None:
        place.place = _term_split(place)
    return place.place


def _term_split(place: Expr) -> tuple[Expr, int]:
    if place.operation == "ADD" and isinstance(place.arguments[0], int):
        offset, base = place.arguments
        if isinstance(base, Expr) and isinstance(offset, int):
            return base, offset - 2**256 if offset >= _HALF else offset
    return place, 0


def _parts(cell: Cell) -> Fragment:
    return cell if isinstance(cell, tuple) else (cell, 0, _WORD)


def _halves(word: Value) -> tuple[int, Value, Value] | None:
    """Return bits, low and high of a word built as `low | high << bits`; one half is a number.

    None: the word is not built so.
    """
    match word:
        case Expr(
            operation="OR", arguments=(int(low), Expr(operation="SHL", arguments=(bits, high)))
        ):
            if isinstance(bits, int) and bits % 8 == 0 and not low >> bits:
                return bits, low, high
        case Expr(operation="OR", arguments=(int(number), Expr() as low)):
            if fits_an_address(low) and not number & ADDRESS_MASK:
                return ADDRESS_BITS, low, number >> ADDRESS_BITS
    return None


def fits_an_address(word: Expr) -> bool:
    """True if all bits above the 160 of an address are surely zero."""
    match (word.operation, word.arguments):
        case ("AND", (int(mask), _)):
            return mask <= ADDRESS_MASK
        case ("SHR", (int(shift), _)):
            return shift >= _WORD * 8 - ADDRESS_BITS
    return word.operation in ("CALLER", "ORIGIN", "ADDRESS")


def _contents(word: Value, start: int, end: int) -> Iterator[tuple[int, Value]]:
    """Yield offset and content of the bytes from start to end of a word."""
    halves = _halves(word)
    if isinstance(word, int):
        yield start, (word >> (8 * (_WORD - end))) & (2 ** (8 * (end - start)) - 1)
    elif halves is None:
        yield start, word
    else:
        bits, low, high = halves
        border = _WORD - bits // 8
        if start < border and isinstance(high, int):
            yield start, high & (2 ** (8 * (border - start)) - 1)
        elif start < border:
            yield start, high
        if end > border:
            yield from _contents(low, max(start, border), end)
