"""The part of one function's graph that custody depends on: events, telling conditions, phi words.

A backward slice by marks. The path search skips all other nodes.
"""

from collections.abc import Iterator
from typing import Final

import msgspec

from analysis.static.custody.custody_proof import Prover
from analysis.static.dataflow.addresses import party
from analysis.static.evm.cfg import DESTRUCTS, LOST, RETURNS, Deed, Entry, Node
from analysis.static.evm.expressions import Term, Word
from analysis.static.evm.instruction_effects import ECRECOVER

ENDS: Final = frozenset({RETURNS, DESTRUCTS, LOST})
EVENT, TELLS, BUMPS, _BINDS, OWES = 1, 2, 4, 8, 16


class Depth(msgspec.Struct, frozen=True):
    """What paths are told apart by, beside the phi words of keys."""

    amounts: bool
    """Phi words of debits."""
    conditions: bool
    """Conditions asked more than once, and those with phi words."""
    states: int
    """The bound."""


class Slice:
    """What matters in one function."""

    def __init__(self, prover: Prover, entry: Entry, depth: Depth) -> None:
        self.prover = prover
        self.code = prover.code
        self.gates = prover.gates
        self.depth = depth
        self.flow = self.code.flow(entry)
        self.events: dict[Node, list[Deed]] = {}
        """Stores and calls that may touch what holders own."""
        self.owing: set[int] = set()
        """Of these, by identity, those that somebody but the caller may have to agree to."""
        for node, deed in self.flow.deeds():
            if prover.is_event(deed):
                self.events.setdefault(node, []).append(deed)
                if prover.owes(entry, deed):
                    self.owing.add(id(deed))
        self.holders = set(self._find_holders())
        self.signs = any(
            deed.kind == "STATICCALL" and deed.words[0] == ECRECOVER
            for _, deed in self.flow.deeds()
        )
        self._first: dict[Node, tuple[Node, ...]] = {}

    @property
    def is_idle(self) -> bool:
        """Whether nobody need agree to anything."""
        return not self.owing and self.flow.is_whole

    def _find_holders(self) -> Iterator[Word]:
        for deeds in self.events.values():
            for deed in deeds:
                if deed.kind == "SSTORE":
                    for place in self.code.places.of(deed.words[0]):
                        for key in place.keys:
                            for meaning in self.code.sources.meanings(key):
                                yield party(meaning)

    def measure(self) -> None:
        """Which nodes matter, and which phi words do for what is ahead."""
        prover, flow = self.prover, self.flow
        asked: dict[Term, int] = {}
        for _, branch in flow.branching():
            asked[branch.condition] = asked.get(branch.condition, 0) + 1
        self._repeated = {word for word, times in asked.items() if times > 1}
        self.telling = {word for word in asked if self._tells(word)}
        marks: dict[Node, int] = {}
        used: dict[Node, set[Term]] = {}
        for node in flow.nodes:
            if node in flow.alive:
                marks[node] = self._mark(node)
                words = self._words(node)
                used[node] = {phi for word in words for phi in prover.phis.inside(word)}
        relevant = prover.phis.closure(set().union(*used.values()))
        self.phi_bits = {phi: 1 << at for at, phi in enumerate(relevant)}
        bits: dict[Node, int] = {}
        for node, phis in used.items():
            bound = [pair for pair in operands(node) if pair[0] in self.phi_bits]
            needed = phis.union(*(prover.phis.inside(word) for _, word in bound))
            bits[node] = sum(self.phi_bits.get(phi, 0) for phi in needed)
            marks[node] |= _BINDS if bound else 0
        self._marks = marks
        self.ahead = flow.ahead({node: mark & ~_BINDS for node, mark in marks.items()})
        self.live = flow.ahead(bits)

    def _tells(self, condition: Term) -> bool:
        """Whether a condition may settle a debt, be a gate, or contradict another."""
        reader, phis = self.prover.reader, self.prover.phis
        if self.depth.conditions and (condition in self._repeated or phis.inside(condition)):
            return True
        if not reader.may_tell(condition):
            return False
        meanings = self.code.sources.meanings(condition)
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

    def _mark(self, node: Node) -> int:
        mark = EVENT if node in self.events or node.end == LOST else 0
        if any(id(deed) in self.owing for deed in node.deeds):
            mark |= OWES
        if self.signs and any(deed.kind == "SSTORE" for deed in node.deeds):
            mark |= BUMPS
        if node.branch is not None and node.branch.condition in self.telling:
            mark |= TELLS
        return mark

    def _words(self, node: Node) -> list[Word]:
        """What must be known of a node."""
        words = [
            word
            for deed in self.events.get(node, ())
            for word in deed.words[: 2 if self.depth.amounts and self._is_counted(deed) else 1]
        ]
        if self.signs:
            words += [deed.words[0] for deed in node.deeds if deed.kind == "SSTORE"]
        if node.branch is not None and node.branch.condition in self.telling:
            words.append(node.branch.condition)
        return words

    def _is_counted(self, deed: Deed) -> bool:
        """Whether an amount matters: of what is owed, and of allowances."""
        return id(deed) in self.owing or any(
            place.root in self.code.roles.allowances for place in self.code.places.of(deed.words[0])
        )

    def is_stop(self, node: Node) -> bool:
        """Whether the search stops at a node, and does not skip it."""
        return bool(self._marks.get(node)) or node.end in ENDS or not self.ahead.get(node)

    def first_from(self, node: Node) -> tuple[Node, ...]:
        """The first nodes that matter from this one on, itself among them."""
        known = self._first.get(node)
        if known is None:
            found: dict[Node, None] = {}
            seen = {node}
            waiting = [node]
            while waiting:
                each = waiting.pop()
                if self.is_stop(each):
                    found[each] = None
                    continue
                for after in each.successors():
                    if after in self.flow.alive and after not in seen:
                        seen.add(after)
                        waiting.append(after)
            known = self._first[node] = tuple(found)
        return known


def operands(node: Node) -> Iterator[tuple[Term, Word]]:
    """The phi words bound on the edge from a node, and what they stand for there."""
    return iter(()) if node.phi is None else node.phi.operands()
