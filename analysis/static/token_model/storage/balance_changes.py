"""Balance change analysis: the sums that transfers add to and subtract from balances, and taxes.

A stored value that builds on the old balance is read as old balance plus a signed sum. A tax is a
credit below the sender's debit, or a debit above the credit. Bounds: 12 phi operands of a store,
24 summands, 24 forms of a sum; functions that the budget cut are skipped.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from analysis.static.dataflow.linear_amounts import delta_of, summands
from analysis.static.dataflow.merged_choices import choosing_branches
from analysis.static.dataflow.predicates import ERC20_PARAMETERS, FROM, PEOPLE, TO, Variable
from analysis.static.evm.cfg import CfgNode, FunctionId
from analysis.static.evm.expressions import Expr, Value
from analysis.static.evm.function_cfg import BranchCondition
from analysis.static.evm.path_state import MOVERS
from analysis.static.token_model.contract_model import ContractModel
from analysis.static.token_model.memoize import cached_on_model
from analysis.static.token_model.storage.write_index import StorageWrite

_MOST_FORMS: Final = 12
_MOST_EXPANDED: Final = 24
_COPIES: Final = 2
"""Number of copies between variables, made by transfers, through which rates are followed."""

Sum = tuple[tuple[Value, int], ...]
"""Summands with their multiplicity; negative if subtracted."""

BalanceStore = tuple[int, Value, Value]
"""Program counter, slot and value."""

_ANY: Final[Sum] = ()
"""Any tax: the form of a sum with merged values, which cannot be distinguished."""


class BalanceChange(msgspec.Struct, frozen=True, kw_only=True):
    """A store to a balance, with the sum that it adds."""

    write: StorageWrite
    party: str
    by: Sum


class Tax(msgspec.Struct, frozen=True, kw_only=True):
    """A balance store of a transfer whose credit is less than the sender's debit."""

    write: StorageWrite
    rates: frozenset[Variable]
    """Variables that decide how much is taken, and whether."""
    forms: tuple[Sum, ...]
    """Possible sums that the recipient is credited. Empty: the sender pays more instead, or a value
    is merged from several paths."""


def changes(code: ContractModel) -> Iterator[BalanceChange]:
    """Yield every change of a balance by `transfer` and `transferFrom`."""
    for write in code.writes.all:
        if write.entry not in MOVERS or write.entry in code.notes.cut:
            continue
        if write.place.root not in code.storage.roles.balances:
            continue
        party = code.storage.predicates.party(
            write.place.keys[0], ERC20_PARAMETERS[write.entry or 0]
        )
        for value in code.dependencies.phi_values(write.value)[:_MOST_FORMS]:
            by = difference(code, value, write.slot)
            if by is not None:
                yield BalanceChange(write=write, party=party, by=by)


@cached_on_model
def balance_debits(code: ContractModel) -> Iterator[frozenset[tuple[FunctionId, Value]]]:
    """Yield one set: each function with the terms that it subtracts from balances."""
    yield frozenset(
        (write.entry, term)
        for write in code.writes.all
        if write.place.root in code.storage.roles.balances
        for value in code.dependencies.phi_values(write.value)
        if (delta := delta_of(value, write.slot)) is not None
        for term in delta.subtracted
    )


def difference(code: ContractModel, value: Value, slot: Value) -> Sum | None:
    """Return the value minus the slot's old content. None: it is not computed from that."""
    for candidate in _candidates(value):
        terms = summands(candidate, code.dependencies.single_value)
        for word, count in terms.items():
            if not isinstance(word, Expr) or word.operation != "SLOAD":
                continue
            if count == 1 and word.arguments[0] == slot:
                del terms[word]
                return _sorted(code, terms)
    return None


def _sorted(code: ContractModel, terms: Counter[Value]) -> Sum:
    """Return the summands in an order that is the same for equal sums, and in every run."""
    words = sorted((word for word, n in terms.items() if n), key=code.pool.rank)
    return tuple((word, terms[word]) for word in words)


def _candidates(value: Value) -> Iterator[Value]:
    """Yield the additions and subtractions under the masks and shifts that pack a value."""
    waiting = [value]
    while waiting:
        word = waiting.pop()
        if isinstance(word, Expr):
            if word.operation in ("ADD", "SUB"):
                yield word
            elif word.operation in ("AND", "OR", "SHL"):
                waiting.extend(word.arguments)


@cached_on_model
def taxes(code: ContractModel) -> Iterator[Tax]:
    """Yield credits that are less than the sender's debit, and debits that exceed the credit."""
    found = list(changes(code))
    shortfalls = list(_shortfalls(code, found))
    credits = {write for write, _ in shortfalls}
    taken = [
        (write, by, _expanded(code, by)) for write, by in (*shortfalls, *_overcharges(code, found))
    ]
    stored: dict[FunctionId, dict[BalanceStore, set[Sum]]] = {}
    for write, _, forms in taken:
        store = (write.pc, write.slot, write.value)
        stored.setdefault(write.entry, {}).setdefault(store, set()).update(forms)
    words: dict[FunctionId, dict[Value, None]] = {}
    for write, by, _ in taken:
        words.setdefault(write.entry, {}).update(
            {write.value: None} | {word: None for word, _ in by}
        )
    switches = {
        entry: _switches(code, entry, stores) | set(_choosing(code, entry, words[entry]))
        for entry, stores in stored.items()
    }
    for write, by, forms in taken:
        is_known = write in credits and _ANY not in forms
        yield Tax(
            write=write,
            rates=_rates(code, by, write, switches[write.entry]),
            forms=tuple(forms) if is_known else (),
        )


def _expanded(code: ContractModel, by: Sum) -> list[Sum]:
    """Return the sum for each choice of phi operands; `_ANY` for one with a merged value inside."""
    forms: list[Sum] = [()]
    for word, count in by:
        meanings = code.dependencies.phi_values(word)
        forms = [(*form, (each, count)) for form in forms for each in meanings][:_MOST_EXPANDED]
    return [
        _ANY if any(code.dependencies.is_merged(word) for word, _ in form) else form
        for form in forms
    ]


def _shortfalls(
    code: ContractModel, found: list[BalanceChange]
) -> Iterator[tuple[StorageWrite, Sum]]:
    """Yield credits of the recipient that are less than what the sender is debited."""
    debits = {_negative(change.by) for change in found if change.party == FROM}
    for change in found:
        if change.party == TO:
            for by in _forms(code, change.by):
                if _is_reduced(code, by, change.write, debits):
                    yield change.write, by


def _overcharges(
    code: ContractModel, found: list[BalanceChange]
) -> Iterator[tuple[StorageWrite, Sum]]:
    """Yield debits of the sender that are more than what a recipient is credited."""
    credits = [change for change in found if change.party == TO]
    for debit in found:
        if debit.party != FROM or len(debit.by) == 1:
            continue
        for credit in credits:
            rest = Counter(dict(_negative(debit.by)))
            rest.subtract(dict(credit.by))
            left = [word for word, count in rest.items() if count]
            if credit.by and left and all(rest[word] > 0 for word in left):
                yield debit.write, debit.by


def _negative(by: Sum) -> Sum:
    return tuple((word, -count) for word, count in by)


def _forms(code: ContractModel, by: Sum) -> Iterator[Sum]:
    """Yield the sum, or, if it is a single value, the sum of each of its phi operands."""
    if len(by) != 1 or by[0][1] != 1:
        yield by
        return
    for meaning in code.dependencies.phi_values(by[0][0])[:_MOST_FORMS]:
        yield _sorted(code, summands(meaning, code.dependencies.single_value))


def _is_reduced(code: ContractModel, by: Sum, write: StorageWrite, debits: set[Sum]) -> bool:
    """True if something is subtracted from an amount, or only a quotient of it is credited."""
    parameters = ERC20_PARAMETERS[write.entry or 0]
    if not any(code.storage.predicates.has_amount(word, parameters) for word, _ in by):
        return False
    if any(count < 0 for _, count in by):
        return True
    return by not in debits and any(
        term.operation == "DIV"
        and code.storage.predicates.has_amount(term.arguments[0], parameters)
        for word, _ in by
        for term in code.dependencies.subexpressions(word)
    )


def _rates(
    code: ContractModel, by: Sum, write: StorageWrite, switches: set[Variable]
) -> frozenset[Variable]:
    """Return the variables in the sum, and those that decide whether anything is taken."""
    found = switches | {variable for word, _ in by for variable in _variables(code, word, write)}
    for _ in range(_COPIES):
        found |= {
            variable
            for known in found
            for copied in code.writes.to(known)
            if copied.entry in MOVERS
            for variable in _variables(code, copied.value, write)
        }
    found -= code.storage.roles.supply | code.storage.roles.scale
    return frozenset(variable for variable in found if not _is_total(code, variable))


def _is_total(code: ContractModel, variable: Variable) -> bool:
    """True if transfers store amounts to it: a reflection total, or collected fees."""
    return any(
        write.entry in MOVERS
        and code.storage.predicates.has_amount(write.value, ERC20_PARAMETERS[write.entry or 0])
        for write in code.writes.to(variable)
    )


def _variables(code: ContractModel, word: Value, write: StorageWrite) -> Iterator[Variable]:
    parameters = ERC20_PARAMETERS[write.entry or 0]
    targets = (
        atom.arguments[0] for atom in code.dependencies.sources(word) if atom.operation == "result"
    )
    for each in (word, *targets):
        for slot, bits in code.dependencies.reads(each):
            for place in code.layout.of(slot):
                if place.root in code.storage.roles.balances or code.guards.checks.is_array(
                    place.root
                ):
                    continue
                if all(
                    code.storage.predicates.party(key, parameters) not in PEOPLE
                    for key in place.keys
                ):
                    yield place.root, bits


def _switches(
    code: ContractModel, entry: FunctionId, stores: dict[BalanceStore, set[Sum]]
) -> set[Variable]:
    """Return variables that decide whether or which tax is taken, and that transfers do not set.

    A branch with the same tax on both sides decides something else, such as a sale of fees.
    """
    flow = code.functions.cfg(entry)
    marks: dict[Sum, int] = {}
    taken: dict[CfgNode, int] = {}
    for node, effect in flow.effects():
        if effect.kind == "SSTORE":
            for form in stores.get((effect.pc, effect.words[0], effect.words[1]), ()):
                mark = marks.setdefault(form, 1 << len(marks))
                taken[node] = taken.get(node, 0) | mark
    ahead = flow.ahead(taken)
    deciding: dict[BranchCondition, bool] = {}
    for _, branch in flow.decisions():
        one, other = ahead[branch.if_true], ahead[branch.if_false]
        if one | other:
            literal = BranchCondition(pc=branch.pc, condition=branch.condition, holds=True)
            deciding[literal] = deciding.get(literal, True) and not one & other
    return {
        variable
        for literal, decides in deciding.items()
        if decides
        for variable in _settable(code, entry, literal)
    }


def _choosing(code: ContractModel, entry: FunctionId, words: Iterable[Value]) -> Iterator[Variable]:
    """Yield variables that choose one of several taxes or rates before paths were merged, and that
    transfers do not set."""
    flow = code.functions.cfg(entry)
    for literal in choosing_branches(flow, code.dependencies, words, is_strict=True):
        yield from _settable(code, entry, literal)


def _settable(code: ContractModel, entry: FunctionId, literal: BranchCondition) -> set[Variable]:
    """Return the variables in a condition that transfers do not set."""
    reading = code.storage.predicates.read(literal, entry)
    if reading.has_answer or reading.depends_on_time or reading.has_amount:
        return set()
    return {
        variable
        for variable in reading.globals
        if all(write.entry not in MOVERS for write in code.writes.to(variable))
    }


def lasting_changes(code: ContractModel, variable: Variable) -> Iterator[StorageWrite]:
    """Yield stores to a total, without those of functions whose changes cancel out."""
    if isinstance(variable[0], tuple):
        yield from code.writes.to(variable)
        return
    by_entry: dict[int | None, list[StorageWrite]] = {}
    for write in code.writes.to(variable):
        by_entry.setdefault(write.entry, []).append(write)
    for writes in by_entry.values():
        sums = {difference(code, write.value, write.slot) for write in writes}
        if None in sums or not all(_negative(by) in sums for by in sums if by is not None):
            yield from writes
