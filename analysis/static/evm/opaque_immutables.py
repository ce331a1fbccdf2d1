"""Numbers that stand for every number like them: whoever looks at one is stopped.

They may be kept, passed on, told apart from other numbers, and named in what is found; their own
value is made up. Whatever else depends on it raises `ValueInspectedError`. So an analysis that ends
with such numbers in the code has found what it finds for all that they stand for, but for those
they were told apart from.
"""

from collections.abc import Iterable
from typing import Final, NoReturn, SupportsIndex, overload

from analysis.static.evm.expressions import FOLDED, Expr, ExprPool, Value

WORD: Final = 32
ADDRESS_BYTES: Final = 20
FEWEST_BYTES: Final = 16
"""Of a number that may be sealed, zeros at both ends not counted."""

LOWEST: Final = {ADDRESS_BYTES: 1 << 8 * FEWEST_BYTES - 8, WORD: 1 << 8 * ADDRESS_BYTES}
"""By width: numbers of that width are not below."""

_ALLOWED: Final = frozenset({"AND", "EQ", "GT", "ISZERO", "LT", "SHR"})
"""What may be folded; the operators below say when. Not all of Python's arithmetic asks them."""


class ValueInspectedError(Exception):
    """What is found depends on a number that was to make no difference."""


class OpaqueInt(int):
    """Any number of its width that may be sealed. It passes for a plain int."""

    __class__ = int  # type: ignore[assignment]  # some code asks for just that
    name: int
    width: int
    """Bytes."""
    others: set[int]
    """Where numbers are noted that it was taken not to be."""

    @classmethod
    def make(cls, value: int, *, name: int, others: set[int]) -> "OpaqueInt":
        """Sealed numbers of different names differ."""
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
        """Of the made-up value, so that it can be found and replaced in what is said."""
        return format(int.__index__(self), form) if form in ("040x", "064x") else _look()


def _look(*_: object) -> NoReturn:
    raise ValueInspectedError


for _name in vars(int):
    if _name not in vars(OpaqueInt) and _name not in ("__new__", "__getattribute__", "__doc__"):
        setattr(OpaqueInt, _name, _look)


def width_of(number: int) -> int:
    """Bytes of all numbers like it."""
    return WORD if number >> (8 * ADDRESS_BYTES) else ADDRESS_BYTES


def is_opaque(word: object) -> bool:
    """Whether its value must not be looked at."""
    return type(word) is OpaqueInt


class OpaqueCode(bytes):
    """A code, parts of which must not be copied."""

    parts: tuple[range, ...]

    @overload
    def __getitem__(self, key: SupportsIndex) -> int: ...
    @overload
    def __getitem__(self, key: slice) -> bytes: ...
    def __getitem__(self, key: SupportsIndex | slice) -> int | bytes:
        """Single bytes are instructions; operands are read as numbers."""
        if not isinstance(key, slice):
            return super().__getitem__(key)
        start, stop, _ = key.indices(len(self))
        if any(start < part.stop and part.start < stop for part in self.parts):
            _look()
        return super().__getitem__(key)


class RecordingPool(ExprPool):
    """Notes every number that is made: a sealed one is told apart from all of them."""

    def __init__(self, others: set[int]) -> None:
        self._others = others
        super().__init__()

    def intern(self, operation: str, *arguments: Value) -> Expr:
        """As any pool does."""
        self._note(arguments)
        return super().intern(operation, *arguments)

    def build(self, operation: str, *arguments: Value) -> Value:
        """Numbers are folded only where that looks at no sealed one."""
        is_folded = operation in FOLDED and all(isinstance(word, int) for word in arguments)
        if is_folded and operation not in _ALLOWED and any(map(is_opaque, arguments)):
            _look()
        word = super().build(operation, *arguments)
        self._note((word,))
        return word

    def hash_words(self, words: tuple[Value, ...]) -> Value:
        """As any pool does."""
        word = super().hash_words(words)
        self._note((word,))
        return word

    def _note(self, words: Iterable[Value]) -> None:
        self._others.update(word for word in words if isinstance(word, int) and not is_opaque(word))
