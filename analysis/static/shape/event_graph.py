"""Event graph of one function: its stores, calls, conditions, and which follows which.

Only events on paths that can succeed count, and no check that a compiler adds. How a compiler cuts
the code into blocks leaves no trace: blocks without an event are passed through.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from analysis.static.evm.cfg import DESTRUCTS, CfgNode, Effect
from analysis.static.evm.function_cfg import FunctionCfg
from analysis.static.shape.normal_forms import NormalForms
from analysis.static.token_model.contract_model import ContractModel

_MOST_HEADS: Final = 12
"""Next events that are told of one; of more, the first in order of their texts."""

_PASSES: Final = 2
"""Rounds in which next events are passed back through blocks without any, each block after those
that follow it: the second one goes round loops."""

_SELECTOR_SHIFT: Final = 224
_CALLS_IN: Final = ("selector", "CALLDATASIZE", "RETURNDATASIZE")
"""Of conditions about the call itself, which differ between compilers."""
_ALONE: Final = ("CALLVALUE()", "EXTCODESIZE(", "ADDRESS()", "CALLER()", "#")
"""What is compared with zero in vain, or by a compiler."""

Edge = tuple[str, str]


class EventGraph:
    """The events of one function with their edges."""

    def __init__(self, code: ContractModel, function: FunctionCfg, forms: NormalForms) -> None:
        self._code = code
        self._function = function
        self._forms = forms
        self.events: set[str] = set()
        self.edges: set[Edge] = set()
        """Pairs of events of which the second can come next after the first."""
        self._build()

    def _build(self) -> None:
        nodes = self._function.last_first
        events = {node: tuple(self._events(node)) for node in nodes}
        heads = {node: frozenset(found[:1]) for node, found in events.items()}
        silent = [node for node, found in events.items() if not found]
        for _ in range(_PASSES):
            for node in silent:
                heads[node] = self._next(node, heads)
        for node, found in events.items():
            self.events.update(found)
            self.edges.update(pairwise(found))
            if found:
                self.edges.update((found[-1], head) for head in self._next(node, heads))

    @staticmethod
    def _next(node: CfgNode, heads: dict[CfgNode, frozenset[str]]) -> frozenset[str]:
        """Return the events that can come next after those of a node."""
        found = [heads[after] for after in node.successors() if after in heads]
        if len(found) == 1 or (found and all(each == found[0] for each in found)):
            return found[0]
        return frozenset(sorted(frozenset().union(*found))[:_MOST_HEADS])

    def _events(self, node: CfgNode) -> Iterator[str]:
        for effect in node.effects:
            yield self._effect(effect)
        if node.end == DESTRUCTS:
            yield "destruct"
        branch = node.branch
        if branch is None or self._code.guards.is_check(branch.pc, branch.condition):
            return
        text = self._forms.of_condition(branch.condition)
        if any(name in text for name in _CALLS_IN) or text.startswith(_ALONE):
            return
        passing = self._function.can_succeed
        is_guard = branch.if_true not in passing or branch.if_false not in passing
        yield f"{'guard' if is_guard else 'choice'} {text}"

    def _effect(self, effect: Effect) -> str:
        if effect.kind == "SSTORE":
            slot, value = (self._forms.of(word) for word in effect.words)
            return f"store {slot} {value}"
        target, head = effect.words[:2]
        called = f"{head >> _SELECTOR_SHIFT:08x}" if isinstance(head, int) else ""
        return f"{effect.kind} {self._forms.of(target)} {called}"
