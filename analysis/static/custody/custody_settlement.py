"""Discharge of obligations on a path: caller is the holder, signature, operator, or allowance.

Input: facts of the path and its state. Output: the state with the obligations that remain.
"""

from collections.abc import Iterable
from typing import Final

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
from analysis.static.dataflow.linear_amounts import LinearAmount, added, is_at_least, plus
from analysis.static.evm.cfg import FunctionId
from analysis.static.evm.expressions import Expr, Value
from analysis.static.evm.path_state import TRANSFER_FROM
from analysis.static.token_model.storage.write_index import StorageWrite
from core.evm.abi import selector_of
from core.evm.keccak import keccak

_PAYER: Final = 4
_AMOUNTS: Final[dict[FunctionId, int]] = {
    TRANSFER_FROM: 68,
    int(selector_of("crosschainBurn(address,uint256)"), 16): 36,
}
"""Offset of the amount in calldata, by function whose first argument is the payer."""

_ERC1271: Final = 0x1626BA7E
_ERC3156: Final = int.from_bytes(keccak(b"ERC3156FlashBorrower.onFlashLoan"))
_MAGIC: Final = (_ERC1271, _ERC1271 << 224, _ERC3156)
"""Magic values by which a contract accepts a signature or a flash loan as its own.

They are read from the word or its first bytes. A loan that it accepts, it pays back."""


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
    open_debts = {
        debt
        for debt in sorted(status.debts, key=prover.rank)
        if not _has_agreed(prover, entry, facts, status, debt)
    }
    paid = status.paid
    for whose in {debt.whose for debt in open_debts if debt.kind == "debit"}:
        mine = {debt for debt in open_debts if debt.kind == "debit" and debt.whose is whose}
        if any(debt.amount is None for debt in mine) or whose is None:
            continue
        if entry in _AMOUNTS and not _is_payer(prover, whose):
            continue  # routers with an endless allowance pass on whatever their callers name
        total = added(*(debt.amount for debt in mine if debt.amount is not None))
        if _is_endless(prover, facts, whose):
            open_debts -= mine
            continue
        may_exceed = is_last and not any(debt.is_opaque for debt in mine)
        for each in sorted(paid, key=prover.rank):
            holder, slot, amount = each
            is_enough = total == amount or (may_exceed and prover.covers(entry, total, amount))
            if holder is whose and is_enough and _is_asked(facts, slot, amount):
                open_debts -= mine
                paid -= {each}
                break
    return msgspec.structs.replace(status, debts=frozenset(open_debts), paid=paid)


def is_of_payer_alone(
    prover: CustodyProver, entry: FunctionId, debts: Iterable[Obligation], debt: Obligation
) -> bool:
    """True if the debt takes from the account that the standard's function names as the payer.

    All debts of the path together take no more from it than the amount that is named.
    """
    at = _AMOUNTS.get(entry)
    if at is None or debt.kind != "debit" or not _is_payer(prover, debt.whose):
        return False
    mine = [each for each in debts if each.kind == "debit" and each.whose is debt.whose]
    amounts = [each.amount for each in mine if each.amount is not None and not each.is_opaque]
    amount = plus([prover.code.pool.intern("CALLDATALOAD", at)])
    return len(amounts) == len(mine) and prover.covers(entry, added(*amounts), amount)


def _is_payer(prover: CustodyProver, whose: Value | None) -> bool:
    """True if it is the first argument."""
    return whose is not None and party(whose) is prover.code.pool.intern("CALLDATALOAD", _PAYER)


def _is_endless(prover: CustodyProver, facts: frozenset[Fact], whose: Value) -> bool:
    return any(
        isinstance(fact, AllowanceUnlimited) and prover.is_allowance_of(fact.slot, whose)
        for fact in facts
    )


def _is_asked(facts: frozenset[Fact], slot: Value, amount: LinearAmount) -> bool:
    return any(
        isinstance(fact, AllowanceCovers) and fact.slot is slot and is_at_least(fact.amount, amount)
        for fact in facts
    )


def _has_agreed(
    prover: CustodyProver,
    entry: FunctionId,
    facts: frozenset[Fact],
    status: ObligationState,
    debt: Obligation,
) -> bool:
    whose = debt.whose
    if whose is None:
        return False
    if prover.is_own(whose) or prover.is_named(whose):
        return True
    if recovered(whose) is not None and prover.signatures.covers(entry, whose, debt, status):
        return True
    return any(_settles(prover, entry, fact, debt, status) for fact in facts)


def _settles(
    prover: CustodyProver,
    entry: FunctionId,
    fact: Fact,
    debt: Obligation,
    status: ObligationState,
) -> bool:
    whose = debt.whose
    if whose is None:
        return False
    if isinstance(fact, CallerListed):
        return _is_operator(prover, fact.slot, whose)
    if not isinstance(fact, EqualityFact):
        return False
    if whose not in (fact.one, fact.other):
        return _answers_itself(fact, whose)
    other = fact.other if fact.one is whose else fact.one
    return is_caller(other) or (
        recovered(other) is not None and prover.signatures.covers(entry, other, debt, status)
    )


def _answers_itself(fact: EqualityFact, whose: Value) -> bool:
    """True if the account is a contract that returned the magic value of ERC-1271 or ERC-3156."""
    return any(
        isinstance(one, Expr)
        and one.operation == "result"
        and party(one.arguments[0]) is whose
        and other in _MAGIC
        for one, other in ((fact.one, fact.other), (fact.other, fact.one))
    )


def _is_operator(prover: CustodyProver, slot: Value, whose: Value) -> bool:
    """True if the slot records that this account itself approved the caller as operator."""
    for place in prover.code.layout.of(slot):
        keys = [party(key) for key in place.keys]
        if whose in keys and any(map(is_caller, keys)):
            writes = [w for w in prover.code.writes.all if w.place.root == place.root]
            return bool(writes) and all(_approves(prover, w, keys.index(whose)) for w in writes)
    return False


def _approves(prover: CustodyProver, write: StorageWrite, at: int) -> bool:
    """True if the caller, as the key at that position, approves an account it names, or none."""
    keys = [prover.code.dependencies.single_value(key) for key in write.place.keys]
    return at < len(keys) and all(
        is_caller(key) if place == at else write.value == 0 or prover.is_given(key)
        for place, key in enumerate(keys)
    )
