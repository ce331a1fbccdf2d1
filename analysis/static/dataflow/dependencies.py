"""Backward slices of expressions: the storage reads, calldata, clock and call results in them.

Descends through arithmetic, tracking the mask of relevant bits, and through all operands of a phi:
the result over-approximates the dependencies. Stops at storage reads, calldata, hashes, memory and
call results. Bounds: `_MOST_VISITED` nodes a slice, `_MOST_MEANINGS` values a phi; beyond them,
dependencies are missing.
"""

from collections.abc import Iterator
from typing import Final

from analysis.static.evm.expressions import MASK, Expr, ExprPool, Value, address_in, is_power_of_two

CLOCKS: Final = frozenset({"TIMESTAMP", "NUMBER"})
CALLERS: Final = frozenset({"CALLER", "ORIGIN"})
HASHES: Final = frozenset({"keccak", "packed"})
_STOPS: Final = frozenset({"SLOAD", "CALLDATALOAD", "keccak", "packed", "result", "memory"})
_MEANT: Final = frozenset({"phi", "top"})
_MOST_VISITED: Final = 3000
_MOST_MEANINGS: Final = 24

Atoms = dict[Expr, int]
"""The leaves that an expression depends on, each with the mask of its bits that matter."""


class DependencyAnalysis:
    """Memoised backward slices of the expressions of one pool."""

    def __init__(self, pool: ExprPool) -> None:
        self._pool = pool
        self._known: dict[Value, Atoms] = {}
        self._parts: dict[Value, tuple[Expr, ...]] = {}
        self._values: dict[tuple[Value, int], tuple[Value, ...]] = {}

    def sources(self, word: Value) -> Atoms:
        """Return every storage read, leaf and hash that the word depends on."""
        known = self._known.get(word)
        if known is None:
            known = self._known[word] = self._search(word)
        return known

    def _search(self, word: Value) -> Atoms:
        found: Atoms = {}
        seen: dict[Expr, int] = {}
        waiting: list[tuple[Value, int]] = [(word, MASK)]
        while waiting and len(seen) < _MOST_VISITED:
            term, bits = waiting.pop()
            if not isinstance(term, Expr) or not bits:
                continue
            before = seen.get(term, 0)
            if before | bits == before and term in seen:
                continue
            seen[term] = before | bits
            if term.operation in _MEANT:
                waiting.extend((each, bits) for each in self._pool.phi_operands.get(term, ()))
            elif term.operation in _STOPS or not term.arguments or term.operation == "success":
                found[term] = found.get(term, 0) | bits
            else:
                waiting.extend(_operands(term, bits))
        return found

    def has(self, word: Value, operations: frozenset[str]) -> bool:
        """True if the word depends on a leaf with one of these operations."""
        return any(atom.operation in operations for atom in self.sources(word))

    def reads(self, word: Value) -> Iterator[tuple[Value, int]]:
        """Yield slot and bit mask of every storage read that the word depends on."""
        for atom, bits in self.sources(word).items():
            if atom.operation == "SLOAD":
                yield atom.arguments[0], bits

    def phi_values(self, word: Value, *, most: int = _MOST_MEANINGS) -> tuple[Value, ...]:
        """Return the possible values of a phi, nested ones resolved; any other word is its own.

        `most`: the number of words visited, phis included.
        """
        if not isinstance(word, Expr) or word.operation not in _MEANT:
            return (word,)
        known = self._values.get((word, most))
        if known is None:
            known = self._values[word, most] = tuple(self._find_values(word, most))
        return known

    def _find_values(self, word: Value, most: int) -> list[Value]:
        found: list[Value] = []
        seen: set[Value] = set()
        waiting = [word]
        while waiting and len(seen) < most:
            each = waiting.pop()
            if each in seen:
                continue
            seen.add(each)
            if isinstance(each, Expr) and each.operation in _MEANT:
                waiting.extend(self._pool.phi_operands.get(each, ()))
            else:
                found.append(each)
        return found

    def is_merged(self, word: Value) -> bool:
        """True if the word is computed from a phi: from values of several paths."""
        waiting = [word]
        while waiting:
            term = waiting.pop()
            if isinstance(term, Expr):
                if term.operation in _MEANT:
                    return True
                if term.operation not in _STOPS:
                    waiting.extend(term.arguments)
        return False

    def single_value(self, word: Value) -> Value:
        """Return the only value of a phi; the word itself if it has several or is no phi."""
        if isinstance(word, Expr) and word.operation in _MEANT:
            meanings = self.phi_values(word)
            return meanings[0] if len(meanings) == 1 else word
        return word

    def subexpressions(self, word: Value) -> tuple[Expr, ...]:
        """Return the word and all its subexpressions, phi operands included.

        Does not descend into storage slots, hashes or other leaves.
        """
        known = self._parts.get(word)
        if known is None:
            known = self._parts[word] = tuple(self._collect(word))
        return known

    def _collect(self, word: Value) -> dict[Expr, None]:
        seen: dict[Expr, None] = {}
        waiting = [word]
        while waiting and len(seen) < _MOST_VISITED:
            term = waiting.pop()
            if isinstance(term, Expr) and term not in seen:
                seen[term] = None
                if term.operation in _MEANT:
                    waiting.extend(self._pool.phi_operands.get(term, ()))
                elif term.operation not in _STOPS:
                    waiting.extend(term.arguments)
        return seen


def _operands(term: Expr, bits: int) -> list[tuple[Value, int]]:
    """Return the operands, each with the mask of its bits that decide `bits` of the result."""
    shift = 0
    match (term.operation, term.arguments):
        case ("AND", (int(mask), word)):
            return [(word, bits & mask)]
        case ("AND" | "OR" | "XOR" | "NOT", words):
            return [(word, bits) for word in words]
        case (("SHR" | "SHL"), (int(shift), word)) if shift < 256:  # noqa: PLR2004 - bits of a word
            pass
        case ("DIV", (word, int(number))) | ("MUL", (int(number), word)) if is_power_of_two(number):
            shift = number.bit_length() - 1
        case _:
            return [(word, MASK) for word in term.arguments]
    is_down = term.operation in ("SHR", "DIV")
    return [(word, (bits << shift) & MASK if is_down else bits >> shift)]


def is_own_address(word: Value) -> bool:
    """True if the word is the contract's own address."""
    bare = address_in(word)
    return isinstance(bare, Expr) and bare.operation == "ADDRESS"
