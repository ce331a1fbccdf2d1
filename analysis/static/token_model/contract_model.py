"""Contract model: the indexes over one bytecode's explored CFG that detectors query.

Results are *inferred*: they cover the explored paths, and `functions.is_followed` is False for
functions with a path that was not followed to its end (budget, unknown jump, deep recursion).
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from analysis.static.dataflow.delegate_targets import Delegation
from analysis.static.dataflow.dependencies import DependencyAnalysis, is_own_address
from analysis.static.dataflow.storage_layout import StorageLayout
from analysis.static.evm.cfg import Effect, FunctionId
from analysis.static.evm.disassembly import Program
from analysis.static.evm.exploration import Exploration
from analysis.static.evm.function_cfgs import FunctionCfgs
from analysis.static.evm.opcodes import NUMBER
from analysis.static.evm.path_state import BALANCE_OF, TRANSFER
from analysis.static.token_model.guards.guard_index import GuardIndex
from analysis.static.token_model.storage.token_storage import TokenStorage
from analysis.static.token_model.storage.write_index import WriteIndex

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


class ContractModel:
    """Model of one contract's explored code."""

    def __init__(
        self,
        program: Program,
        exploration: Exploration,
        selectors: set[int],
        delegation: Delegation,
    ) -> None:
        self.program = program
        self.notes = exploration.notes
        self.pool = exploration.pool
        self.ranges = exploration.ranges
        self.misplaced = exploration.misplaced
        self.delegation = delegation
        self.selectors = selectors
        self.dependencies = DependencyAnalysis(self.pool)
        self.layout = StorageLayout(self.pool, self.dependencies)
        self.functions = FunctionCfgs(exploration.graph, self.notes.unfinished)
        callers = find_internal_callers(self.functions, self.dependencies)
        self.writes = WriteIndex(self.functions, self.layout, self.dependencies, callers)
        self.storage = TokenStorage(
            self.notes, self.layout, self.dependencies, self.writes, callers
        )
        self.guards = GuardIndex(
            program,
            self.pool,
            self.functions,
            self.dependencies,
            self.storage,
            cut=self.notes.cut,
        )
        self.found: dict[object, tuple[Any, ...]] = {}
        """Results of cached searches, by search function (`memoize`)."""

    def has_any(self, instructions: Iterable[str]) -> bool:
        """True if one of these instructions is in the code at all, reachable or not."""
        return not self.program.opcodes.isdisjoint(NUMBER[name] for name in instructions)

    @property
    def answers_calls(self) -> bool:
        """True if a call can do anything but fail. False behind a precompile's marker."""
        notes = self.notes
        return bool(notes.returns or notes.delegations or notes.destructions)

    @property
    def answers_holders(self) -> bool:
        """True if the code dispatches `transfer` and `balanceOf` itself. A delegating fallback does
        not count."""
        return self.selectors.issuperset((TRANSFER, BALANCE_OF))

    def calls(self) -> Iterator[tuple[FunctionId, Effect]]:
        """Yield every effect other than a store (calls, logs), on paths that can succeed."""
        return (found for found in self.functions.effects() if found[1].kind != "SSTORE")
