"""Discharge of obligations on a path: caller is the holder, signature, operator, or allowance.

Input: facts of the path and its state. Output: the state with the obligations that remain.
"""

import msgspec

from analysis.static.custody.custody_facts import (
    AllowanceCovers,
    AllowanceUnlimited,
    CallerListed,
    EqualityFact,
    Fact,
)
from analysis.static.custody.custody_proof import CustodyProver
from analysis.static.custody.custody_state import Obligation, ObligationState
from analysis.static.dataflow.addresses import is_caller, party, recovered
from analysis.static.dataflow.linear_amounts import LinearAmount, added, negated
from analysis.static.evm.cfg import FunctionId
from analysis.static.evm.expressions import Expr, Value


def settled(
    prover: CustodyProver,
    entry: FunctionId,
    facts: frozenset[Fact],
    status: ObligationState,
    *,
    is_last: bool,
) -> ObligationState:
    """Return the status without discharged obligations.

    `is_last`: no further debits follow on the path, so that the decrease of an allowance may also
    exceed the sum of the debits.
    """
    open_debts = {debt for debt in status.debts if not _has_agreed(prover, facts, status, debt)}
    paid = status.paid
    for whose in {debt.whose for debt in open_debts if debt.kind == "debit"}:
        mine = {debt for debt in open_debts if debt.kind == "debit" and debt.whose is whose}
        if any(debt.amount is None for debt in mine) or whose is None:
            continue
        total = added(*(debt.amount for debt in mine if debt.amount is not None))
        if _is_endless(prover, facts, whose):
            open_debts -= mine
            continue
        for each in paid:
            holder, slot, amount = each
            is_enough = total == amount or (is_last and prover.covers(entry, total, amount))
            if holder is whose and is_enough and _is_asked(facts, slot, amount):
                open_debts -= mine
                paid -= {each}
                break
    return msgspec.structs.replace(status, debts=frozenset(open_debts), paid=paid)


def _is_endless(prover: CustodyProver, facts: frozenset[Fact], whose: Value) -> bool:
    return any(
        isinstance(fact, AllowanceUnlimited) and prover.is_allowance_of(fact.slot, whose)
        for fact in facts
    )


def _is_asked(facts: frozenset[Fact], slot: Value, amount: LinearAmount) -> bool:
    return any(
        isinstance(fact, AllowanceCovers)
        and fact.slot is slot
        and (fact.amount == amount or _is_more(fact.amount, amount))
        for fact in facts
    )


def _is_more(asked: LinearAmount, taken: LinearAmount) -> bool:
    """True if the first sum is the second plus further summands."""
    rest = added(asked, negated(taken))
    return bool(rest) and all(count > 0 for _, count in rest)


def _has_agreed(
    prover: CustodyProver, facts: frozenset[Fact], status: ObligationState, debt: Obligation
) -> bool:
    whose = debt.whose
    if whose is None:
        return False
    if prover.is_own(whose) or prover.is_named(whose):
        return True
    if recovered(whose) is not None and prover.is_signed(whose, debt, status):
        return True
    return any(_settles(prover, fact, debt, status) for fact in facts)


def _settles(prover: CustodyProver, fact: Fact, debt: Obligation, status: ObligationState) -> bool:
    whose = debt.whose
    if whose is None:
        return False
    if isinstance(fact, CallerListed):
        return prover.is_operator(fact.slot, whose)
    if not isinstance(fact, EqualityFact):
        return False
    if whose not in (fact.one, fact.other):
        return _answers_itself(fact, whose)
    other = fact.other if fact.one is whose else fact.one
    return is_caller(other) or (
        recovered(other) is not None and prover.is_signed(other, debt, status)
    )


def _answers_itself(fact: EqualityFact, whose: Value) -> bool:
    """True if the account is a contract that returned the ERC-1271 magic value."""
    return any(
        isinstance(one, Expr)
        and one.operation == "result"
        and party(one.arguments[0]) is whose
        and isinstance(other, int)
        for one, other in ((fact.one, fact.other), (fact.other, fact.one))
    )
