"""Memory words that a call may or may not write, and the size tests that decide between the two.

A call that returns less than its output area leaves the rest of that area as it was: a failed
`ecrecover` and a call of an account without code leave all of it. Such a word is a phi of the old
content and of the result, until the code has tested the size of the return data.
"""

from collections.abc import Iterator
from typing import Final

import msgspec

from analysis.static.evm.expressions import (
    FOLDED,
    MASK,
    Expr,
    ExprPool,
    Value,
    subterms,
    undisturbed,
)
from analysis.static.evm.symbolic_memory import SymbolicMemory, fits_an_address

WORD: Final = 32
LONGEST_TEST: Final = 12
"""Join points after a call within which compilers test the size of its return data."""

_DEEPEST: Final = 12
_COMPARED: Final = frozenset({"EQ", "XOR", "SUB"})

Linear = tuple[dict[Expr, int], int]


class CallOutput(msgspec.Struct, frozen=True):
    """The words that the last call of a path may not have written."""

    size: Expr
    """The size of its return data, in bytes."""
    words: tuple[tuple[Expr, Expr], ...]
    """The phi in memory and the result of the call, for each of them."""
    sizes: range
    """The sizes of return data, in bytes, that leave one of the words as it was."""
    is_read: bool = False
    """True if the word at the address that is `size` was read: the output, or else a hash."""


class CallOutputs:
    """Creates the uncertain words of one exploration, each once for equal operands."""

    def __init__(self, pool: ExprPool) -> None:
        self._pool = pool
        self._made: dict[tuple[int, Value, Value], Expr] = {}
        self._of: dict[Expr, tuple[Value, Expr]] = {}
        self._sizes: set[Expr] = set()
        self._told: dict[tuple[Expr, bool, CallOutput], bool] = {}
        self._mentioned: dict[Expr, frozenset[Expr]] = {}

    def written(self, pc: int, old: Value, result: Expr) -> Value:
        """Return the content of an output word after the call at this program counter.

        A word that was zero, such as fresh memory, holds the result in either case: nothing is
        known of a result, and an account without code has none but zero. In a loop an equal result
        is that of an earlier iteration if it depends on what may have changed since.
        """
        if old == 0:
            return result
        if old is result:
            if not any(isinstance(each, Expr) and each.changes for each in result.arguments[1:]):
                return result
            old = self._pool.intern("earlier", result)
        if isinstance(old, Expr) and self._of.get(old, (0, 0))[1] is result:
            return old
        key = (pc, old, result)
        phi = self._made.get(key)
        if phi is None:
            phi = self._made[key] = self._pool.either()
            self._pool.join(phi, old, result)
            self._of[phi] = (old, result)
        return phi

    def size_after(self, pc: int, callee: Value) -> Expr:
        """Return the size of the return data of the call at this program counter."""
        size = self._pool.intern("RETURNDATASIZE", callee, pc)
        self._sizes.add(size)
        return size

    def result_in(self, word: Value) -> Expr | None:
        """Return the result that the word holds if the call wrote it. None: no uncertain word."""
        return self._of[word][1] if isinstance(word, Expr) and word in self._of else None

    def compared(self, name: str, words: tuple[Value, ...]) -> tuple[Value, ...]:
        """Return the operands of an equality, the result in place of an uncertain word.

        Where old content and other operand are different numbers, only the result can be equal.
        """
        if name not in _COMPARED:
            return words
        one, other = words
        for word, number in ((one, other), (other, one)):
            if isinstance(word, Expr) and isinstance(number, int) and word in self._of:
                old, result = self._of[word]
                if isinstance(old, int) and old != number:
                    return (result, other) if word is one else (one, result)
        return words

    def is_in_use(self, output: CallOutput, stack: list[Value], memory: SymbolicMemory) -> bool:
        """True if a word of the state comes from an earlier call at the same program counter."""
        names = {output.size, *(phi for phi, _ in output.words)}
        return any(not names.isdisjoint(self._mentions(word)) for word in _words(stack, memory))

    def _mentions(self, word: Value) -> frozenset[Expr]:
        if not isinstance(word, Expr):
            return frozenset()
        known = self._mentioned.get(word)
        if known is None:
            known = self._mentioned[word] = frozenset(
                term for term in subterms(word) if term in self._of or term in self._sizes
            )
        return known

    def is_written(self, output: CallOutput, condition: Expr, *, holds: bool) -> bool:
        """True if the condition cannot have this outcome where the call left a word as it was."""
        if output.is_read and _equals_address(output, condition, holds=holds):
            return True
        if output.size not in self._mentions(condition):
            return False
        key = (condition, holds, output)
        known = self._told.get(key)
        if known is None:
            outcomes = (_number(condition, output.size, size) for size in output.sizes)
            known = self._told[key] = all(
                outcome is not None and bool(outcome) is not holds for outcome in outcomes
            )
        return known

    def settle(self, output: CallOutput, stack: list[Value], memory: SymbolicMemory) -> None:
        """Replace the uncertain words of a state by the results."""
        known: dict[Expr, Value] = dict(output.words)
        stack[:] = [self._settled(word, known) for word in stack]
        for place, cell in list(memory.cells.items()):
            word = cell[0] if isinstance(cell, tuple) else cell
            fresh = self._settled(word, known)
            if fresh is not word:
                memory.replace(place, (fresh, *cell[1:]) if isinstance(cell, tuple) else fresh)

    def _settled(self, word: Value, known: dict[Expr, Value]) -> Value:
        if not isinstance(word, Expr) or known.keys().isdisjoint(self._mentions(word)):
            return word
        found = known.get(word)
        if found is None and (old := undisturbed(word)) is not word:
            *_, unknown = self._pool.phi_operands[word]
            found = self._pool.disturbed(self._settled(old, known), unknown)
        if found is None:
            parts = [self._settled(part, known) for part in word.arguments]
            is_plain = word.operation in FOLDED
            make = self._pool.build if is_plain else self._pool.intern
            found = known[word] = make(word.operation, *parts)
        return found


def _equals_address(output: CallOutput, condition: Expr, *, holds: bool) -> bool:
    """True if the outcome means that the word read is an address, which a hash is not."""
    if condition.operation not in _COMPARED or holds is not (condition.operation == "EQ"):
        return False
    results = [result for _, result in output.words]
    one, other = condition.arguments
    return any(
        word in results and isinstance(bound, Expr) and fits_an_address(bound)
        for word, bound in ((one, other), (other, one))
    )


def _words(stack: list[Value], memory: SymbolicMemory) -> Iterator[Value]:
    yield from stack
    for cell in memory.cells.values():
        yield cell[0] if isinstance(cell, tuple) else cell


def _number(word: Value, size: Expr, bytes_returned: int) -> int | None:
    """Return the value of a word for this size of the return data. None: it depends on more."""
    rest, number = _linear(word, size, bytes_returned, _DEEPEST)
    return None if any(rest.values()) else number & MASK


def _linear(word: Value, size: Expr, bytes_returned: int, depth: int) -> Linear:
    """Return the word as a sum of other words and a number: pointers to the return data cancel."""
    if isinstance(word, int):
        return {}, word
    if word is size:
        return {}, bytes_returned
    if depth and word.operation in FOLDED:
        parts = [_linear(each, size, bytes_returned, depth - 1) for each in word.arguments]
        if word.operation in ("ADD", "SUB"):
            sign = 1 if word.operation == "ADD" else -1
            rest = dict(parts[0][0])
            for term, count in parts[1][0].items():
                rest[term] = rest.get(term, 0) + sign * count
            return rest, parts[0][1] + sign * parts[1][1]
        if not any(any(other.values()) for other, _ in parts):
            return {}, FOLDED[word.operation](*(number & MASK for _, number in parts))
    return {word: 1}, 0
