"""Slice of one function's CFG that custody depends on: events, relevant branches and phis.

Every node is marked with bits, which are then propagated backwards. The path search of
`custody_search` visits only marked nodes and skips all others.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from functools import reduce
from operator import or_
from typing import Final

import msgspec

from analysis.static.custody.custody_facts import Fact, NotNegative, known_differences, normal
from analysis.static.custody.custody_proof import CustodyProver
from analysis.static.dataflow.addresses import party
from analysis.static.evm.cfg import DESTRUCTS, RETURNS, UNRESOLVED, CfgNode, Effect, FunctionId
from analysis.static.evm.expressions import Expr, Value
from analysis.static.evm.instruction_effects import ECRECOVER

ENDS: Final = frozenset({RETURNS, DESTRUCTS, UNRESOLVED})
EVENT, TELLS, BUMPS, _BINDS, OWES, FORGETS = 1, 2, 4, 8, 16, 32
CALLS: Final = frozenset({"CALL", "CALLCODE", "DELEGATECALL", "CREATE", "CREATE2"})


class SearchPrecision(msgspec.Struct, frozen=True):
    """Paths that the search distinguishes, in addition to those with different phis in mapping
    keys."""

    amounts: bool
    """Distinguish the phis of debited amounts."""
    conditions: bool
    """Distinguish conditions tested more than once, and conditions that contain phis."""
    states: int
    """Most states that are explored."""


class CustodySlice:
    """The nodes of one function that custody depends on."""

    def __init__(self, prover: CustodyProver, entry: FunctionId, depth: SearchPrecision) -> None:
        self.prover = prover
        self.code = prover.code
        self.gates = prover.gates
        self.depth = depth
        self.entry = entry
        self.flow = self.code.functions.cfg(entry)
        self.events: dict[CfgNode, list[Effect]] = {}
        """Stores and calls that may change balances or allowances of holders, by node."""
        self.owing: set[int] = set()
        """Those of them, by `id`, that an account other than the caller may have to authorise."""
        for node, effect in self.flow.effects():
            if self.is_event(effect):
                self.events.setdefault(node, []).append(effect)
                if self.is_owing(effect):
                    self.owing.add(id(effect))
        self.holders = set(self._find_holders())
        self.differences = set(self._find_differences())
        """Those that a path should show not to be negative."""
        self.signs = any(
            effect.kind == "STATICCALL" and effect.words[0] == ECRECOVER
            for _, effect in self.flow.effects()
        )
        self._first: dict[CfgNode, tuple[CfgNode, ...]] = {}
        self._after: dict[CfgNode, int | None] = {}
        self.is_measured = False

    @property
    def is_idle(self) -> bool:
        """True if no store needs authorisation and the CFG is complete."""
        return not self.owing and self.flow.is_whole

    def is_event(self, effect: Effect) -> bool:
        """True if the search follows the effect."""
        return self.prover.is_event(self.entry, effect)

    def is_owing(self, effect: Effect) -> bool:
        """True if the effect may add an obligation."""
        return self.prover.owes(self.entry, effect)

    def _find_differences(self) -> Iterator[NotNegative]:
        for effects in self.events.values():
            for effect in effects:
                if effect.kind == "SSTORE" and id(effect) in self.owing:
                    yield from self.prover.differences(self.entry, effect)

    def _find_holders(self) -> Iterator[Value]:
        for effects in self.events.values():
            for effect in effects:
                if effect.kind == "SSTORE":
                    for place in self.code.layout.of(effect.words[0]):
                        for key in place.keys:
                            for meaning in self.code.dependencies.phi_values(key):
                                yield party(meaning)

    def measure(self) -> None:
        """Mark the relevant nodes, and find which phis are live at each node."""
        self.is_measured = True
        prover, flow = self.prover, self.flow
        # In order: the assumed closure depends on the variable that is requested first.
        tested_words = dict.fromkeys(branch.condition for _, branch in flow.branching())
        forms = Counter(normal(branch.condition, holds=True)[0] for _, branch in flow.branching())
        self._repeated = {word for word in tested_words if forms[normal(word, holds=True)[0]] > 1}
        self.telling = {word for word in tested_words if self._tells(word)}
        self._slots_tested = {slot for word in self.telling for slot in prover.slots_read(word)}
        marks: dict[CfgNode, int] = {}
        used: dict[CfgNode, set[Expr]] = {}
        for node in flow.nodes:
            if node in flow.can_succeed:
                marks[node] = self._mark(node)
                words = self._words(node)
                used[node] = {phi for word in words for phi in prover.phis.inside(word)}
        relevant = prover.phis.closure(set().union(*used.values()))
        self.phi_bits = {phi: 1 << at for at, phi in enumerate(relevant)}
        bits: dict[CfgNode, int] = {}
        self.bound: dict[CfgNode, list[tuple[Expr, Value]]] = {}
        for node, phis in used.items():
            bound = [pair for pair in operands(node) if pair[0] in self.phi_bits]
            if bound:
                self.bound[node] = bound
            needed = phis.union(*(prover.phis.inside(word) for _, word in bound))
            bits[node] = sum(self.phi_bits.get(phi, 0) for phi in needed)
            marks[node] |= _BINDS if bound else 0
        self._marks = marks
        passed_by = ~(_BINDS | FORGETS)
        self.ahead = flow.ahead({node: mark & passed_by for node, mark in marks.items()})
        self.live = flow.ahead(bits)

    def _tells(self, condition: Expr) -> bool:
        """True if a condition may discharge an obligation, restrict callers or refute another."""
        reader, phis = self.prover.reader, self.prover.phis
        if self.depth.conditions and (condition in self._repeated or phis.inside(condition)):
            return True
        if any(
            self.shown(meaning, holds=holds)
            for meaning in self.code.dependencies.phi_values(condition)
            for holds in (True, False)
        ):
            return True
        if not reader.may_tell(condition):
            return False
        meanings = self.code.dependencies.phi_values(condition)
        if any(phis.inside(meaning) for meaning in meanings):
            return True
        stated = [
            fact
            for meaning in meanings
            for holds in (True, False)
            for fact in reader.facts(meaning, holds=holds)
        ]
        return any(self.gates.privilege(stated)) or any(
            self.prover.is_of_use(fact, self.holders) for fact in stated
        )

    def kept(self, stated: Iterable[Fact]) -> set[Fact]:
        """Return the facts that can discharge an obligation."""
        return {fact for fact in stated if self.prover.is_of_use(fact, self.holders)}

    def shown(self, condition: Value, *, holds: bool) -> Collection[Fact]:
        """Return the differences that are not negative if a condition has this outcome."""
        pairs = known_differences(self.code, condition, holds=holds) if self.differences else ()
        return self.differences.intersection(NotNegative(*pair) for pair in pairs)

    def _mark(self, node: CfgNode) -> int:
        mark = EVENT if node in self.events or node.end == UNRESOLVED else 0
        if any(id(effect) in self.owing for effect in node.effects):
            mark |= OWES
        if self.signs and any(effect.kind == "SSTORE" for effect in node.effects):
            mark |= BUMPS
        if node.branch is not None and node.branch.condition in self.telling:
            mark |= TELLS
        if any(self._forgets(effect) for effect in node.effects):
            mark |= FORGETS
        return mark

    def _forgets(self, effect: Effect) -> bool:
        """True if an effect may change what a branch has tested."""
        if effect.kind in CALLS:
            return bool(self._slots_tested)
        return effect.kind == "SSTORE" and any(
            self.prover.may_store_to(self.entry, effect, effect.words[0], read)
            for read in self._slots_tested
        )

    def forgets(self, node: CfgNode) -> bool:
        """True if an effect of the node may change what a branch has tested."""
        return bool(self._marks.get(node, 0) & FORGETS)

    def _words(self, node: CfgNode) -> list[Value]:
        """Return the expressions of a node whose phis must be resolved."""
        words = [
            word
            for effect in self.events.get(node, ())
            for word in effect.words[: 2 if self.depth.amounts and self._is_counted(effect) else 1]
        ]
        if self.signs:
            words += [
                word
                for effect in node.effects
                if effect.kind == "SSTORE"
                for word in effect.words[:2]
            ]
        if node.branch is not None and node.branch.condition in self.telling:
            words.append(node.branch.condition)
        return words

    def _is_counted(self, effect: Effect) -> bool:
        """True if the amount of a store is needed: it is an obligation or sets an allowance."""
        return id(effect) in self.owing or any(
            place.root in self.code.storage.roles.allowances
            for place in self.code.layout.of(effect.words[0])
        )

    def is_stop(self, node: CfgNode) -> bool:
        """True if the search visits the node instead of skipping it."""
        return bool(self._marks.get(node)) or node.end in ENDS or not self.ahead.get(node)

    def marks_after(self, node: CfgNode) -> int | None:
        """Return the marks ahead of the successors that can succeed. None: there are none."""
        if node not in self._after:
            marks = [
                self.ahead[each] for each in node.successors() if each in self.flow.can_succeed
            ]
            self._after[node] = reduce(or_, marks) if marks else None
        return self._after[node]

    def first_from(self, node: CfgNode) -> tuple[CfgNode, ...]:
        """Return the first relevant nodes reachable from this one, which may be itself."""
        known = self._first.get(node)
        if known is None:
            found: dict[CfgNode, None] = {}
            seen = {node}
            waiting = [node]
            while waiting:
                each = waiting.pop()
                if self.is_stop(each):
                    found[each] = None
                    continue
                for after in each.successors():
                    if after in self.flow.can_succeed and after not in seen:
                        seen.add(after)
                        waiting.append(after)
            self.prover.note_walk(len(seen))
            known = self._first[node] = tuple(found)
        return known


def operands(node: CfgNode) -> Iterator[tuple[Expr, Value]]:
    """Yield the phis bound on the edge out of a node, each with its operand there."""
    return iter(()) if node.phi is None else node.phi.operands()
