"""Writers of a getter's storage: the functions that store to what `balanceOf` or `allowance` reads.

The storage is recognised by the getter's return value: a read from a mapping keyed by the getter's
arguments. Every function that stores to the same mapping, under any key, is a writer.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Final

import msgspec

from analysis.static.evm.expressions import Expr, Value, subterms
from analysis.static.evm.path_state import ALLOWANCE, APPROVE, BALANCE_OF, Note, Notes

_FIRST_ARGUMENT = 4
_SECOND_ARGUMENT = 36

GetterShape = tuple["GetterShape", ...] | int | str
"""A slot expression with its keys replaced by `_ANY`: equal for all entries of one mapping."""

_ANY: Final = "any"
_HASHES: Final = ("keccak", "packed")
_HASH_NAMES: Final = frozenset(_HASHES)


class Writers(msgspec.Struct, frozen=True, kw_only=True):
    """The functions that write one getter's storage."""

    notes: tuple[Note, ...] = ()
    """The stores. An entry of None is the fallback."""
    roots: tuple[int, ...] = ()
    """The slots that the mappings are declared at, where these are plain numbers; *inferred*."""


def writers_of(
    notes: Notes, getter: int, parts_of: Callable[[Value], Iterable[Expr]] = subterms
) -> Writers:
    """Return the stores to the storage behind `getter`. Empty if that is not recognised.

    `parts_of`: returns the subexpressions of a word; pass one that resolves phis if phi operands
    are known.
    """
    shapes = _shapes_behind(notes, getter, parts_of)
    stores = (
        note
        for note in notes.writes.values()
        if any(_fits(notes, note.words[0], shape) for shape in shapes)
    )
    return Writers(
        notes=tuple(stores),
        roots=tuple(sorted({root for shape in shapes for root in _roots(shape)})),
    )


def _shapes_behind(
    notes: Notes, getter: int, parts_of: Callable[[Value], Iterable[Expr]]
) -> set[GetterShape]:
    """Return the shapes of the slots that a getter returns.

    If the return value was lost in a loop: of all keyed slots that it reads.
    """
    keys = {_FIRST_ARGUMENT} if getter == BALANCE_OF else {_FIRST_ARGUMENT, _SECOND_ARGUMENT}
    returned = {
        term.arguments[0]
        for note in notes.returns.values()
        if note.entry == getter
        for word in note.words
        for term in parts_of(word)
        if term.operation == "SLOAD"
    }
    read = {note.words[0] for note in notes.reads.values() if note.entry == getter}
    for slots in (returned, read):
        shapes = {_shape(slot) for slot in slots if _is_keyed(slot, keys)}
        shapes = {shape for shape in shapes if _has_hash(shape)}
        if shapes:
            return shapes
    return set(_shapes_approved(notes)) if getter == ALLOWANCE else set()


def _shapes_approved(notes: Notes) -> Iterator[GetterShape]:
    """Yield the shapes that `approve` stores to, for a token without `allowance`.

    Only slots keyed by the caller and the first argument count.
    """
    if any(note.entry == ALLOWANCE for note in notes.returns.values()):
        return
    for note in notes.writes.values():
        slot, value = note.words
        is_amount = isinstance(value, Expr) and value.arguments == (_SECOND_ARGUMENT,)
        is_callers = any(term.operation == "CALLER" for term in subterms(slot))
        is_keyed = is_callers and _is_keyed(slot, {_FIRST_ARGUMENT})
        if note.entry == APPROVE and is_amount and is_keyed:
            yield _shape(slot)


def _is_keyed(slot: Value, keys: set[int]) -> bool:
    """True if the slot is a hash over all of these calldata offsets (bytes)."""
    inside = list(subterms(slot))
    if not any(term.operation in _HASH_NAMES for term in inside):
        return False
    given = {term.arguments[0] for term in inside if term.operation == "CALLDATALOAD"}
    return given.issuperset(keys)


def _shape(slot: Value) -> GetterShape:
    if isinstance(slot, int):
        return slot
    if slot.operation in _HASH_NAMES or slot.operation == "ADD":
        return (slot.operation, *(_shape(word) for word in slot.arguments))
    return _ANY


def _has_hash(shape: GetterShape) -> bool:
    return isinstance(shape, tuple) and (
        shape[0] in _HASH_NAMES or any(_has_hash(part) for part in shape[1:])
    )


def _fits(notes: Notes, slot: Value, shape: GetterShape) -> bool:
    """True if the slot has this shape, whatever its keys."""
    if not isinstance(shape, tuple):
        return shape in (_ANY, slot)
    operation, *parts = shape
    words: tuple[Value, ...]
    if isinstance(slot, Expr):
        if slot.operation != operation:
            return False
        words = slot.arguments
    else:
        words = notes.hashed.get(slot, ()) if operation == "keccak" else ()
    if len(words) != len(parts):
        return False
    orders = [words, words[::-1]] if operation == "ADD" else [words]
    return any(
        all(_fits(notes, word, part) for word, part in zip(order, parts, strict=True))
        for order in orders
    )


def _roots(shape: GetterShape) -> set[int]:
    if not isinstance(shape, tuple) or shape[0] != "keccak":
        return set()
    inner = {part for part in shape[1:] if isinstance(part, int)}
    return inner.union(*(_roots(part) for part in shape[1:]))
