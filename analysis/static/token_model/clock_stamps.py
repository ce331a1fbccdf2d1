"""Clock stamps: storage fields that only ever hold the clock of an earlier call.

A stamp is never ahead of the clock. Sound if every store to the variable is known.
"""

from analysis.static.dataflow.dependencies import CLOCKS
from analysis.static.dataflow.predicates import Variable
from analysis.static.dataflow.storage_layout import field_of
from analysis.static.evm.expressions import Expr, Value, is_bit_run, is_power_of_two
from analysis.static.token_model.contract_model import ContractModel


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
    writes = list(code.writes.to(variable))
    inside = [write for write in code.writes.inside if write.place.root == root]
    return bool(writes) and all(
        _clock(field_of(value, bits)) == clock
        for write in (*writes, *inside)
        for value in code.dependencies.phi_values(write.value)
    )


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
