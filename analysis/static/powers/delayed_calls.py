"""Delays of a timelock: calls that wait until a stored time, which is set a while ahead.

Proved on the CFG: with the stored time at zero, at every constant that is stored there, and ahead
of the clock, no path reaches the call. Each writer of the time stores the clock plus a number,
whose least value `analysis.token.setter_bounds` finds from current storage.
"""

from collections.abc import Collection, Iterator
from typing import Final

from analysis.static.dataflow.linear_amounts import core
from analysis.static.dataflow.storage_layout import VariableId
from analysis.static.evm.cfg import Branch, CfgNode, FunctionId
from analysis.static.evm.expressions import FOLDED, MASK, Expr, Value
from analysis.static.powers.setter_finder import SetterFinder
from analysis.static.powers.static_powers import Setter
from analysis.static.token_model.contract_model import ContractModel

_NOW: Final = 2**40
_AHEAD: Final = (_NOW + 1, 2**200)
_DEEPEST: Final = 24
_MOST_MAPPINGS: Final = 4


def find_delays(
    code: ContractModel, finder: SetterFinder, entry: FunctionId, pcs: Collection[int]
) -> tuple[Setter, ...]:
    """Return what the writers of the time that these calls wait for add to the clock.

    Empty: they wait for none that is proved.
    """
    for root in list(dict.fromkeys(_mappings(code, entry)))[:_MOST_MAPPINGS]:
        written = _written(code, root)
        if written is None:
            continue
        constants, sums = written
        times = (0, *constants, *_AHEAD)
        if sums and not any(_is_reached(code, entry, pcs, root, time) for time in times):
            return tuple(finder.setter_of_value(writer, pc, added) for writer, pc, added in sums)
    return ()


def _mappings(code: ContractModel, entry: FunctionId) -> Iterator[VariableId]:
    """Yield the mappings that decide on branches of the function."""
    for _, branch in code.functions.cfg(entry).branching():
        for slot, _ in code.dependencies.reads(branch.condition):
            for place in code.layout.of(slot):
                if place.keys and isinstance(place.root, tuple):
                    yield place.root


def _written(
    code: ContractModel, root: VariableId
) -> tuple[set[int], list[tuple[FunctionId, int, Value]]] | None:
    """Return the constants stored in a mapping, and the numbers added to the clock there.

    The numbers have function and program counter. None: anything else is stored too.
    """
    constants: set[int] = set()
    sums: list[tuple[FunctionId, int, Value]] = []
    for write in code.writes.all:
        if write.place.root != root:
            continue
        for value in code.dependencies.phi_values(write.value):
            bare = core(value)
            match bare:
                case int():
                    constants.add(bare)
                case Expr(operation="ADD", arguments=(one, other)):
                    added = [a for a, b in ((one, other), (other, one)) if _is_clock(b)]
                    if not added:
                        return None
                    sums.append((write.entry, write.pc, added[0]))
                case _:
                    return None
    return constants, sums


def _is_clock(word: Value) -> bool:
    bare = core(word)
    return isinstance(bare, Expr) and bare.operation == "TIMESTAMP"


def _is_reached(
    code: ContractModel,
    entry: FunctionId,
    pcs: Collection[int],
    root: VariableId,
    stored: int,
) -> bool:
    """True if a path reaches the calls while every entry of the mapping holds this time."""
    flow = code.functions.cfg(entry)

    def choose(branch: Branch) -> CfgNode | None:
        value = _evaluate(code, branch.condition, root, stored, _DEEPEST)
        if value is None:
            return None
        return branch.if_true if value else branch.if_false

    reached = flow.reached(choose)
    return any(node in reached for node, effect in flow.effects() if effect.pc in pcs)


def _evaluate(
    code: ContractModel, word: Value, root: VariableId, stored: int, depth: int
) -> int | None:
    """Evaluate the word with the clock at `_NOW`. None: it depends on anything else."""
    word = code.dependencies.single_value(word)
    if isinstance(word, int) or depth == 0:
        return word if isinstance(word, int) else None
    if word.operation == "TIMESTAMP":
        return _NOW
    if word.operation == "SLOAD":
        places = code.layout.of(word.arguments[0])
        return stored if places and all(each.root == root for each in places) else None
    fold = FOLDED.get(word.operation)
    values = [_evaluate(code, each, root, stored, depth - 1) for each in word.arguments]
    known = [value for value in values if value is not None]
    return fold(*known) & MASK if fold is not None and len(known) == len(values) else None
