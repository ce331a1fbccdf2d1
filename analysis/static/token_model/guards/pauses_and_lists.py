"""Pauses and address lists: guards that stop all transfers, or those of certain addresses.

Classifies the guards of `transfer` and `transferFrom` that are neither caps nor funds checks.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from analysis.static.dataflow.predicates import (
    ERC20_PARAMETERS,
    FROM,
    PEOPLE,
    Predicate,
    Variable,
)
from analysis.static.dataflow.storage_layout import VariableId, is_element
from analysis.static.evm.function_cfg import BranchCondition
from analysis.static.evm.path_state import MOVERS
from analysis.static.token_model.atomic_comparisons import atomic_comparisons
from analysis.static.token_model.clock.cooldowns import cooldowns, stamps_before
from analysis.static.token_model.contract_model import ContractModel
from analysis.static.token_model.guards.access_control import caller_checks
from analysis.static.token_model.guards.guard import Guard
from analysis.static.token_model.guards.transfer_guards import (
    capped_guards,
    is_funds_check,
    is_zero_test,
)
from analysis.static.token_model.memoize import cached_on_model

_EQUAL: Final = frozenset({"EQ"})
_UNEQUAL: Final = frozenset({"XOR", "SUB"})


def _refuses_only_some(code: ContractModel, reading: Predicate) -> bool:
    """True if the literal holds only for addresses listed or named in storage."""
    if reading.lists and not reading.globals:
        return code.storage.predicates.holds_for_unlisted_address(reading) is False
    if reading.addresses and not reading.globals:
        for term, holds in atomic_comparisons(
            code, reading.literal.condition, holds=reading.literal.holds
        ):
            if (term.operation in _EQUAL and holds) or (term.operation in _UNEQUAL and not holds):
                return True
    return False


@cached_on_model
def pauses(code: ContractModel) -> Iterator[tuple[Guard, frozenset[Variable]]]:
    """Yield guards that revert for everybody in one setting of a variable, and these variables."""
    capped = capped_guards(code)
    for guard in code.guards.of_moves():
        test = guard.test
        if guard in capped or test.has_answer or test.has_amount or is_funds_check(test):
            continue
        if is_zero_test(test) or (test.depends_on_time and test.lists) or _is_in_array(test):
            continue
        if stamps_before(code, guard):
            continue
        if not (test.globals or test.addresses) and _refuses_only_some(code, test):
            continue
        if _locks_one_sender(code, guard):
            continue
        addresses = frozenset(each for reading in guard.all() for each in reading.addresses)
        variables = test.globals
        if not variables and (test.lists or test.addresses):
            variables = _switches_before(guard)
        if not variables and test.depends_on_time:
            variables = _switches_before(guard)
        variables = frozenset(
            each
            for each in variables
            if not _is_lock(code, each)
            and not code.guards.checks.is_array(each[0])
            and (each not in addresses or any(code.writes.to(each)))
        )
        if variables:
            yield guard, variables


def _locks_one_sender(code: ContractModel, guard: Guard) -> bool:
    """True if it refuses, until a time, only what one stored address sends."""
    if not any(reading.depends_on_time for reading in guard.all()):
        return False
    named = [
        reading.addresses
        for reading in guard.all()
        if reading.addresses
        and not (reading.globals or reading.lists)
        and _refuses_only_some(code, reading)
    ]
    return any(addresses <= senders for addresses in named for senders in _senders(code))


@cached_on_model
def _senders(code: ContractModel) -> Iterator[frozenset[Variable]]:
    """Yield the stored addresses that transfers compare with senders only. One that is compared
    with recipients as well may be a pool, so that all buys stop with it."""
    senders: set[Variable] = set()
    others: set[Variable] = set()
    for entry in MOVERS:
        for branch in code.functions.cfg(entry).branches():
            literal = BranchCondition(pc=branch.pc, condition=branch.condition, holds=True)
            reading = code.storage.predicates.read(literal, entry)
            parties = code.storage.predicates.parties_compared(
                branch.condition, ERC20_PARAMETERS[entry]
            )
            (senders if parties == {FROM} else others).update(reading.addresses)
    yield frozenset(senders - others)


def _is_in_array(reading: Predicate) -> bool:
    """True if the predicate tests whether a party is an element of a stored array."""
    return any(is_element(root) and party in PEOPLE for (root, _), party in reading.lists)


def _switches_before(guard: Guard) -> frozenset[Variable]:
    """Return variables in a guard's context; of zero tests the addresses tested."""
    return frozenset(
        variable
        for reading in guard.context
        if not (reading.has_answer or reading.has_amount or reading.balances_of)
        for variable in (reading.addresses if is_zero_test(reading) else reading.globals)
    )


def _is_lock(code: ContractModel, variable: Variable) -> bool:
    """True if transfers store more than one value to it: a reentrancy lock, set and reset."""
    writes = list(code.writes.to(variable))
    values = {write.value for write in writes if write.entry in MOVERS}
    return len(values) > 1


@cached_on_model
def lists(code: ContractModel) -> Iterator[tuple[Guard, frozenset[Variable]]]:
    """Yield guards that depend on per-address storage, and the mappings.

    An exemption from a closed gate counts as a list; one from a cooldown or a cap does not.
    """
    capped = capped_guards(code)
    waiting = {guard for guard, _ in cooldowns(code)}
    for guard in code.guards.of_moves():
        test = guard.test
        if guard in capped or test.has_answer or is_funds_check(test) or is_zero_test(test):
            continue
        if not test.reads_storage:
            continue
        if not test.lists and test.globals and all(_is_lock(code, each) for each in test.globals):
            continue
        if guard in waiting and not test.depends_on_time:
            continue
        readings = [test, *(() if guard in waiting else _exemptions(code, guard))]
        variables = _listed(code, readings)
        if variables:
            yield guard, variables
    for guard, choices in code.guards.flags_of_moves():
        variables = _listed(code, choices)
        if variables:
            yield guard, variables


def _listed(code: ContractModel, readings: Iterable[Predicate]) -> frozenset[Variable]:
    return frozenset(
        variable
        for reading in readings
        for variable, party in reading.lists
        if party in PEOPLE and _is_list(code, variable, reading)
    )


def _exemptions(code: ContractModel, guard: Guard) -> Iterator[Predicate]:
    """Yield per-address conditions that unlisted addresses meet on the way to the test."""
    if guard.test.has_amount or guard.test.lists:
        return
    for reading in guard.context:
        if code.storage.predicates.holds_for_unlisted_address(reading):
            yield reading


def _is_list(code: ContractModel, variable: Variable, reading: Predicate) -> bool:
    """True if others write the entry (not transfers, not its address itself), or nobody does.

    A part of a balance that is set aside counts only if a caller check guards a writer.
    """
    root, _ = variable
    is_part_of_balance = any(_contains(balances, root) for balances in code.storage.roles.balances)
    is_in_array = code.layout.has_elements(root) and not is_element(root)
    if is_part_of_balance or (is_in_array and not reading.balances_of):
        return False
    writes = list(code.writes.to(variable))
    by_others = [
        write
        for write in writes
        if write.entry not in MOVERS and not code.writes.is_callers_own(write)
    ]
    if by_others and reading.balances_of:
        privileged = {check.entry for check in caller_checks(code)}
        return any(write.entry in privileged for write in by_others)
    return bool(by_others) or not writes


def _contains(root: VariableId, part: VariableId) -> bool:
    return isinstance(root, tuple) and any(
        inner == part or _contains(inner, part) for inner in root
    )
