"""Unbacked credits: stores that raise a balance on a path that lowers no other.

Input: the CFG of each function, without the paths through a debit. Functions that take payment in
native coins and initializers are left out.
"""

from collections.abc import Container, Iterable
from typing import Final

from analysis.static.custody.custody_proof import CustodyProver
from analysis.static.dataflow.linear_amounts import delta_of
from analysis.static.evm.cfg import RETURNS, CfgNode, Effect, FunctionId
from analysis.static.token_model.contract_model import ContractModel
from analysis.static.token_model.initializers import is_one_shot

_PAYMENTS: Final = frozenset({"CALLVALUE", "SELFBALANCE", "BALANCE"})
_ANSWERS: Final = frozenset({"result", "success", "keccak"})


def creates_balances(
    code: ContractModel, prover: CustodyProver, *, shown: Container[FunctionId]
) -> bool | None:
    """True if a function can raise a balance without payment.

    That is any function for unprivileged callers, and one that is not `shown` as a mint for others.
    None: the CFG is incomplete, or the result of another contract or of a hash check decides.
    """
    if not code.storage.roles.balances:
        return None
    found: bool | None = False if code.functions.is_followed() else None
    for entry in code.functions.entries:
        pcs = unpaid_credits(code, entry)
        if not pcs or is_one_shot(code, entry) or _is_paid_in_coins(code, entry):
            continue
        if prover.gates.is_gated(entry, pcs):
            if entry not in shown:
                return True
        elif _asks_others(code, entry):
            found = None
        else:
            return True
    return found


def unpaid_credits(code: ContractModel, entry: FunctionId) -> set[int]:
    """Return the pcs of credits on a successful path that debits nobody."""
    flow = code.functions.cfg(entry)
    credited: dict[CfgNode, set[int]] = {}
    debiting: set[CfgNode] = set()
    for node, effect in flow.effects():
        if code.storage.is_balance_store(effect):
            if _is_credit(code, effect):
                credited.setdefault(node, set()).add(effect.pc)
            else:
                debiting.add(node)
    if not credited:
        return set()
    ends = {
        node for node in _free_from(flow.can_succeed, credited, debiting) if node.end == RETURNS
    }
    if not ends:
        return set()
    reached = _free_from(flow.can_succeed, code.functions.roots(entry), debiting)
    return {pc for node in credited if node in reached for pc in credited[node]}


def _free_from(
    alive: set[CfgNode], starts: Iterable[CfgNode], barred: set[CfgNode]
) -> set[CfgNode]:
    """Return the nodes reachable from the start nodes without passing a barred one."""
    found = {node for node in starts if node not in barred and node in alive}
    waiting = list(found)
    while waiting:
        for after in waiting.pop().successors():
            if after in alive and after not in barred and after not in found:
                found.add(after)
                waiting.append(after)
    return found


def _is_credit(code: ContractModel, effect: Effect) -> bool:
    slot, value = effect.words[:2]
    deltas = [delta_of(meaning, slot) for meaning in code.dependencies.phi_values(value)]
    return all(delta is not None and delta.added and not delta.subtracted for delta in deltas)


def _is_paid_in_coins(code: ContractModel, entry: FunctionId) -> bool:
    """True if native coins decide whether the function succeeds, or what it credits."""
    flow = code.functions.cfg(entry)
    words = [
        effect.words[1] for _, effect in flow.effects() if code.storage.is_balance_store(effect)
    ]
    words += [literal.condition for literal in code.guards.decisions(entry)]
    words += [guard.test.literal.condition for guard in code.guards.of(entry)]
    return any(code.dependencies.has(word, _PAYMENTS) for word in words)


def _asks_others(code: ContractModel, entry: FunctionId) -> bool:
    """True if a revert depends on the result of another contract or on a hash."""
    return any(
        guard.test.has_answer
        or any(
            term.operation in _ANSWERS
            for term in code.dependencies.subexpressions(guard.test.literal.condition)
        )
        for guard in code.guards.of(entry)
    )
