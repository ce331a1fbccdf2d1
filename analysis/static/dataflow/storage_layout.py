"""Storage layout recovery: maps slot expressions to variables, mapping keys and bit ranges.

Solidity hashes key then slot, Vyper slot then key; hand-written layouts pack both into less than
two words. A variable is named by its slot expression with the keys left out. A slot that fits no
pattern gets the root `UNKNOWN`; a phi slot yields one location for each operand.
"""

from collections.abc import Callable
from functools import cache
from itertools import chain
from typing import Final

import msgspec

from analysis.static.dataflow.dependencies import DependencyAnalysis
from analysis.static.evm.expressions import MASK, Expr, ExprPool, Value, is_power_of_two, lowest_bit
from config.burn import BURN_ADDRESSES
from core.evm.keccak import keccak
from core.evm.primitives import ADDRESS_MASK

VariableId = tuple["VariableId", ...] | int | str
"""Identifies one variable: a slot number, or a hash expression with its keys left out."""

UNKNOWN: Final = "unknown"
_PAIR: Final = 2
_LONGEST_ARRAY: Final = 2**16
"""Elements: slots within this distance of a constant array start belong to that array."""
_DEEPEST: Final = 6


_SIGN_BIT: Final = 255
_SMALL: Final = 64
"""Bits: a larger slot number is a hash, since compilers number variables from zero."""

_MOST_VARIABLES: Final = 64

_DERIVED: Final = frozenset({"map", "field", "item", "array"})
"""Kinds of derived roots; their second item is the root that they are computed from."""


@cache
def _burn_slots() -> dict[int, tuple[int, int]]:
    """Return the mapping slots of the burn addresses, by slot, as (address, mapping slot).

    Optimisers compute these hashes at compile time, so the code holds them as constants.
    """
    burned = {int(address, 16) for address in BURN_ADDRESSES}
    return {
        int.from_bytes(keccak(who.to_bytes(32) + variable.to_bytes(32))): (who, variable)
        for who in burned
        for variable in range(_MOST_VARIABLES)
    }


@cache
def _first_arrays() -> dict[int, tuple[int]]:
    """Return the slots of arrays by the start of their elements, also a hash of compile time."""
    return {
        int.from_bytes(keccak(variable.to_bytes(32))): (variable,)
        for variable in range(_MOST_VARIABLES)
    }


class StorageLocation(msgspec.Struct, frozen=True, kw_only=True):
    """A storage location: a variable and the mapping or array keys within it."""

    root: VariableId
    keys: tuple[Value, ...] = ()
    """Outermost first; empty for a plain variable."""

    @property
    def slot(self) -> int | None:
        """Return the slot that the variable is declared at. None: it is not a plain number."""
        root = self.root
        while isinstance(root, tuple):
            if root[0] not in _DERIVED:
                return None
            root = root[1]
        return root if isinstance(root, int) else None

    @property
    def is_plain(self) -> bool:
        """True if the variable has no keys and lies at a known slot."""
        return isinstance(self.root, int)


class StorageLayout:
    """Memoised mapping from the slot expressions of one pool to storage locations."""

    def __init__(self, pool: ExprPool, sources: DependencyAnalysis) -> None:
        self._hashed = pool.hashed
        self._sources = sources
        self._known: dict[Value, tuple[StorageLocation, ...]] = {}

    def of(self, slot: Value) -> tuple[StorageLocation, ...]:
        """Return the possible locations of a slot: one for each value of a phi."""
        known = self._known.get(slot)
        if known is None:
            known = tuple(self._place(each, _DEEPEST) for each in self._sources.phi_values(slot))
            self._known[slot] = known
        return known

    def has_elements(self, root: VariableId) -> bool:
        """True if the root is an array, or a part of one, among the slots resolved so far."""
        named = {place.root for places in self._known.values() for place in places}
        return any(_is_array_of(each, root) for each in named)

    def _place(self, slot: Value, depth: int) -> StorageLocation:
        if depth == 0:
            return StorageLocation(root=UNKNOWN)
        slot = self._sources.single_value(slot)
        if isinstance(slot, int):
            words = self._hashed.get(slot) or (_burn_slots().get(slot) if slot >> _SMALL else None)
            return self._hash(words, depth) if words else self._number(slot)
        if slot.operation == "keccak":
            return self._hash(slot.arguments, depth)
        if slot.operation == "packed":
            return _packed(slot)
        if slot.operation == "ADD":
            return self._offset(slot, depth)
        return StorageLocation(root=UNKNOWN, keys=(slot,))

    def _number(self, slot: int) -> StorageLocation:
        """Return the location of a constant slot: a variable, or an element of an array."""
        array = self._array_at(slot)
        return (
            StorageLocation(root=slot)
            if array is None
            else StorageLocation(root=_element_of(array), keys=(slot,))
        )

    def _array_at(self, number: int) -> int | None:
        """Return the slot of the array whose elements lie around the number. None: there is none.

        Both sides are accepted, because an offset may be added to or subtracted from the start.
        """
        if not number >> _SMALL:
            return None
        for start, words in chain(self._hashed.items(), _first_arrays().items()):
            if abs(number - start) < _LONGEST_ARRAY and _is_length(words):
                return words[0]
        return None

    def _hash(self, words: tuple[Value, ...], depth: int) -> StorageLocation:
        if len(words) == 1:
            first = words[0]
            if isinstance(first, int) and _is_length((first,)):
                return StorageLocation(root=_element_of(first), keys=(0,))
            inner = self._place(first, depth - 1)
            return StorageLocation(root=("array", inner.root), keys=inner.keys)
        if len(words) != _PAIR:
            keys = tuple(word for word in words if isinstance(word, Expr))
            return StorageLocation(root=("many", *map(str, words)), keys=keys)
        key, base = words if self._is_base(words[1]) or not self._is_base(words[0]) else words[::-1]
        inner = self._place(base, depth - 1)
        return StorageLocation(
            root=("map", inner.root), keys=(*inner.keys, self._sources.single_value(key))
        )

    def _is_base(self, word: Value) -> bool:
        word = self._sources.single_value(word)
        if isinstance(word, int):
            return True
        return word.operation in ("keccak", "packed") or (
            word.operation == "ADD" and any(self._is_hash(part) for part in word.arguments)
        )

    def _is_hash(self, word: Value) -> bool:
        if isinstance(word, int):
            return word in self._hashed
        return word.operation in ("keccak", "packed")

    def _offset(self, slot: Expr, depth: int) -> StorageLocation:
        """Return the location of a struct field or an array element: a base plus an offset."""
        first, second = slot.arguments
        if isinstance(first, int) and first not in self._hashed:
            array = self._array_at(first)
            if array is not None:
                return StorageLocation(root=_element_of(array), keys=(second,))
            inner = self._place(second, depth - 1)
            if inner.root == UNKNOWN or (first >> _SIGN_BIT and _is_plain_element(inner)):
                return inner  # a negative offset: the previous element of an array of single words
            return StorageLocation(root=("field", inner.root, first), keys=inner.keys)
        for base, index in ((first, second), (second, first)):
            if self._is_base(base) and not (isinstance(base, int) and base not in self._hashed):
                inner = self._place(base, depth - 1)
                if is_element(inner.root):
                    return StorageLocation(root=inner.root, keys=(index,))
                return StorageLocation(root=("item", inner.root), keys=(*inner.keys, index))
        return StorageLocation(root=UNKNOWN, keys=(slot,))


def _is_length(words: tuple[int, ...]) -> bool:
    """True if the hashed word is the slot of an array: entries of mappings have two words."""
    return len(words) == 1 and not words[0] >> _SMALL


def _packed(slot: Expr) -> StorageLocation:
    """Return the location of a hash of packed bytes: numbers name the variable, the rest are
    keys."""
    length, *pieces = slot.arguments
    root: list[VariableId] = ["packed", length if isinstance(length, int) else UNKNOWN]
    keys = []
    for piece in pieces:
        if isinstance(piece, int):
            root.append(piece)
        else:
            root.append("key")
            keys.append(piece)
    return StorageLocation(root=tuple(root), keys=tuple(keys))


def _same(word: Value) -> Value:
    return word


def written_bits(value: Value, slot: Value, bare: Callable[[Value], Value] = _same) -> int:
    """Return the mask of the bits of `slot` that storing `value` may change.

    An over-approximation: a bit is left out only if it is proved to keep its old value. `bare`
    replaces words that stand for one other word, such as `DependencyAnalysis.single_value`.
    """
    return MASK & ~_kept(value, slot, bare)


def _kept(word: Value, slot: Value, bare: Callable[[Value], Value]) -> int:
    """Return the mask of the bits that surely keep their old value."""
    word = bare(word)
    if not isinstance(word, Expr):
        return 0
    match (word.operation, word.arguments):
        case ("SLOAD", (place,)):
            return MASK if place is slot or place == slot else 0
        case ("AND", (a, b)):
            return _kept(b, slot, bare) & (a if isinstance(a, int) else _kept(a, slot, bare))
        case ("OR", (a, b)):
            return (_kept(a, slot, bare) & _zeros(b, bare)) | (
                _kept(b, slot, bare) & _zeros(a, bare)
            )
        case ("SHL", (int(shift), Expr(operation="SHR", arguments=(back, inner)))) if (
            back == shift and shift < 256  # noqa: PLR2004 - bits of a word
        ):
            return _kept(inner, slot, bare) & (MASK << shift)
    return 0


def field_of(word: Value, bits: int, bare: Callable[[Value], Value] = _same) -> Value | None:
    """Return the value of a contiguous bit field of the word, shifted down to bit 0.

    None: the way the word was packed does not determine it. `bare` as in `written_bits`.
    """
    word = bare(word)
    shift = lowest_bit(bits)
    if isinstance(word, int):
        return (word & bits) >> shift
    found: Value | None = word if not shift else None
    match (word.operation, word.arguments):
        case ("AND", (int(mask), inner)):
            found = field_of(inner, bits, bare) if mask & bits == bits else None
            found = 0 if not mask & bits else found
        case ("OR", (one, other)):
            found = None
            for rest, part in ((one, other), (other, one)):
                if not bits & ~_zeros(rest, bare):
                    found = field_of(part, bits, bare)
        case ("SHL", (int(by), inner)):
            found = field_of(inner, bits >> by, bare) if by <= shift else None
        case ("MUL", (int(number), inner)) if is_power_of_two(number):
            by = lowest_bit(number)
            found = field_of(inner, bits >> by, bare) if by <= shift else None
    return found


_ONE_BIT: Final = frozenset({"ISZERO", "EQ", "LT", "GT", "SLT", "SGT", "success"})
_ADDRESSES: Final = frozenset({"CALLER", "ORIGIN", "ADDRESS", "COINBASE"})


def _zeros(word: Value, bare: Callable[[Value], Value] = _same) -> int:
    """Return the mask of the bits that are surely zero."""
    word = bare(word)
    if isinstance(word, int):
        return MASK & ~word
    zeros = 0
    match (word.operation, word.arguments):
        case ("AND", (a, b)):
            zeros = _zeros(a, bare) | _zeros(b, bare)
        case ("OR", (a, b)):
            zeros = _zeros(a, bare) & _zeros(b, bare)
        case ("SHL", (int(shift), inner)) if shift < 256:  # noqa: PLR2004 - bits of a word
            zeros = _shifted(_zeros(inner, bare), shift)
        case ("MUL", (int(number), inner)) if is_power_of_two(number):
            zeros = _shifted(_zeros(inner, bare), number.bit_length() - 1)
        case (name, _) if name in _ONE_BIT:
            zeros = MASK & ~1
        case (name, _) if name in _ADDRESSES:
            zeros = MASK & ~ADDRESS_MASK
    return zeros


def settled_bits(word: Value, bits: int) -> int | None:
    """Return the word masked to these bits. None: some of them depend on unknown values."""
    ones = _ones(word)
    return ones & bits if not bits & ~(ones | _zeros(word)) else None


def only_clears(word: Value, slot: Value) -> bool:
    """True if a store of the word to the slot sets no bit that is not set."""
    match word:
        case int():
            return word == 0
        case Expr(operation="AND", arguments=arguments):
            return any(
                isinstance(each, Expr) and each.operation == "SLOAD" and each.arguments[0] == slot
                for each in arguments
            )
    return False


def _ones(word: Value) -> int:
    """Return the mask of the bits that are surely one."""
    if isinstance(word, int):
        return word
    match (word.operation, word.arguments):
        case ("AND", (a, b)):
            return _ones(a) & _ones(b)
        case ("OR", (a, b)):
            return _ones(a) | _ones(b)
    return 0


def _shifted(zeros: int, shift: int) -> int:
    return ((zeros << shift) & MASK) | ((1 << shift) - 1)


def _is_array_of(root: VariableId, part: VariableId) -> bool:
    """True if the root names elements of an array declared at `part`, or `part` is one."""
    if not isinstance(root, tuple):
        return False
    if root[0] == "array" and (root[1] == part or root == part):
        return True
    return any(_is_array_of(inner, part) for inner in root) or (root == part and root[0] == "item")


def _element_of(array: int) -> VariableId:
    return ("item", ("array", array))


def _is_plain_element(place: StorageLocation) -> bool:
    """True if it is an array element whose index is not scaled: elements of one word."""
    if not isinstance(place.root, tuple) or place.root[0] != "item" or not place.keys:
        return False
    index = place.keys[-1]
    return not isinstance(index, Expr) or index.operation not in ("MUL", "SHL")


def is_element(root: VariableId) -> bool:
    """True if the root stands for the elements of an array at a known slot, whatever the index."""
    return (
        isinstance(root, tuple)
        and root[0] == "item"
        and isinstance(root[1], tuple)
        and root[1][0] == "array"
        and isinstance(root[1][1], int)
    )


def is_in_array(root: VariableId) -> bool:
    """True if the root stands for something in an array, such as that of a mapping's entry."""
    return isinstance(root, tuple) and (root[0] == "array" or any(map(is_in_array, root[1:])))


def is_item(root: VariableId) -> bool:
    """True if the root stands for words at a computed distance from a hash."""
    return isinstance(root, tuple) and (root[0] == "item" or is_item(root[1]))


def names_unknown(root: VariableId) -> bool:
    """True if the root is unknown, or lies behind the hash of something unknown."""
    return root == UNKNOWN or (isinstance(root, tuple) and any(map(names_unknown, root[1:])))
