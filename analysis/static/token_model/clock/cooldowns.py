"""Cooldowns: guards of transfers that make an address wait after its own last transfer.

Recognised by a comparison of the clock with a per-address variable that transfers write, in the
guard itself or on the way to it.
"""

from collections.abc import Iterator

from analysis.static.dataflow.predicates import PEOPLE, Predicate, Variable
from analysis.static.dataflow.storage_layout import is_in_array
from analysis.static.evm.path_state import MOVERS
from analysis.static.token_model.contract_model import ContractModel
from analysis.static.token_model.guards.guard import Guard
from analysis.static.token_model.guards.transfer_guards import (
    is_funds_check,
    is_zero_test,
    names_account,
    trading_caps,
)
from analysis.static.token_model.memoize import cached_on_model


@cached_on_model
def cooldowns(code: ContractModel) -> Iterator[tuple[Guard, frozenset[Variable]]]:
    """Yield guards that compare the clock with variables that transfers store per address."""
    yield from _windows(code)
    for guard in code.guards.of_moves():
        variables = _stamps(code, guard.test) or stamps_before(code, guard)
        if variables:
            yield guard, variables


def _stamps(code: ContractModel, reading: Predicate) -> frozenset[Variable]:
    """Return per-address variables that transfers store, if the condition depends on time."""
    return frozenset(
        variable
        for variable, party in reading.lists
        if reading.depends_on_time
        and party in PEOPLE
        and any(write.entry in MOVERS for write in code.writes.to(variable))
    )


def stamps_before(code: ContractModel, guard: Guard) -> frozenset[Variable]:
    """Return such variables in the context of a guard whose test is an exemption: a list, a switch
    or an amount that matters only to those that have transferred lately."""
    test = guard.test
    holds = code.storage.predicates.holds_for_unlisted_address(test)
    is_list = bool(test.lists) and not _are_left_by_transfers(code, test)
    if holds and is_list:
        return frozenset(each for reading in guard.context for each in _stamps(code, reading))
    is_other = (
        (is_list and holds is False)
        or (test.depends_on_time or test.has_answer)
        or (is_funds_check(test) or is_zero_test(test))
        or not (test.reads_storage or test.has_amount or names_account(code, test))
    )
    if is_other:
        return frozenset()
    return frozenset(
        each
        for reading in guard.context
        if code.storage.predicates.holds_for_rested_address(reading) is False
        for each in _stamps(code, reading)
        if not is_in_array(each[0])  # as in checkpoints and schedules of many dates
    )


def _are_left_by_transfers(code: ContractModel, reading: Predicate) -> bool:
    return any(
        write.entry in MOVERS for variable, _ in reading.lists for write in code.writes.to(variable)
    )


def _windows(code: ContractModel) -> Iterator[tuple[Guard, frozenset[Variable]]]:
    """Yield caps on a per-address sum that restarts some time after the address's transfer."""
    for cap in trading_caps(code):
        entry = cap.guard.refusal.entry
        sums = {
            variable for variable, party in cap.guard.test.lists if party in PEOPLE
        } - code.storage.roles.supply
        if not any(write.entry in MOVERS for each in sums for write in code.writes.to(each)):
            continue
        for literal in code.guards.decisions(entry):
            kept = _stamps(code, code.storage.predicates.read(literal, entry))
            if kept:
                yield cap.guard, kept | sums
