"""Trade condition finder: branches of transfers that can revert, tax or store other balances.

Of the sites that `condition_sites` finds, those are conditions that depend on more than fixed or
owner-set storage and the parties: other fields report the rest. *Inferred*: a listed path need not
be feasible. At most 240 conditions per contract.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Set
from typing import Final, Literal

from analysis.static.dataflow.bounds_checks import is_memory_bounds_check
from analysis.static.dataflow.predicates import (
    PEOPLE,
    ParameterRoles,
    Variable,
    evaluate,
    parameters_of,
)
from analysis.static.dataflow.storage_layout import StorageLocation
from analysis.static.evm.cfg import Branch, CfgNode, FunctionId, selector_of
from analysis.static.evm.expressions import MASK, Expr, Value, address_in, without_iszero
from analysis.static.evm.function_cfg import BranchCondition, FunctionCfg
from analysis.static.evm.path_state import APPROVE, BALANCE_OF, MOVERS
from analysis.static.token_model.clock.equal_waits import find_equal_wait
from analysis.static.token_model.conditions.computations import (
    Computation,
    ComputationInput,
    ComputationWriter,
)
from analysis.static.token_model.conditions.condition_sites import (
    COMPARISONS,
    HOOKS,
    ConditionSite,
    SiteFinder,
)
from analysis.static.token_model.conditions.role_tests import RoleTests
from analysis.static.token_model.conditions.trade_conditions import (
    ConditionEffect,
    OwnedCondition,
    Source,
    StoredValues,
    TradeCondition,
    TradeConditions,
    VariableKey,
)
from analysis.static.token_model.contract_model import ContractModel
from analysis.static.token_model.guards.fee_setters import find_fee_setters
from analysis.static.token_model.operand_index import operand_index
from analysis.static.token_model.storage.owned_variables import is_address, is_owned
from analysis.static.token_model.storage.variable_writers import WrittenVariables
from core.evm.primitives import ADDRESS_MASK, Hash32, to_hash32

_CALLS: Final = frozenset({"CALL", "STATICCALL", "DELEGATECALL", "CALLCODE"})
_WORD: Final = 32


def is_code_check(
    code: ContractModel, entry: FunctionId, condition: Value, *, fails_when: bool | None
) -> bool:
    """True if the branch fails only where an address that the function calls has no code.

    The callee's behaviour counts as a source already. Any other test of an account's code can be
    turned by a deployment, even at an address that is called.
    """
    tested, holds = _zero_test(condition)
    if tested is None or tested.operation != "EXTCODESIZE" or fails_when is not (not holds):
        return False
    called = {
        address_in(code.dependencies.single_value(effect.words[0]))
        for _, effect in code.functions.cfg(entry).effects()
        if effect.kind in _CALLS
    }
    return address_in(code.dependencies.single_value(tested.arguments[0])) in called


def is_data_check(
    code: ContractModel,
    entry: FunctionId,
    condition: Value,
    *,
    may_fail: bool,
    fails_when: bool | None,
) -> bool:
    """True if the branch tests that a callee returned the words that are decoded: it may fail where
    there are fewer.

    Also true if it tests, without failing, that it returned any data that would have to be copied.
    False in a function that calls a precompile: its output is its input.
    """
    if operand_index(code).precompiles.get(entry):
        return False
    tested, _ = _zero_test(condition)
    if tested is not None and tested.operation == "RETURNDATASIZE":
        return not may_fail
    is_short = True
    while isinstance(condition, Expr) and condition.operation == "ISZERO":
        condition, is_short = condition.arguments[0], not is_short
    if may_fail and fails_when is not None and fails_when is not is_short:
        return False
    match condition:
        case (
            Expr(operation="LT" | "SLT", arguments=(Expr(operation="RETURNDATASIZE"), int(size)))
            | Expr(operation="GT" | "SGT", arguments=(int(size), Expr(operation="RETURNDATASIZE")))
        ):
            return size % _WORD == 0
    return False


def is_copied_short(condition: Value) -> bool:
    """True if a copy of return data may be longer than what the callee returned."""
    match condition:
        case Expr(operation="GT", arguments=(_, Expr(operation="RETURNDATASIZE"))):
            return True
    return False


def _zero_test(condition: Value) -> tuple[Expr | None, bool]:
    """Return the word that is compared with zero, and the truth of the condition if it is not zero.
    None: another condition."""
    holds = True
    while isinstance(condition, Expr):
        match (condition.operation, condition.arguments):
            case ("EXTCODESIZE" | "RETURNDATASIZE", _):
                return condition, holds
            case ("ISZERO", (inner,)) | ("EQ", (0, inner)):
                condition, holds = inner, not holds
            case ("GT", (inner, 0)) | ("LT", (0, inner)):
                condition = inner
            case _:
                break
    return None, holds


_MOST_CONDITIONS: Final = 240
_MOST_NAMED: Final = 8
_SMALLEST_ADDRESS: Final = 2**64
"""Smaller numbers are no addresses of accounts that anybody has."""
_VALUE_SOURCES: Final = frozenset[Source](
    {
        *("time", "fees", "proposer", "randomness", "block_hash", "gas", "coins"),
        *("code", "wallet", "answer", "outside", "unguarded", "counter", "mark", "input", "hash"),
        "own",
    }
)
"""Sources reported for a written amount. The totals of reflection tokens are no condition."""

_ARGUMENT_SOURCES: Final = _VALUE_SOURCES | frozenset[Source]({"balance"})
"""Sources reported for an argument of a call that has to succeed."""

_ANSWERED_FOR: Final = frozenset[Source]({"outside", "gas"})
"""Sources ignored for a call whose success is not examined."""

_NEVER_CHECKED: Final = frozenset[Source](
    {
        *("time", "block", "fees", "proposer", "randomness", "block_hash", "gas", "coins"),
        *("code", "wallet", "answer", "outside", "counter", "mark", "unguarded", "own"),
    }
)
"""Sources on which a compiler check depends only through the author's own arithmetic. A count or
sum that trades move reaches its limit only if it is narrow."""

_LENGTHENING: Final = _NEVER_CHECKED | {"balance"}
"""Sources of the length of a loop that may take more gas than there is."""

_GROWING: Final = frozenset[Source]({"counter", "mark", "coins"})

_OF_OTHERS: Final = frozenset[Source]({"balance", "unknown"})
"""Sources of another account's balance; of a constant slot it is not known whose."""

_ALLOCATED_BY: Final = frozenset[Source]({"input", "answer", "callee", "outside", "unknown"})
"""Sources ignored in an operand that may halt the call: compilers allocate memory by the length of
calldata and of answers, and a free memory pointer is not always known."""

_COPIED_BY: Final = frozenset[Source]({"input", "unknown"})
"""The same for a copy of another size than what the callee returned."""

_COMPUTED_WITH: Final = frozenset[Source]({"amount", "counter", "balance"})
"""Sources ignored in a zero check of a compiler or SafeMath before a store: multiplication handles
zero separately."""

_CALLED: Final = frozenset[Source]({"answer", "callee"})

_NOT_OF: Final[dict[FunctionId, frozenset[Source]]] = {
    None: frozenset({"input", "answer", "callee", "outside"}),
    **dict.fromkeys(HOOKS, frozenset[Source]({"input"})),
}
"""Sources ignored in these functions: a delegating fallback dispatches by calldata, and its target
is analysed separately; a hook's calldata describes the swap."""


def find_trade_conditions(code: ContractModel) -> tuple[TradeConditions, tuple[Variable, ...]]:
    """Return the conditions of a code, and the variables in them that an owner check guards.

    They are those of a token's transfers, `approve` and `balanceOf`, of a hook's swap functions, or
    of a proxy's fallback.
    """
    entries = _entries(code)
    finder = _Finder(code)
    found = [condition for entry in entries for condition in finder.conditions(entry)]
    distinct = _distinct(found)
    conditions = TradeConditions(
        conditions=distinct[:_MOST_CONDITIONS],
        owned=tuple(finder.owned)[:_MOST_CONDITIONS],
        named=tuple(finder.named)[:_MOST_NAMED],
        compared=tuple(finder.compared)[:_MOST_NAMED],
        by_own_acts=tuple(finder.by_own_acts)[:_MOST_CONDITIONS],
        fee_setters=() if code.answers_holders else find_fee_setters(code),
        wait=find_equal_wait(code),
        is_complete=code.functions.is_followed(entries)
        and len(distinct) <= _MOST_CONDITIONS
        and max(len(finder.named), len(finder.compared)) <= _MOST_NAMED,
    )
    owned = dict.fromkeys((*finder.owned.values(), *finder.named.values()))
    return conditions, tuple(owned)


def _distinct(found: Iterable[TradeCondition]) -> tuple[TradeCondition, ...]:
    """Return the conditions without those that another one of the function settles as well."""
    conditions: dict[object, TradeCondition] = {}
    for each in sorted(dict.fromkeys(found), key=_rank):
        key = (each.selector, each.effect == "value", each.steps, each.sources)
        conditions.setdefault(key, each)
    return tuple(conditions.values())


def _rank(condition: TradeCondition) -> int:
    """Return a number that is lower the more its effect requires of the simulations."""
    return _EFFECTS.index(condition.effect)


_EFFECTS: Final[tuple[ConditionEffect, ...]] = (
    *("refuses", "leads", "writes", "overruns", "marks"),
    "value",
)


def _entries(code: ContractModel) -> tuple[FunctionId, ...]:
    hooks = tuple(entry for entry in HOOKS if code.functions.roots(entry))
    if hooks and not code.answers_holders:
        return hooks
    if code.delegation.is_proxy and not code.answers_holders:
        return (None,)
    return (*MOVERS, APPROVE, BALANCE_OF)


class _Finder:
    def __init__(self, code: ContractModel) -> None:
        self._code = code
        self._sites = SiteFinder(code)
        self._expressions = ComputationWriter(code)
        self._variables = WrittenVariables(code)
        self._roles = RoleTests(code)
        self.owned: dict[OwnedCondition, Variable] = {}
        """Conditions with the variable that is written behind an owner check."""
        self.named: dict[VariableKey, Variable] = {}
        """Addresses that are written behind an owner check, and compared with parties."""
        self.compared: dict[Hash32, None] = {}
        """Constant addresses in the same conditions."""
        self.by_own_acts: dict[TradeCondition, None] = {}

    def conditions(self, entry: FunctionId) -> Iterator[TradeCondition]:
        """Yield the conditions of one function."""
        flow = self._code.functions.cfg(entry)
        is_met = self._met(flow)
        branches, amounts = list(self._sites.sites(flow)), list(self._sites.amounts(flow))
        sites = list(filter(is_met, dict.fromkeys(branches)))
        read = {variable for site in sites for variable in self._read(site.condition)}
        marks = [variable for variable in read if self._variables.source(variable) is not None]
        sites += self._sites.marking(flow, marks)
        sites += amounts
        sites += self._sites.halting(flow)
        for site in filter(is_met, dict.fromkeys(sites)):
            yield from self._listed(site, is_met=True)
        for site in dict.fromkeys((*branches, *amounts)):
            if not is_met(site):
                found = list(self._listed(site, is_met=False))
                self.by_own_acts.update(dict.fromkeys(filter(_is_on_clock, found)))
                # It is simulated together with what a party's own calls store.
                yield from filter(_is_of_balances, found)

    # --- reachability for the parties -----------------------------------------------------------

    def _met(self, flow: FunctionCfg) -> Callable[[ConditionSite], bool]:
        """Return a test for sites that are reachable if all entries written by the parties are
        zero.

        Such as parties that never delegated votes. A branch on such an entry is a site itself, and
        is simulated.
        """
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
        operands = {operand.pc for node, operand in flow.operands() if node in met}
        at_pcs = stores | returns | operands
        return lambda site: (site.pc, site.condition) in branches or site.pc in at_pcs

    def _is_own_entry(self, slot: Value, parameters: ParameterRoles) -> bool:
        """True if the slot is an entry of a party that only it writes, and not by a trade."""
        places = self._code.layout.of(slot)
        return bool(places) and all(
            self._variables.source((place.root, MASK)) == "own"
            and all(
                self._code.storage.predicates.party(key, parameters) in PEOPLE for key in place.keys
            )
            for place in places
        )

    # --- dependencies --------------------------------------------------------------------------

    def _listed(self, site: ConditionSite, *, is_met: bool) -> Iterator[TradeCondition]:
        """Yield the site if it depends on more than fixed or owner-set storage and the parties."""
        is_callee_check = not site.is_operand and self._is_callee_check(site)
        if is_memory_bounds_check(site.condition) or is_callee_check:
            return
        leaves = self._expressions.leaves(site.condition, site.entry)
        sources = self._sources(leaves, site)
        sources &= self._harmful(sources, site)
        if is_met and (site.is_argument or _is_judged(site)):
            is_called = site.is_argument or not sources.isdisjoint(_CALLED)
            self._note_owned(leaves, site, is_called=is_called)
        if not sources:
            return
        yield TradeCondition(
            selector=selector_of(site.entry),
            pc=site.pc,
            effect=site.effect,
            sources=tuple(sorted(sources)),
            steps=leaves.steps,
            written=tuple(self._written(leaves)),
            fails_when=None if site.effect == "overruns" else site.fails_when,
        )

    def _harmful(self, sources: Collection[Source], site: ConditionSite) -> Set[Source]:
        """Return the sources by which the site may do harm."""
        found = set(sources)
        if is_code_check(self._code, site.entry, site.condition, fails_when=site.fails_when):
            found -= {"code", "wallet"}
        if site.is_ignored:
            found -= _ANSWERED_FOR
        elif site.effect == "value":
            found &= self._valued(sources, site)
        elif site.is_operand:
            found -= _COPIED_BY if is_copied_short(site.condition) else _ALLOCATED_BY
        elif site.is_loop:
            found &= _LENGTHENING
        elif site.effect == "overruns":
            found &= self._checked(sources, site)
        elif site.effect == "writes" and self._is_zero_check(site):
            found -= _COMPUTED_WITH
        return found

    def _valued(self, sources: Collection[Source], site: ConditionSite) -> Set[Source]:
        """Return the sources by which a stored amount, or an argument of a call, may do harm."""
        if site.is_argument:
            return _ARGUMENT_SOURCES
        is_scaled = not _OF_OTHERS.isdisjoint(sources) and self._roles.is_scaled_by_others(
            site.condition, site.entry
        )
        return _VALUE_SOURCES | (_OF_OTHERS if is_scaled else frozenset())

    def _checked(self, sources: Collection[Source], site: ConditionSite) -> Set[Source]:
        """Return the sources by which a compiler's check may fail on purpose: those that are no
        arithmetic of honest amounts."""
        found = set(_NEVER_CHECKED)
        if site.fails_when is None:
            found -= _GROWING  # it only decides on what may fail
        if not _OF_OTHERS.isdisjoint(sources) and self._roles.may_fail_by_others(site):
            found |= _OF_OTHERS
        if set(sources) == {"amount"} and self._roles.is_size_check(site.condition):
            found.add("amount")
        return found

    def _is_callee_check(self, site: ConditionSite) -> bool:
        return is_data_check(
            self._code,
            site.entry,
            site.condition,
            may_fail=site.effect in ("refuses", "overruns"),
            fails_when=site.fails_when,
        )

    def _is_zero_check(self, site: ConditionSite) -> bool:
        """True if the site is a zero check that a compiler or SafeMath adds."""
        condition = site.condition
        bare = without_iszero(condition)
        is_zero_test = isinstance(bare, Expr) and bare.operation not in _COMPARED
        return (
            is_zero_test
            and isinstance(condition, Expr)
            and self._code.guards.is_check(site.pc, condition)
        )

    def _note_owned(self, leaves: Computation, site: ConditionSite, *, is_called: bool) -> None:
        """Record the site for each variable in it that is written behind an owner check."""
        for leaf in leaves.found:
            variable = leaf.variable
            if variable is None or not is_owned(self._code, variable):
                continue
            slot = StorageLocation(root=variable[0]).slot
            if is_address(variable) and not is_called:
                if slot is not None:
                    key = (to_hash32(slot), to_hash32(variable[1]), False)
                    self.named[key] = variable
                    self.compared.update(dict.fromkeys(_addresses_in(leaves)))
                continue
            owned = OwnedCondition(
                selector=selector_of(site.entry),
                pc=site.pc,
                effect="leads" if site.is_argument else site.effect,
                is_listed=isinstance(variable[0], tuple),
                slot=None if slot is None else to_hash32(slot),
                bits=to_hash32(variable[1]),
                rule=self._rule(site),
                is_returned=site.is_returned and self._is_switch(variable, site.entry),
            )
            self.owned[owned] = variable

    def _is_switch(self, variable: Variable, entry: FunctionId) -> bool:
        """True unless it is an entry, an address, a factor of balances or the length of a list.

        A function that calls another contract is handed on, as by tokens that were replaced.
        """
        if any(effect.kind in _CALLS for _, effect in self._code.functions.cfg(entry).effects()):
            return False
        root, roles = variable[0], self._code.storage.roles
        is_factor = variable in roles.supply or variable in roles.scale
        is_other = isinstance(root, tuple) or is_address(variable) or is_factor
        return not is_other and not self._code.layout.has_elements(root)

    def _rule(self, site: ConditionSite) -> Literal["zero", "amount", "other"]:
        match without_iszero(site.condition):
            case Expr(operation="GT" | "LT" | "EQ", arguments=(one, other)) if 0 in (one, other):
                return "zero"
            case Expr(operation="GT" | "LT") if isinstance(site.condition, Expr):
                reading = self._code.storage.predicates.read(
                    BranchCondition(pc=site.pc, condition=site.condition, holds=True), site.entry
                )
                return "amount" if reading.has_amount or reading.balances_of else "other"
            case Expr(operation=operation) if operation not in _COMPARED:
                return "zero"
        return "other"

    def _sources(self, leaves: Computation, site: ConditionSite) -> set[Source]:
        found: set[Source] = set()
        ignored = _NOT_OF[site.entry] if site.entry in _NOT_OF else frozenset[Source]()
        for leaf in leaves.found:
            if leaf.variable is not None and (
                self._is_usual(leaf.variable, site) or self._is_summed(leaf.variable, site)
            ):
                continue
            source = self._source(leaf)
            if source is not None and source not in ignored:
                found.add(source)
        if "amount" in found and site.effect == "writes":
            # a branch on the amount that only selects stores computes a fee
            found.discard("amount")
        return found

    def _is_usual(self, variable: Variable, site: ConditionSite) -> bool:
        """True if the variable has its usual part, and is no count of trades."""
        written = self._variables.written(variable)
        is_count = written is not None and written.step is not None
        return not is_count and self._roles.is_usual(variable, site)

    def _is_summed(self, variable: Variable, site: ConditionSite) -> bool:
        """True if a compiler's check reads a sum of computed amounts, which others reset at most.

        Against a constant, or as a divisor, that is a condition.
        """
        written = self._variables.written(variable)
        is_open = self._variables.source(variable) == "unguarded"
        if site.effect != "overruns" or not is_open or written is None or written.is_set:
            return False
        is_reset = all(int(word, 16) == 0 for word in written.constants) and not written.clocks
        return is_reset and not self._roles.is_bare(site.condition)

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


def _addresses_in(computation: Computation) -> Iterator[Hash32]:
    """Yield the constants of a computation that may be addresses of accounts."""
    for step in computation.steps:
        word = step.word if step.operation == "number" else None
        if word is not None and _SMALLEST_ADDRESS < int(word, 16) < ADDRESS_MASK:
            yield word


def _is_judged(site: ConditionSite) -> bool:
    """True for a branch, unless it ends a loop or is a check that only decides on what may fail."""
    is_check = site.effect == "overruns" and site.fails_when is None
    is_branch = site.effect not in ("value", "marks")
    return is_branch and not (site.is_operand or site.is_loop or is_check)


_CLOCKS: Final = frozenset[Source]({"time", "block"})


def _is_on_clock(condition: TradeCondition) -> bool:
    return not _CLOCKS.isdisjoint(condition.sources) and condition.effect != "marks"


def _is_of_balances(condition: TradeCondition) -> bool:
    """True for a branch on balances of accounts that are no party."""
    return condition.effect in ("refuses", "leads", "writes") and condition.sources == ("balance",)


_COMPARED: Final = COMPARISONS | {"SUB", "XOR"}
