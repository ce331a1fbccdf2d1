"""Differences that a function checks: which cannot be negative where a store is made.

A check counts for a store only if every path through the store to a success takes the side of it on
which the difference is not negative: a check on another branch proves nothing.
"""

from collections.abc import Container, Iterator, Mapping
from typing import Final

from analysis.static.custody.custody_facts import refused_differences
from analysis.static.evm.cfg import DESTRUCTS, RETURNS, UNRESOLVED, CfgNode, FunctionId
from analysis.static.evm.expressions import Value
from analysis.static.token_model.contract_model import ContractModel

Difference = tuple[Value, Value]
"""Minuend and subtrahend."""

_Edge = tuple[CfgNode, CfgNode]
_ENDS: Final = frozenset({RETURNS, DESTRUCTS, UNRESOLVED})


class CheckedDifferences:
    """Checks of one code, with memoised results."""

    def __init__(self, code: ContractModel) -> None:
        self._code = code
        self._edges: dict[FunctionId, dict[Difference, set[_Edge]]] = {}
        self._known: dict[tuple[FunctionId, int | None, Difference], bool] = {}

    def pairs(self, entry: FunctionId) -> Mapping[Difference, Container[_Edge]]:
        """Return the differences that a function checks anywhere, each with the edges on which it
        is not negative."""
        found = self._edges.get(entry)
        if found is None:
            found = self._edges[entry] = {}
            for pair, edge in self._find(entry):
                found.setdefault(pair, set()).add(edge)
        return found

    def holds_at(self, entry: FunctionId, pc: int | None, large: Value, small: Value) -> bool:
        """True if the difference is not negative on any path through the SSTORE at `pc` to a
        success. `pc` None: on any path to a success."""
        edges = self.pairs(entry).get((large, small))
        if edges is None:
            return False
        key = (entry, pc, (large, small))
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._is_passed(entry, pc, edges)
        return known

    def _is_passed(self, entry: FunctionId, pc: int | None, edges: Container[_Edge]) -> bool:
        flow = self._code.functions.cfg(entry)
        ends = [node for node in flow.nodes if node in flow.can_succeed and node.end in _ENDS]
        if pc is None:
            return flow.is_barred(ends, edges)
        stores = [
            node for node, effect in flow.effects() if effect.pc == pc and effect.kind == "SSTORE"
        ]
        return flow.is_barred(stores, edges) or flow.leading_to(ends, edges).isdisjoint(stores)

    def _find(self, entry: FunctionId) -> Iterator[tuple[Difference, _Edge]]:
        flow = self._code.functions.cfg(entry)
        for node, branch in flow.branching():
            for holds, refused, passed in (
                (True, branch.if_true, branch.if_false),
                (False, branch.if_false, branch.if_true),
            ):
                if refused not in flow.can_succeed:
                    for pair in refused_differences(self._code, branch.condition, holds=holds):
                        yield pair, (node, passed)
