"""What a word depends on: the storage it was read from, the caller's data, the clock, answers.

Descends through everything arithmetic, with the bits that matter, and through words that stand
for several ("phi"). Stops at storage reads: what a slot's name depends on is its keys.
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
"""What was found, with the bits of it that matter."""


class DependencyAnalysis:
    """Answers for the words of one pool; remembers them."""

    def __init__(self, pool: ExprPool) -> None:
        self._pool = pool
        self._known: dict[Value, Atoms] = {}
        self._parts: dict[Value, tuple[Expr, ...]] = {}

    def sources(self, word: Value) -> Atoms:
        """Every storage read, leaf and hash the word depends on."""
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
        """Whether the word depends on a leaf of one of these kinds."""
        return any(atom.operation in operations for atom in self.sources(word))

    def reads(self, word: Value) -> Iterator[tuple[Value, int]]:
        """Slot and bits of every storage read in the word."""
        for atom, bits in self.sources(word).items():
            if atom.operation == "SLOAD":
                yield atom.arguments[0], bits

    def phi_values(self, word: Value, *, most: int = _MOST_MEANINGS) -> list[Value]:
        """What a word that stands for several stands for; any other word is itself. `most`: how
        many words are looked at, those that stand for others among them."""
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
        """Whether words of several paths went into it."""
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
        """The one thing a word stands for, or the word."""
        if isinstance(word, Expr) and word.operation in _MEANT:
            meanings = self.phi_values(word)
            return meanings[0] if len(meanings) == 1 else word
        return word

    def subexpressions(self, word: Value) -> tuple[Expr, ...]:
        """The term, all its parts, and what they stand for; not inside storage slots."""
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
    """The operands, with the bits of each that the wanted bits of the result come from."""
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
    """Whether it is the contract's own address."""
    bare = address_in(word)
    return isinstance(bare, Expr) and bare.operation == "ADDRESS"
