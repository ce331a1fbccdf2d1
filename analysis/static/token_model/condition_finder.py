"""Trade condition finder: branches of transfers that can revert, tax or store other balances.

Per function: guards and their control dependences; branches whose sides reach different balance
stores (reachability of stores as bit sets over the CFG, loops included); branches that decide on
stores to variables which the former read; and written amounts. A condition that depends only on
fixed or owner-set storage and on the parties is left out: other fields report it. *Inferred*: a
listed path need not be feasible. At most 240 conditions per contract.
"""

from collections.abc import Callable, Container, Iterable, Iterator
from typing import Final

import msgspec

from analysis.static.dataflow.bounds_checks import is_memory_bounds_check
from analysis.static.dataflow.predicates import (
    PEOPLE,
    ParameterRoles,
    Variable,
    evaluate,
    parameters_of,
)
from analysis.static.evm.cfg import Branch, CfgNode, Effect, FunctionId
from analysis.static.evm.expressions import MASK, Expr, Value, subterms
from analysis.static.evm.function_cfg import FunctionCfg
from analysis.static.evm.path_state import APPROVE, MOVERS
from analysis.static.token_model.computations import (
    Computation,
    ComputationInput,
    ComputationWriter,
)
from analysis.static.token_model.contract_model import ContractModel
from analysis.static.token_model.owned_variables import askers_of, is_owned
from analysis.static.token_model.trade_conditions import (
    ConditionEffect,
    OwnedCondition,
    Source,
    StoredValues,
    TradeCondition,
    TradeConditions,
)
from analysis.static.token_model.variable_writers import WrittenVariables
from core.primitives import Selector

_MOST_CONDITIONS: Final = 240
_VALUE_SOURCES: Final = frozenset[Source](
    {
        *("fees", "proposer", "randomness", "block_hash", "gas", "coins", "code", "answer"),
        *("unguarded", "input", "hash"),
    }
)
"""Sources reported for a written amount. Its change over time shows in simulations of later sales;
its change through trades (totals of reflection tokens) is no condition."""

HOOKS: Final = (
    *(0x575E24B4, 0xB47B2FB1),
    *(0xE592DC93, 0x6F6657CB),
    *(0x5177CB2F, 0x5E927CAA),
)
"""`beforeSwap` and `afterSwap` of hooks: of Uniswap V4, of PancakeSwap Infinity's CL pools and of
its Bin pools. Source: v4-core IHooks, infinity-core ICLHooks and IBinHooks."""

_NEVER_CHECKED: Final = frozenset[Source](
    {
        *("time", "block", "fees", "proposer", "randomness", "block_hash", "gas", "coins"),
        *("code", "answer"),
    }
)
"""Sources on which a compiler check depends only through the author's own arithmetic."""

_COMPUTED_WITH: Final = frozenset[Source]({"amount", "counter", "balance"})
"""Sources ignored in a zero check of a compiler or SafeMath before a store: multiplication handles
zero separately."""

_NOT_OF: Final[dict[FunctionId, frozenset[Source]]] = {
    None: frozenset({"input", "answer", "callee"}),
    **dict.fromkeys(HOOKS, frozenset[Source]({"input"})),
}
"""Sources ignored in these functions: a delegating fallback dispatches by calldata, and its target
is analysed separately; a hook's calldata describes the swap."""


class _Site(msgspec.Struct, frozen=True, kw_only=True):
    entry: FunctionId
    pc: int
    condition: Value
    effect: ConditionEffect
    fails_when: bool | None = None


def find_trade_conditions(code: ContractModel) -> TradeConditions:
    """Return the conditions of a token's transfers and `approve`, of a hook's swap functions, or of
    a proxy's fallback."""
    entries = _entries(code)
    finder = _Finder(code)
    found = [condition for entry in entries for condition in finder.conditions(entry)]
    distinct = tuple(dict.fromkeys(found))
    return TradeConditions(
        conditions=distinct[:_MOST_CONDITIONS],
        owned=tuple(finder.owned)[:_MOST_CONDITIONS],
        is_complete=code.functions.is_followed(entries) and len(distinct) <= _MOST_CONDITIONS,
    )


def _entries(code: ContractModel) -> tuple[FunctionId, ...]:
    hooks = tuple(entry for entry in HOOKS if code.functions.roots(entry))
    if hooks and not code.answers_holders:
        return hooks
    if code.delegation.is_proxy and not code.answers_holders:
        return (None,)
    return (*MOVERS, APPROVE)


class _Finder:
    def __init__(self, code: ContractModel) -> None:
        self._code = code
        self._expressions = ComputationWriter(code)
        self._variables = WrittenVariables(code)
        self.owned: dict[OwnedCondition, None] = {}

    def conditions(self, entry: FunctionId) -> Iterator[TradeCondition]:
        """Yield the conditions of one function."""
        flow = self._code.functions.cfg(entry)
        is_met = self._met(flow)
        sites = [site for site in dict.fromkeys(self._sites(flow)) if is_met(site)]
        read = {variable for site in sites for variable in self._read(site.condition)}
        marks = [variable for variable in read if self._variables.source(variable) is not None]
        sites += self._marking(flow, marks)
        sites += self._amounts(flow)
        for site in filter(is_met, dict.fromkeys(sites)):
            yield from self._listed(site)

    # --- sites --------------------------------------------------------------------------------

    def _sites(self, flow: FunctionCfg) -> Iterator[_Site]:
        for guard in self._code.guards.of(flow.entry):
            test = guard.refusal.test
            yield _Site(
                entry=flow.entry,
                pc=test.pc,
                condition=test.condition,
                effect="refuses",
                fails_when=test.holds,
            )
            for reading in self._code.guards.context_of(flow.entry, test):
                literal = reading.literal
                yield _Site(
                    entry=flow.entry, pc=literal.pc, condition=literal.condition, effect="leads"
                )
        # A compiler check can be made to revert on purpose: list what decides if it is reached.
        tests = (refusal.test for refusal in flow.revert_branches())
        refusing = dict.fromkeys((test.pc, test.condition) for test in tests)
        yield from self._deciding(flow, self._refusing(flow, refusing), "leads")
        for pc, condition in refusing:
            if self._code.guards.is_check(pc, condition):
                yield _Site(entry=flow.entry, pc=pc, condition=condition, effect="overruns")
        is_wanted = self._books(flow.entry)
        yield from self._deciding(flow, self._marked(flow, is_wanted), "writes")
        yield from self._computed(flow, is_wanted)
        if flow.entry in HOOKS:
            yield from self._answered(flow)

    @staticmethod
    def _refusing(flow: FunctionCfg, tests: Container[tuple[int, Expr]]) -> dict[CfgNode, int]:
        """Map each node with a revert branch to that branch's bit."""
        bits: dict[tuple[int, Expr], int] = {}
        marks: dict[CfgNode, int] = {}
        for node, branch in flow.branching():
            test = (branch.pc, branch.condition)
            if test in tests:
                marks[node] = bits.setdefault(test, 1 << len(bits))
        return marks

    def _books(self, entry: FunctionId) -> Callable[[Effect], bool]:
        """Return the test for the stores or effects that matter in this function."""
        if entry in MOVERS:
            return self._code.storage.is_balance_store
        return self._is_allowance_store if entry == APPROVE else _is_any_effect

    def _is_allowance_store(self, effect: Effect) -> bool:
        return effect.kind == "SSTORE" and any(
            place.root in self._code.storage.roles.allowances
            for place in self._code.layout.of(effect.words[0])
        )

    def _answered(self, flow: FunctionCfg) -> Iterator[_Site]:
        """Yield every branch of a hook, and every comparison in its return values: a hook acts
        through its return value and through storage left for the other hook of the swap."""
        for _, branch in flow.decisions():
            yield _Site(entry=flow.entry, pc=branch.pc, condition=branch.condition, effect="writes")
        for note in self._code.notes.returns.values():
            if note.entry == flow.entry:
                for word in note.words:
                    yield from self._comparisons(flow.entry, note.pc, word)

    def _comparisons(self, entry: FunctionId, pc: int, word: Value) -> Iterator[_Site]:
        for term in self._code.dependencies.subexpressions(word):
            if term.operation in _COMPARISONS:
                yield _Site(entry=entry, pc=pc, condition=term, effect="writes")

    def _computed(self, flow: FunctionCfg, is_wanted: Callable[[Effect], bool]) -> Iterator[_Site]:
        """Yield comparisons whose results are part of a stored value; and, where a phi is stored,
        the branches whose merged sides both lead to the store."""
        merged: list[CfgNode] = []
        for node, effect in flow.effects():
            if effect.kind != "SSTORE" or not is_wanted(effect):
                continue
            for word in effect.words[:2]:
                if any(term.operation in _MERGED for term in subterms(word)):
                    merged.append(node)
                yield from self._comparisons(flow.entry, effect.pc, word)
        if not merged:
            return
        leading = flow.leading_to(merged)
        for node, branch in flow.branching():
            both = branch.if_true in leading and branch.if_false in leading
            if node in leading and both:
                yield _Site(
                    entry=flow.entry, pc=branch.pc, condition=branch.condition, effect="writes"
                )

    def _marking(self, flow: FunctionCfg, variables: Iterable[Variable]) -> list[_Site]:
        """Return the branches that decide whether one of these variables is written."""
        roots = {root for root, _ in variables}

        def is_mark(effect: Effect) -> bool:
            return effect.kind == "SSTORE" and any(
                place.root in roots for place in self._code.layout.of(effect.words[0])
            )

        return list(self._deciding(flow, self._marked(flow, is_mark), "marks"))

    @staticmethod
    def _marked(flow: FunctionCfg, is_wanted: Callable[[Effect], bool]) -> dict[CfgNode, int]:
        """Map each node to the bits of its distinct wanted effects."""
        bits: dict[tuple[object, ...], int] = {}
        marks: dict[CfgNode, int] = {}
        for node, effect in flow.effects():
            if is_wanted(effect):
                bit = bits.setdefault((effect.kind, effect.pc, *effect.words), 1 << len(bits))
                marks[node] = marks.get(node, 0) | bit
        return marks

    def _deciding(
        self, flow: FunctionCfg, marks: dict[CfgNode, int], effect: ConditionEffect
    ) -> Iterator[_Site]:
        """Yield the branches whose two sides can reach different effects."""
        if not marks:
            return
        ahead = flow.ahead(marks)
        for _, branch in flow.decisions():
            if ahead[branch.if_true] != ahead[branch.if_false] and not (
                effect == "leads" and self._code.guards.is_check(branch.pc, branch.condition)
            ):
                yield _Site(
                    entry=flow.entry, pc=branch.pc, condition=branch.condition, effect=effect
                )

    def _amounts(self, flow: FunctionCfg) -> Iterator[_Site]:
        for _, effect in flow.effects():
            if self._code.storage.is_balance_store(effect):
                yield _Site(
                    entry=flow.entry, pc=effect.pc, condition=effect.words[1], effect="value"
                )

    # --- reachability for the parties -----------------------------------------------------------

    def _met(self, flow: FunctionCfg) -> Callable[[_Site], bool]:
        """Return a test that is True for sites reachable if all entries that parties write
        themselves are zero (parties that never delegated votes, say). A branch on such an entry is
        a site itself, and is simulated."""
        parameters = parameters_of(flow.entry)

        def value_of(slot: Value) -> int | None:
            return 0 if self._is_own_entry(slot, parameters) else None

        def choose(branch: Branch) -> CfgNode | None:
            truth = evaluate(branch.condition, value_of)
            if truth is None:
                return None
            return branch.if_true if truth else branch.if_false

        met = flow.reached(choose)
        branches = {
            (branch.pc, branch.condition) for node, branch in flow.branching() if node in met
        }
        stores = {effect.pc for node, effect in flow.effects() if node in met}
        returns = {note.pc for note in self._code.notes.returns.values()}
        return lambda site: (
            (site.pc, site.condition) in branches or site.pc in stores or site.pc in returns
        )

    def _is_own_entry(self, slot: Value, parameters: ParameterRoles) -> bool:
        """True if the slot is an entry of a party of the trade that only this party writes, and not
        by a trade."""
        places = self._code.layout.of(slot)
        return bool(places) and all(
            self._variables.source((place.root, MASK)) == "own"
            and all(
                self._code.storage.predicates.party(key, parameters) in PEOPLE for key in place.keys
            )
            for place in places
        )

    # --- dependencies --------------------------------------------------------------------------

    def _listed(self, site: _Site) -> Iterator[TradeCondition]:
        """Yield the site if it depends on more than fixed or owner-set storage and the parties."""
        if is_memory_bounds_check(site.condition):
            return
        leaves = self._expressions.leaves(site.condition, site.entry)
        sources = self._sources(leaves, site)
        if site.effect == "value":
            sources &= _VALUE_SOURCES
        elif site.effect == "overruns":
            sources &= _NEVER_CHECKED
        elif site.effect == "writes" and self._is_zero_check(site):
            sources -= _COMPUTED_WITH
        if site.effect not in ("value", "marks"):
            self._note_owned(leaves, site)
        if not sources:
            return
        yield TradeCondition(
            selector=Selector(f"0x{site.entry or 0:08x}"),
            pc=site.pc,
            effect=site.effect,
            sources=tuple(sorted(sources)),
            steps=leaves.steps,
            written=tuple(self._written(leaves)),
            fails_when=site.fails_when,
        )

    def _is_zero_check(self, site: _Site) -> bool:
        """True if the site is a zero check that a compiler or SafeMath adds."""
        condition = site.condition
        bare = condition
        while isinstance(bare, Expr) and bare.operation == "ISZERO":
            bare = bare.arguments[0]
        is_zero_test = isinstance(bare, Expr) and bare.operation not in _COMPARED
        return (
            is_zero_test
            and isinstance(condition, Expr)
            and self._code.guards.is_check(site.pc, condition)
        )

    def _note_owned(self, leaves: Computation, site: _Site) -> None:
        """Record the site for each variable in it that is written behind an owner check."""
        for leaf in leaves.found:
            if leaf.variable is None or not is_owned(self._code, leaf.variable):
                continue
            owned = OwnedCondition(
                selector=Selector(f"0x{site.entry or 0:08x}"),
                pc=site.pc,
                effect=site.effect,
                is_listed=isinstance(leaf.variable[0], tuple),
                askers=askers_of(self._code, leaf.variable),
            )
            self.owned[owned] = None

    def _sources(self, leaves: Computation, site: _Site) -> set[Source]:
        found: set[Source] = set()
        ignored = _NOT_OF[site.entry] if site.entry in _NOT_OF else frozenset[Source]()
        for leaf in leaves.found:
            source = self._source(leaf)
            if source is not None and source not in ignored:
                found.add(source)
        if "amount" in found and site.effect == "writes":
            # a branch on the amount that only selects stores computes a fee
            found.discard("amount")
        return found

    def _written(self, leaves: Computation) -> Iterator[StoredValues]:
        for leaf in leaves.found:
            if leaf.variable is not None and self._source(leaf) is not None:
                found = self._variables.written(leaf.variable)
                if found is not None:
                    yield found

    def _source(self, leaf: ComputationInput) -> Source | None:
        if leaf.source is None and leaf.variable is not None:
            return self._variables.source(leaf.variable)
        return leaf.source

    def _read(self, word: Value) -> Iterator[Variable]:
        for slot, bits in self._code.dependencies.reads(word):
            for place in self._code.layout.of(slot):
                yield place.root, bits


_MERGED: Final = frozenset({"phi", "top"})
_COMPARISONS: Final = frozenset({"LT", "GT", "SLT", "SGT", "EQ", "ISZERO"})
_COMPARED: Final = _COMPARISONS | {"SUB", "XOR"}


def _is_any_effect(effect: Effect) -> bool:
    return effect.kind != "LOG"
