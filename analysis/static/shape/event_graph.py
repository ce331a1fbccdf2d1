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

_PASSES: Final = 4
"""Rounds over the graph in which next events are passed back through blocks without any."""

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
        alive = [node for node in self._function.nodes if node in self._function.can_succeed]
        events = {node: list(self._events(node)) for node in alive}
        heads: dict[CfgNode, frozenset[str]] = {
            node: frozenset(found[:1]) for node, found in events.items()
        }
        for _ in range(_PASSES):
            if not self._pass_back(alive, events, heads):
                break
        for node in alive:
            found = events[node]
            self.events.update(found)
            self.edges.update(pairwise(found))
            if found:
                self.edges.update((found[-1], head) for head in self._next(node, heads))

    def _pass_back(
        self,
        alive: list[CfgNode],
        events: dict[CfgNode, list[str]],
        heads: dict[CfgNode, frozenset[str]],
    ) -> bool:
        """Give blocks without an event those of their successors; True if that changed any."""
        is_changed = False
        for node in reversed(alive):
            if not events[node]:
                found = self._next(node, heads)
                is_changed |= found != heads[node]
                heads[node] = found
        return is_changed

    @staticmethod
    def _next(node: CfgNode, heads: dict[CfgNode, frozenset[str]]) -> frozenset[str]:
        found: set[str] = set()
        for after in node.successors():
            found |= heads.get(after, frozenset())
        return frozenset(sorted(found)[:_MOST_HEADS])

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
