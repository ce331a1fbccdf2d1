"""Which functions write the storage behind `balanceOf` and `allowance`.

The storage is recognised by what the getter returns: words read from a mapping keyed by the
getter's arguments. Whoever stores to the same mapping, under any key, is a writer.
"""

from collections.abc import Iterable
from typing import Final

import msgspec

from analysis.static.path import Note, Notes
from analysis.static.terms import Term, Word, subterms

BALANCE_OF: Final = 0x70A08231
ALLOWANCE: Final = 0xDD62ED3E
_FIRST_ARGUMENT = 4
_SECOND_ARGUMENT = 36

Family = tuple[object, ...] | int | str
"""A storage place with its keys left out: equal for all entries of one mapping."""

_ANY: Final = "any"
_HASHES = ("keccak", "packed")


class Writers(msgspec.Struct, frozen=True, kw_only=True):
    """The functions that write one getter's storage."""

    notes: tuple[Note, ...] = ()
    """Their stores. An entry of None is the fallback."""
    roots: tuple[int, ...] = ()
    """The slots the mappings are declared at, where numbers; inferred."""


def writers_of(notes: Notes, getter: int) -> Writers:
    """Find the stores to what `getter` returns. Empty when its storage is not recognised."""
    families = _families_returned(notes, getter)
    stores = [note for note in notes.writes.values() if family_of(note.words[0]) in families]
    return Writers(
        notes=tuple(stores), roots=tuple(sorted({r for each in families for r in _roots(each)}))
    )


def family_of(slot: Word) -> Family:
    """The slot with every key and index left out."""
    if isinstance(slot, int):
        return slot
    if slot.operation in _HASHES:
        return (slot.operation, *(_part(word) for word in slot.arguments))
    if slot.operation == "ADD":
        parts = [_part(word) for word in slot.arguments]
        return ("sum", *sorted(parts, key=repr))
    return _ANY


def _part(word: Word) -> Family:
    if isinstance(word, int):
        return word
    return family_of(word)


def _families_returned(notes: Notes, getter: int) -> frozenset[Family]:
    keys = [_FIRST_ARGUMENT] if getter == BALANCE_OF else [_FIRST_ARGUMENT, _SECOND_ARGUMENT]
    slots = (
        term.arguments[0]
        for note in notes.returns.values()
        if note.entry == getter
        for word in note.words
        for term in subterms(word)
        if term.operation == "SLOAD"
    )
    return frozenset(family_of(slot) for slot in slots if _is_keyed(slot, keys))


def _is_keyed(slot: Word, keys: Iterable[int]) -> bool:
    """Whether the slot is a hash that takes in all of these words of calldata."""
    inside = list(subterms(slot))
    if not any(term.operation in _HASHES for term in inside):
        return False
    given = {term.arguments[0] for term in inside if term.operation == "CALLDATALOAD"}
    return given.issuperset(keys)


def _roots(family: Family) -> Iterable[int]:
    if isinstance(family, tuple) and family[0] == "keccak":
        for part in family[1:]:
            yield from [part] if isinstance(part, int) else _roots(part)  # type: ignore[arg-type]
