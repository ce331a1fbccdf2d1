"""Clock comparisons: comparisons with block.timestamp or block.number, and their other operand."""

from collections.abc import Iterator

import msgspec

from analysis.static.dataflow.dependencies import CLOCKS
from analysis.static.dataflow.predicates import Variable
from analysis.static.evm.cfg import FunctionId
from analysis.static.evm.expressions import Value
from analysis.static.evm.path_state import Note
from analysis.static.token_model.contract_model import ContractModel


class ClockComparison(msgspec.Struct, frozen=True, kw_only=True):
    """The block's number or time compared with something the caller does not choose."""

    entry: FunctionId
    pc: int
    is_time: bool
    """False: the block number."""
    constants: frozenset[int]
    """Constants among the values of the other operand."""
    variables: frozenset[Variable]
    """Storage in the other operand, or in both."""
    clock_side: Value
    """The operand that contains the clock."""
    other: Value


def clock_comparisons(code: ContractModel) -> Iterator[ClockComparison]:
    """Yield all clock comparisons but a compiler's overflow checks."""
    deciding = _deciding(code)
    for note in code.notes.clocks.values():
        condition, a, b = note.words
        if condition not in deciding and code.guards.checks.is_check(condition):
            continue
        found = _comparison(code, note, a, b)
        if found is not None:
            yield found


def _deciding(code: ContractModel) -> set[Value]:
    """Return the parts of time-dependent conditions of branches whose sides can both succeed."""
    return {
        term
        for entry in code.functions.entries
        for branch in code.functions.cfg(entry).branches()
        if branch.condition.depends_on_time
        and branch.if_true in code.functions.cfg(entry).can_succeed
        and branch.if_false in code.functions.cfg(entry).can_succeed
        for term in code.dependencies.subexpressions(branch.condition)
    }


def _comparison(code: ContractModel, note: Note, a: Value, b: Value) -> ClockComparison | None:
    if not _has_clock(code, a):
        a, b = b, a
    reads = {
        (place.root, bits)
        for word in (a, b)
        for slot, bits in code.dependencies.reads(word)
        for place in code.layout.of(slot)
    }
    constants = {word for word in code.dependencies.phi_values(b) if isinstance(word, int)}
    if not reads and not constants:
        return None
    kinds = {atom.operation for word in (a, b) for atom in code.dependencies.sources(word)}
    return ClockComparison(
        entry=note.entry,
        pc=note.pc,
        is_time="TIMESTAMP" in kinds,
        constants=frozenset(constants),
        variables=frozenset(reads),
        clock_side=a,
        other=b,
    )


def _has_clock(code: ContractModel, word: Value) -> bool:
    return code.dependencies.has(word, CLOCKS)
