"""Memory of one path: the words it has stored, by the word that names their place.

Places are numbers where the free memory pointer is known and terms where it is not; "pointer + 32"
is one term however it was computed, so stored words are found again either way.
"""

from collections.abc import Iterator
from typing import Final

from analysis.static.terms import Pool, Term, Word

_WORD: Final = 32
_MOST_CELLS: Final = 160
"""Beyond this the oldest are forgotten."""

_ADDRESS_BITS: Final = 160
_ADDRESS_MASK: Final = 2**_ADDRESS_BITS - 1

_MOST_HASHED: Final = 512
"""Bytes of one hash that are looked at; mapping keys and array roots need 64."""


class Memory:
    """Words by place, oldest store first."""

    __slots__ = ("cells",)

    def __init__(self, cells: dict[Word, Word] | None = None) -> None:
        self.cells: dict[Word, Word] = {} if cells is None else cells

    def copy(self) -> "Memory":
        """An independent memory with the same words."""
        return Memory(dict(self.cells))

    def store(self, place: Word, word: Word) -> None:
        """MSTORE."""
        self.cells.pop(place, None)
        if len(self.cells) >= _MOST_CELLS:
            del self.cells[next(iter(self.cells))]
        self.cells[place] = word

    def load(self, pool: Pool, place: Word) -> Word:
        """MLOAD. A place never stored to gives a term named after it."""
        word = self.cells.get(place)
        return pool.leaf("memory", place) if word is None else word

    def forget(self, place: Word, length: Word) -> None:
        """Bytes from `place` on were overwritten with something unknown."""
        if isinstance(place, Term):
            self.cells.pop(place, None)
            return
        end = place + length if isinstance(length, int) else None
        for cell in [cell for cell in self.cells if isinstance(cell, int)]:
            if cell + _WORD > place and (end is None or cell < end):
                del self.cells[cell]

    def hash(self, pool: Pool, place: Word, length: Word) -> Word:
        """KECCAK256 of a stretch."""
        if not isinstance(length, int) or not 0 < length <= _MOST_HASHED:
            return pool.leaf("keccak", pool.leaf("memory", place), length)
        words = self._whole_words(pool, place, length)
        if words is not None and not (len(words) == 1 and _halves(words[0])):
            return pool.hash_words(words)
        pieces = self._pieces(place, length) if isinstance(place, int) else [place]
        return pool.leaf("packed", length, *pieces)

    def _whole_words(self, pool: Pool, place: Word, length: int) -> tuple[Word, ...] | None:
        if length % _WORD:
            return None
        words = []
        for offset in range(0, length, _WORD):
            cell = pool.make("ADD", offset, place)
            if cell not in self.cells or self._is_patched(cell):
                return None
            words.append(self.cells[cell])
        return tuple(words)

    def _is_patched(self, cell: Word) -> bool:
        """Whether a later store covers a part of the word: scratch space written bytewise."""
        if isinstance(cell, Term):
            return False
        order = list(self.cells)
        later = order[order.index(cell) + 1 :]
        return any(isinstance(other, int) and abs(other - cell) < _WORD for other in later)

    def _pieces(self, place: int, length: int) -> list[Word]:
        """Offset and content of what a stretch is made of, as later stores left it."""
        pieces: list[Word] = []
        end = place + length
        at = place
        while at < end:
            cell, until = self._covering(at, end)
            if cell is not None:
                for offset, content in _contents(self.cells[cell], at - cell, until - cell):
                    pieces += [cell + offset - place, content]
            at = until
        return pieces

    def _covering(self, at: int, end: int) -> tuple[int | None, int]:
        """The last store that covers the byte, and up to where it is the last one."""
        order = [cell for cell in self.cells if isinstance(cell, int)]
        covering = [cell for cell in order if cell <= at < cell + _WORD]
        if not covering:
            return None, min([cell for cell in order if at < cell < end], default=end)
        last = covering[-1]
        later = order[order.index(last) + 1 :]
        until = min(last + _WORD, end)
        return last, min([cell for cell in later if at < cell < until], default=until)


def _halves(word: Word) -> tuple[int, Word, Word] | None:
    """Of a word put together as `low | high << bits`: bits, low, high. One is a number."""
    match word:
        case Term(
            operation="OR", arguments=(int(low), Term(operation="SHL", arguments=(bits, high)))
        ):
            if isinstance(bits, int) and bits % 8 == 0 and not low >> bits:
                return bits, low, high
        case Term(operation="OR", arguments=(int(number), Term() as low)):
            if _fits_an_address(low) and not number & _ADDRESS_MASK:
                return _ADDRESS_BITS, low, number >> _ADDRESS_BITS
    return None


def _fits_an_address(word: Term) -> bool:
    """Whether the bits above an address's are surely zero."""
    match (word.operation, word.arguments):
        case ("AND", (int(mask), _)):
            return mask <= _ADDRESS_MASK
        case ("SHR", (int(shift), _)):
            return shift >= _WORD * 8 - _ADDRESS_BITS
    return word.operation in ("CALLER", "ORIGIN", "ADDRESS")


def _contents(word: Word, start: int, end: int) -> Iterator[tuple[int, Word]]:
    """Offset and content of the bytes from start to end of a word."""
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
