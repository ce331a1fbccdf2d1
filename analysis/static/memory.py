"""Memory of one path: the words it has stored, by the word that names their place.

Places are numbers where the free memory pointer is known and terms where it is not; "pointer + 32"
is one term however it was computed, so stored words are found again either way.
"""

from typing import Final

from analysis.static.terms import Pool, Term, Word

_WORD: Final = 32
_MOST_CELLS: Final = 160
"""Beyond this the oldest are forgotten."""

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
        if words is not None:
            return pool.hash_words(words)
        return pool.leaf("packed", *self._pieces(place, length))

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

    def _pieces(self, place: Word, length: int) -> list[Word]:
        """Offset and word of every store that overlaps the stretch, oldest first."""
        pieces: list[Word] = [length]
        if isinstance(place, int):
            for cell, word in self.cells.items():
                if isinstance(cell, int) and -_WORD < cell - place < length:
                    pieces += [cell - place, word]
        else:
            pieces.append(place)
        return pieces
