"""Opaque immutables: integers that stand for any value of their width and reject inspection.

An opaque number may be stored, passed on, compared for equality, and named in the findings; its own
value is made up. Any other operation that depends on the value raises `ValueInspectedError`. Thus
an analysis that ends without that error holds for every value that the opaque numbers stand for,
except the numbers recorded in `others`, from which they were assumed to differ.
"""

from collections.abc import Iterable
from typing import Final, NoReturn, SupportsIndex, overload

from analysis.static.evm.expressions import FOLDED, Expr, ExprPool, Value

WORD: Final = 32
ADDRESS_BYTES: Final = 20
FEWEST_BYTES: Final = 16
"""Fewest bytes of a number that may be made opaque, zeros at both ends not counted."""

LOWEST: Final = {ADDRESS_BYTES: 1 << 8 * FEWEST_BYTES - 8, WORD: 1 << 8 * ADDRESS_BYTES}
"""Lowest value of an opaque number, by width in bytes."""

_ALLOWED: Final = frozenset({"AND", "EQ", "GT", "ISZERO", "LT", "SHR"})
"""Operations that may be folded on opaque numbers, as the operators below permit. Some of Python's
arithmetic on ints does not call those operators."""


class ValueInspectedError(Exception):
    """Raised when the analysis depends on the value of an opaque number."""


class OpaqueInt(int):
    """An opaque number of a given width. `isinstance` takes it for a plain int."""

    __class__ = int  # type: ignore[assignment]  # some code asks for just that
    name: int
    width: int
    """Width in bytes."""
    others: set[int]
    """Receives the numbers that it was assumed to differ from."""

    @classmethod
    def make(cls, value: int, *, name: int, others: set[int]) -> "OpaqueInt":
        """Create an opaque number. Those of different names differ."""
        sealed = cls(value)
        sealed.name, sealed.width, sealed.others = name, width_of(value), others
        return sealed

    @property
    def _highest(self) -> int:
        return (1 << 8 * self.width) - 1

    def __hash__(self) -> int:
        return hash(("sealed", self.name))

    def __eq__(self, other: object) -> bool:
        if is_opaque(other):
            return self is other
        if isinstance(other, int):
            self.others.add(other)
        return False

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __bool__(self) -> bool:
        return True

    def __and__(self, other: int) -> int:
        return _look() if is_opaque(other) or self._highest & ~other else self

    __rand__ = __and__

    def __rshift__(self, bits: int) -> int:
        if is_opaque(bits) or 0 < bits < 8 * self.width:
            _look()
        return 0 if bits else self

    def __gt__(self, other: int) -> bool:
        if is_opaque(other) or LOWEST[self.width] <= other <= self._highest:
            _look()
        return other < LOWEST[self.width]

    __ge__ = __gt__

    def __lt__(self, other: int) -> bool:
        return not self > other

    __le__ = __lt__

    def __format__(self, form: str) -> str:
        """Format the made-up value, so that it can be found and replaced in texts.

        Raises `ValueInspectedError` for formats other than 040x and 064x.
        """
        return format(int.__index__(self), form) if form in ("040x", "064x") else _look()


def _look(*_: object) -> NoReturn:
    raise ValueInspectedError


for _name in vars(int):
    if _name not in vars(OpaqueInt) and _name not in ("__new__", "__getattribute__", "__doc__"):
        setattr(OpaqueInt, _name, _look)


def width_of(number: int) -> int:
    """Return the width in bytes that an opaque number in place of this one has."""
    return WORD if number >> (8 * ADDRESS_BYTES) else ADDRESS_BYTES


def is_opaque(word: object) -> bool:
    """True for an opaque number."""
    return type(word) is OpaqueInt


class OpaqueCode(bytes):
    """Bytecode with ranges that must not be read as a slice: the operands made opaque."""

    parts: tuple[range, ...]

    @overload
    def __getitem__(self, key: SupportsIndex) -> int: ...
    @overload
    def __getitem__(self, key: slice) -> bytes: ...
    def __getitem__(self, key: SupportsIndex | slice) -> int | bytes:
        """Return a byte or a slice. Single bytes are read as opcodes, so they are not checked.

        Raises `ValueInspectedError` for a slice that overlaps one of `parts`.
        """
        if not isinstance(key, slice):
            return super().__getitem__(key)
        start, stop, _ = key.indices(len(self))
        if any(start < part.stop and part.start < stop for part in self.parts):
            _look()
        return super().__getitem__(key)


class RecordingPool(ExprPool):
    """Pool that records every number in it: opaque ones are assumed to differ from all of them."""

    def __init__(self, others: set[int]) -> None:
        self._others = others
        super().__init__()

    def intern(self, operation: str, *arguments: Value) -> Expr:
        """Return the shared expression and record its numbers."""
        self._note(arguments)
        return super().intern(operation, *arguments)

    def build(self, operation: str, *arguments: Value) -> Value:
        """Return the result and record it.

        Raises `ValueInspectedError` if folding would inspect an opaque number.
        """
        is_folded = operation in FOLDED and all(isinstance(word, int) for word in arguments)
        if is_folded and operation not in _ALLOWED and any(map(is_opaque, arguments)):
            _look()
        word = super().build(operation, *arguments)
        self._note((word,))
        return word

    def hash_words(self, words: tuple[Value, ...]) -> Value:
        """Return the hash and record it."""
        word = super().hash_words(words)
        self._note((word,))
        return word

    def _note(self, words: Iterable[Value]) -> None:
        self._others.update(word for word in words if isinstance(word, int) and not is_opaque(word))
