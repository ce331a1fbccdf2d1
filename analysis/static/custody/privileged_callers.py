"""Access control: branch conditions that only a caller named by code or storage can satisfy.

A storage variable counts as closed if every function that writes it checks the caller in this way,
or can succeed only once (an initializer).
"""

from collections.abc import Container, Iterable, Mapping
from typing import Final, NamedTuple

from analysis.static.custody.custody_facts import CallerListed, EqualityFact, Fact, FactReader
from analysis.static.dataflow.addresses import is_caller
from analysis.static.dataflow.dependencies import CALLERS
from analysis.static.dataflow.predicates import Variable
from analysis.static.dataflow.storage_layout import StorageLocation, only_clears
from analysis.static.evm.cfg import CfgNode, FunctionId
from analysis.static.evm.expressions import MASK, Expr, Value, subterms
from analysis.static.evm.function_cfg import CfgEdge
from analysis.static.token_model.contract_model import ContractModel
from analysis.static.token_model.initializers import is_one_shot
from analysis.static.token_model.storage.owned_variables import address_bits
from core.evm.primitives import ADDRESS_MASK

_LOWEST: Final = 2**64
"""Smaller numbers compared with a caller are neither addresses nor hashes of one."""

Callers = tuple[tuple[Value, ...], tuple[Value, ...]]
"""Addresses of callers, and lists of them."""


class _Gates(NamedTuple):
    """The caller checks of one function."""

    edges: dict[CfgEdge, Callers]
    """Edges that only privileged callers take, with those callers."""
    passed: dict[CfgNode, int]
    """Not 0 for the nodes that every path reaches over such an edge."""


def _callers_into(reaching: Container[CfgNode], barred: Mapping[CfgEdge, Callers]) -> Callers:
    """Return the callers that the barred edges into these nodes require."""
    passed = [callers for (_, after), callers in barred.items() if after in reaching]
    return (
        tuple(dict.fromkeys(party for parties, _ in passed for party in parties)),
        tuple(dict.fromkeys(slot for _, lists in passed for slot in lists)),
    )


class PrivilegedCallers:
    """Caller checks of one code."""

    def __init__(self, code: ContractModel, reader: FactReader) -> None:
        self._code = code
        self._reader = reader
        self._closed: dict[Variable, bool] = {}
        self._assumed = 0
        """Variables that are assumed closed, while that is computed."""
        self._gates: dict[FunctionId, _Gates] = {}
        self._before: dict[FunctionId, Callers] = {}
        self.derived: set[Value] = set()
        """Words that a value computed from the caller must equal, so that they name no caller."""

    def privilege(self, facts: Iterable[Fact]) -> tuple[tuple[Value, ...], tuple[Value, ...]]:
        """Return addresses that the caller must equal, and slots keyed by it that must be set."""
        parties: list[Value] = []
        lists: list[Value] = []
        for fact in facts:
            if isinstance(fact, EqualityFact):
                named = self._party_in(fact)
                if named is not None:
                    parties.append(named)
            elif isinstance(fact, CallerListed) and self._is_closed_list(fact.slot):
                lists.append(fact.slot)
        return tuple(parties), tuple(lists)

    def names(self, word: Expr) -> bool:
        """True if a storage read yields an address that unprivileged callers cannot set."""
        return self._is_closed_place(word.arguments[0])

    def setters(self, word: Expr) -> tuple[tuple[Value, ...], tuple[Value, ...]]:
        """Return who can set the storage that the word is read from, as of `privilege`."""
        roots = {place.root for place in self._code.layout.of(word.arguments[0])}
        entries = dict.fromkeys(
            write.entry for write in self._code.writes.all if write.place.root in roots
        )
        return self.privilege(
            fact
            for entry in entries
            if not is_one_shot(self._code, entry)
            for _, branch in self._code.functions.cfg(entry).branching()
            for meaning in self._code.dependencies.phi_values(branch.condition)
            if isinstance(meaning, Expr)
            for holds, after in ((True, branch.if_true), (False, branch.if_false))
            if after in self._code.functions.cfg(entry).can_succeed
            for fact in self._reader.facts(meaning, holds=holds)
        )

    def _party_in(self, fact: EqualityFact) -> Value | None:
        for one, other in ((fact.one, fact.other), (fact.other, fact.one)):
            if isinstance(one, Expr) and any(t.operation in CALLERS for t in subterms(one)):
                if isinstance(other, int):
                    if not is_caller(one):
                        self.derived.add(other)
                    return other if other >= _LOWEST else None
                if other.operation == "result" and other.arguments[0] != 1:
                    return other
                if other.operation == "SLOAD" and self._is_closed_place(other.arguments[0]):
                    if not is_caller(one):
                        self.derived.add(other)
                    return other
        return None

    def _is_closed_place(self, slot: Value) -> bool:
        places = self._code.layout.of(slot)
        return bool(places) and all(self._is_authority(place) for place in places)

    def _is_authority(self, place: StorageLocation) -> bool:
        """True if unprivileged callers can neither set the location nor choose its keys."""
        given = any(
            atom.operation in ("CALLDATALOAD", "CALLER")
            for key in place.keys
            for atom in self._code.dependencies.sources(key)
        )
        bits = address_bits(self._code).get(place.root, ADDRESS_MASK) if place.is_plain else MASK
        return not given and self.is_closed((place.root, bits))

    def _is_closed_list(self, slot: Value) -> bool:
        return all(self.is_closed((place.root, MASK)) for place in self._code.layout.of(slot))

    def is_closed(self, variable: Variable) -> bool:
        """True if every writer of the variable checks its caller or succeeds only once. Stores that
        only clear it, as when a role is renounced, do not count."""
        known = self._closed.get(variable)
        if known is None:
            # assumed while it is computed: roles are granted by those who hold them
            self._closed[variable] = True
            self._assumed += 1
            writers: dict[FunctionId, set[int]] = {}
            for write in self._code.writes.to(variable):
                values = self._code.dependencies.phi_values(write.value)
                if all(only_clears(value, write.slot) for value in values):
                    continue
                writers.setdefault(write.entry, set()).add(write.pc)
            known = self._closed[variable] = all(
                self.is_restricted(entry, pcs) for entry, pcs in writers.items()
            )
            self._assumed -= 1
        return known

    def is_restricted(self, entry: FunctionId, pcs: set[int]) -> bool:
        """True if these stores require a privileged caller, or can be made only once."""
        return self.is_gated(entry, pcs) or is_one_shot(self._code, entry)

    def is_gated(self, entry: FunctionId, pcs: set[int]) -> bool:
        """True if every path to these stores requires a privileged caller."""
        return self.callers_required_before(entry, pcs) is not None

    def callers_required_before(
        self, entry: FunctionId, pcs: set[int]
    ) -> tuple[tuple[Value, ...], tuple[Value, ...]] | None:
        """Return the addresses of which the caller must be one on every path to these stores, and
        the lists. None: some path requires none."""
        flow = self._code.functions.cfg(entry)
        barred, is_passed = self._gates_of(entry)
        targets = [node for node, effect in flow.effects() if effect.pc in pcs]
        if not all(is_passed[node] for node in targets):
            before = self.callers_before(entry)
            return before if any(before) else None
        reaching = flow.leading_to(targets, barred)
        return _callers_into(reaching, barred)

    def callers_before(self, entry: FunctionId) -> Callers:
        """Return the callers that the dispatcher requires; empty if it requires none.

        A transparent proxy checks for its admin there.
        """
        known = self._before.get(entry)
        if known is None:
            known = self._find_callers_before(entry)
            if not self._assumed:  # else some may be by what is only assumed
                self._before[entry] = known
        return known

    def _find_callers_before(self, entry: FunctionId) -> Callers:
        barred = {} if entry is None else self._gates_of(None).edges
        if not barred:
            return (), ()
        dispatcher, roots = self._code.functions.cfg(None), self._code.functions.roots(entry)
        dispatched = {after for node in dispatcher.nodes for after in node.successors()}
        reaching = dispatcher.leading_to(roots, barred)
        if not dispatched.issuperset(roots) or not reaching.isdisjoint(dispatcher.roots):
            return (), ()
        return _callers_into(reaching, barred)

    def _gates_of(self, entry: FunctionId) -> _Gates:
        """Return the caller checks of a function."""
        known = self._gates.get(entry)
        if known is not None:
            return known
        flow = self._code.functions.cfg(entry)
        edges: dict[CfgEdge, Callers] = {}
        for node, branch in flow.branching():
            meanings = self._code.dependencies.phi_values(branch.condition)
            for holds, after in ((True, branch.if_true), (False, branch.if_false)):
                for meaning in meanings:
                    required_callers = self.privilege(self._reader.facts(meaning, holds=holds))
                    if isinstance(meaning, Expr) and any(required_callers):
                        parties, lists = edges.get((node, after), ((), ()))
                        edges[node, after] = (
                            (*parties, *required_callers[0]),
                            (*lists, *required_callers[1]),
                        )
        passed = flow.passed(dict.fromkeys(edges, 1)) if edges else dict.fromkeys(flow.nodes, 0)
        known = _Gates(edges, passed)
        if not self._assumed:  # else some may be by what is only assumed
            self._gates[entry] = known
        return known
