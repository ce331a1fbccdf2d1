"""Storage reads that a path still holds when a later store may change the variable.

An expression names a storage read by its slot alone, so one expression may stand for several reads.
A path records each read that it holds while the variable may be written. In transfers, a read of
the same slot that is made later has another expression if the earlier one is still held. Elsewhere,
and where a word comes from memory, its age is unknown then (`UNSURE`). Over-approximated: a word
that is no longer used may count as held.
"""

from collections.abc import Iterable, Iterator
from typing import Final, Protocol

from analysis.static.evm.expressions import Expr, ExprPool, Value

CALL: Final = -1
"""Stands for the slot of stores that a called contract may cause by calling back."""
UNSURE: Final = -2
"""Stands for the slot of a store before or after which the read may have been made."""

StaleReads = frozenset[tuple[Expr | None, Value]]
"""Reads, each with the slot of a store made since. None: any read, for each store of the path."""


class ReadingPath(Protocol):
    """The parts of a path's state that hold reads."""

    stack: list[Value]
    registers: list[Value]
    stale: StaleReads
    last_callee: Value | None


_SMALL: Final = 2**64
"""Larger slot numbers are hashes: compilers number variables from zero."""
_Family = tuple[object, ...] | None


def may_alias(pool: ExprPool, one: Value, other: Value) -> bool:
    """True if two slots may be one. Hashes of different variables are taken to differ."""
    if one is other or one == other:
        return True
    if CALL in (one, other):
        return True
    first, second = _family(pool, one), _family(pool, other)
    if first is None or second is None:
        small = first if second is None else second
        return small is None or small[0] != "slot"
    return first == second and first[0] != "slot"


def is_entry(pool: ExprPool, slot: Value) -> bool:
    """True if the slot may be an entry of a mapping, or a field of one, as balances are."""
    family = _family(pool, slot)
    return family is None or family[0] in ("map", "field")


def _family(pool: ExprPool, slot: Value) -> _Family:
    """Return the variable that a slot belongs to. None: not known."""
    if isinstance(slot, int):
        if slot < _SMALL:
            return ("slot", slot)
        words = pool.hashed.get(slot)
        return None if words is None else _hashed(pool, words)
    if slot.operation == "keccak":
        return _hashed(pool, slot.arguments)
    if slot.operation == "ADD" and isinstance(slot.arguments[0], int):
        inner = _family(pool, slot.arguments[1])
        if slot.arguments[0] < _SMALL and inner is not None and inner[0] == "map":
            return ("field", slot.arguments[0], inner)
    return None


def _hashed(pool: ExprPool, words: tuple[Value, ...]) -> _Family:
    """Return the variable that the hash of a key and a slot, in either order, belongs to."""
    first, last = words[0], words[-1]
    if len(words) == 1:
        return ("array", first) if isinstance(first, int) else None
    if len(words) == 2:  # noqa: PLR2004 - key and slot of a mapping
        for slot, is_hash in ((last, True), (last, False), (first, False), (first, True)):
            if isinstance(slot, Expr):
                inner = _family(pool, slot) if is_hash and slot.operation == "keccak" else None
                if inner is not None:
                    return ("map", inner)
            elif not is_hash and (slot < _SMALL or slot in pool.hashed):
                return ("map", slot)
    return None


def note_store(pool: ExprPool, path: ReadingPath, slot: Value) -> None:
    """Record that a store to the slot, or a call (`CALL`), follows what the path has read."""
    if slot != CALL and not is_entry(pool, slot):
        return
    kept_reads: set[tuple[Expr | None, Value]] = {
        (read, slot)
        for read in _held(pool, (*path.stack, *path.registers))
        if read.operation == "phi"
        or (is_entry(pool, read.arguments[0]) and may_alias(pool, read.arguments[0], slot))
    }
    if slot != CALL:
        kept_reads.add((None, slot))
    if kept_reads:
        path.stale |= kept_reads


def read_again(
    pool: ExprPool, path: ReadingPath, pc: int, slot: Value, *, is_told_apart: bool
) -> Expr:
    """Return the expression of a storage read. `is_told_apart`: it may be another one than that of
    an earlier read that is still held; else both are of unknown age."""
    plain = pool.intern("SLOAD", slot)
    if not path.stale or not is_entry(pool, slot) or not _is_stale(path, plain):
        return plain
    kept_reads = set(_held(pool, (*path.stack, *path.registers)))
    read = pool.read_at(slot, pc) if is_told_apart and plain in kept_reads else plain
    if read not in kept_reads:
        path.stale = frozenset(pair for pair in path.stale if pair[0] is not read)
    else:
        path.stale |= {(read, UNSURE)}
    return read


def note_load(pool: ExprPool, path: ReadingPath, word: Value) -> None:
    """Record that a word was loaded from memory, where it may be older than a store."""
    for read in pool.reads_in(word):
        if read.operation != "phi" and is_entry(pool, read.arguments[0]):
            slot = read.arguments[0]
            is_old = path.last_callee is not None or any(
                other is None and may_alias(pool, slot, stored) for other, stored in path.stale
            )
            if is_old:
                path.stale |= {(read, UNSURE)}


def joined(one: StaleReads, other: StaleReads) -> StaleReads:
    """Return the stale reads of two paths that are merged: those of either. A read that only one
    path has held over a store of both is of unknown age."""
    if one == other:
        return one
    stores = {slot for read, slot in one & other if read is None}
    unsure = {(read, UNSURE) for read, slot in one ^ other if read is not None and slot in stores}
    return one | other | unsure


def _is_stale(path: ReadingPath, read: Expr) -> bool:
    return any(other is read for other, _ in path.stale)


def _held(pool: ExprPool, words: Iterable[Value]) -> Iterator[Expr]:
    for word in words:
        if isinstance(word, Expr):
            yield from pool.reads_in(word)
