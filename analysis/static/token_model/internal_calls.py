"""Calls of a contract to its own functions (`this.f()`), by the selector they pass."""

from typing import Final

from analysis.static.dataflow.dependencies import DependencyAnalysis, is_own_address
from analysis.static.evm.cfg import FunctionId
from analysis.static.evm.function_cfgs import FunctionCfgs

_WRITING_CALLS: Final = frozenset({"CALL", "CALLCODE", "DELEGATECALL"})
_SELECTOR_SHIFT: Final = 224


def find_internal_callers(
    functions: FunctionCfgs, dependencies: DependencyAnalysis
) -> dict[FunctionId, list[FunctionId]]:
    """Return the callers of each function on their own contract, transitively, each once.

    Only calls with a constant selector; one taken from calldata is not known.
    """
    called = {entry: _called_by(entry, functions, dependencies) for entry in functions.entries}
    found: dict[FunctionId, list[FunctionId]] = {}
    for entry in called:
        waiting = [entry]
        seen: set[FunctionId] = set()
        while waiting:
            fresh = called.get(waiting.pop(), set()) - seen
            seen |= fresh
            waiting.extend(fresh)
        for each in seen - {entry}:
            found.setdefault(each, []).append(entry)
    return found


def _called_by(
    entry: FunctionId, functions: FunctionCfgs, dependencies: DependencyAnalysis
) -> set[FunctionId]:
    found: set[FunctionId] = set()
    for _, effect in functions.cfg(entry).effects():
        if effect.kind not in _WRITING_CALLS:
            continue
        target, head = (dependencies.single_value(word) for word in effect.words[:2])
        if isinstance(head, int) and is_own_address(target):
            found.add(head >> _SELECTOR_SHIFT)
    return found
