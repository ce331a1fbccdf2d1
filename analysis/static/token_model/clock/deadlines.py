"""Deadline extraction: clock comparisons solved for the clock.

`now - launch > 1800` gives the limit `launch + 1800`. Only sums and differences of the clock,
constants and one storage field are solved. Any other comparison gives a storage limit out of
reach (no slot), so that it is not taken for harmless.
"""

from collections.abc import Iterator
from typing import Final

import msgspec

from analysis.static.dataflow.dependencies import CLOCKS
from analysis.static.dataflow.predicates import Variable
from analysis.static.dataflow.storage_layout import field_of, written_bits
from analysis.static.evm.expressions import Expr, Value, is_bit_run, is_power_of_two
from analysis.static.token_model.clock.clock_comparisons import ClockComparison, clock_comparisons
from analysis.static.token_model.clock.clock_limits import ClockKind, ClockLimit
from analysis.static.token_model.contract_model import ContractModel
from core.evm.primitives import to_hash32


def is_stamp(code: ContractModel, field: Value, clock: Value) -> bool:
    """True if the value is read from a variable that is only ever set to this same clock."""
    name = _clock(clock)
    return name is not None and isinstance(field, Expr) and _is_past(code, field, name)


def _is_past(code: ContractModel, word: Value, clock: str) -> bool:
    whole = code.dependencies.phi_values(_uncut(word))
    if len(whole) > 1:
        return all(each == 0 or _is_past(code, each, clock) for each in whole)
    reads = list(code.dependencies.reads(word))
    if len(reads) != 1 or not _is_bare(word):
        return False
    slot, bits = reads[0]
    places = code.layout.of(slot)
    return bool(places) and all(_holds(code, (place.root, bits), clock) for place in places)


def _holds(code: ContractModel, variable: Variable, clock: str) -> bool:
    root, bits = variable
    bare = code.dependencies.single_value
    writes = list(code.writes.to(variable))
    inside = [write for write in code.writes.inside if write.place.root == root]
    values = {
        (write.slot, value)
        for write in (*writes, *inside)
        for value in code.dependencies.phi_values(write.value)
    }
    # A store to another field of the slot puts back the clock of an earlier call.
    stored = [value for slot, value in values if written_bits(value, slot, bare) & bits]
    return bool(stored) and all(_clock(field_of(value, bits, bare)) == clock for value in stored)


def _clock(word: Value | None) -> str | None:
    """Return the clock's opcode if the value is a clock, possibly cast to a smaller type."""
    bare = word if word is None else _uncut(word)
    return bare.operation if isinstance(bare, Expr) and bare.operation in CLOCKS else None


def _uncut(word: Value) -> Value:
    """Return the value before casts to a smaller type."""
    while isinstance(word, Expr) and word.operation == "AND":
        mask, inner = word.arguments
        if not isinstance(mask, int) or not is_power_of_two(mask + 1):
            break
        word = inner
    return word


def _is_bare(word: Value) -> bool:
    """True if the value is a storage read with nothing applied but field extraction."""
    while isinstance(word, Expr):
        match word.operation, word.arguments:
            case "SLOAD", _:
                return True
            case "AND", (int(mask), inner) if is_bit_run(mask):
                word = inner
            case "SHR", (int(), inner):
                word = inner
            case "DIV", (inner, int(number)) if is_power_of_two(number):
                word = inner
            case _:
                return False
    return False


_DEEPEST: Final = 12
_FIELD_OPERATIONS: Final = frozenset({"AND", "SHR", "DIV", "SLOAD"})
_SIGN: Final = 2**255


class _Field(msgspec.Struct, frozen=True):
    """A contiguous run of bits of one constant slot."""

    slot: int
    bits: int


class _Sum(msgspec.Struct, frozen=True):
    """A linear sum: `clock` times the clock, plus fields times their signs, plus `constant`."""

    clock: int = 0
    fields: tuple[tuple[_Field, int], ...] = ()
    constant: int = 0

    def plus(self, other: "_Sum", sign: int) -> "_Sum":
        """Return the sum of both; with sign -1 the other one is subtracted."""
        return _Sum(
            self.clock + sign * other.clock,
            (*self.fields, *((field, sign * times) for field, times in other.fields)),
            self.constant + sign * other.constant,
        )


def clock_limits(code: ContractModel) -> tuple[ClockLimit, ...]:
    """Return the distinct limits; plus one out of reach if the budget cut code with clocks."""
    limits = {
        limit: None for comparison in clock_comparisons(code) for limit in _limits(code, comparison)
    }
    if code.notes.cut and code.has_any(CLOCKS):
        limits[ClockLimit(source="storage")] = None
    return tuple(sorted(limits, key=msgspec.json.encode))


def _limits(code: ContractModel, comparison: ClockComparison) -> Iterator[ClockLimit]:
    kinds = {
        atom.operation
        for word in (comparison.clock_side, comparison.other)
        for atom in code.dependencies.sources(word)
    } & CLOCKS
    with_: ClockKind | None = None
    if len(kinds) == 1:
        with_ = "timestamp" if "TIMESTAMP" in kinds else "block"
    for left in code.dependencies.phi_values(comparison.clock_side):
        for right in code.dependencies.phi_values(comparison.other):
            if is_stamp(code, right, left) or is_stamp(code, left, right):
                yield ClockLimit(source="stamp", compared_with=with_)
            else:
                yield _limit(code, left, right, with_)


def _limit(code: ContractModel, left: Value, right: Value, clock: ClockKind | None) -> ClockLimit:
    a, b = _sum(code, left, _DEEPEST), _sum(code, right, _DEEPEST)
    out_of_reach = ClockLimit(source="storage", compared_with=clock)
    if a is None or b is None:
        return out_of_reach
    whole = a.plus(b, -1)
    if whole.clock not in (1, -1):
        return out_of_reach
    # clock + fields + constant = 0 is where the comparison turns.
    constant = -whole.constant * whole.clock
    if not whole.fields:
        return ClockLimit(source="constant", value=constant, compared_with=clock)
    ((field, times), *others) = whole.fields
    if others or times * whole.clock != -1:
        return out_of_reach
    offset = (field.bits & -field.bits).bit_length() - 1
    return ClockLimit(
        source="storage",
        slot=to_hash32(field.slot),
        bit_offset=offset,
        bit_width=field.bits.bit_length() - offset,
        addend=constant,
        compared_with=clock,
    )


def _sum(code: ContractModel, word: Value, depth: int) -> _Sum | None:
    """Return the value as a sum. None: it is not linear in clock and fields."""
    word = code.dependencies.single_value(word)
    if isinstance(word, int):
        return _Sum(constant=word - 2**256 if word & _SIGN else word)
    if word.operation in CLOCKS:
        return _Sum(clock=1)
    if word.operation in ("ADD", "SUB") and depth:
        parts = [_sum(code, argument, depth - 1) for argument in word.arguments]
        first, second = parts
        if first is None or second is None:
            return None
        return first.plus(second, 1 if word.operation == "ADD" else -1)
    field = _field(code, word)
    return None if field is None else _Sum(fields=((field, 1),))


def _field(code: ContractModel, word: Expr) -> _Field | None:
    reads = list(code.dependencies.reads(word))
    plain = all(
        term.operation in _FIELD_OPERATIONS
        for term in code.dependencies.subexpressions(word)
        if term.arguments
    )
    if len(reads) != 1 or not plain:
        return None
    slot, bits = reads[0]
    places = code.layout.of(slot)
    if len(places) != 1 or not places[0].is_plain or places[0].slot is None:
        return None
    return _Field(places[0].slot, bits) if is_bit_run(bits) else None
