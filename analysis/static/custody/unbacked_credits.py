"""Unbacked credits: stores that raise a balance on a path that lowers no other.

Input: the CFG of each function, without the paths through a debit. Functions that take payment in
native coins and initializers are left out.
"""

from collections.abc import Container, Iterable
from typing import Final

from analysis.static.custody.custody_facts import NormalForm, normal
from analysis.static.custody.custody_proof import CustodyProver
from analysis.static.dataflow.linear_amounts import delta_of
from analysis.static.evm.cfg import RETURNS, CfgNode, Effect, FunctionId
from analysis.static.evm.function_cfg import FunctionCfg
from analysis.static.token_model.contract_model import ContractModel
from analysis.static.token_model.initializers import is_one_shot

_PAYMENTS: Final = frozenset({"CALLVALUE", "SELFBALANCE", "BALANCE"})
_ANSWERS: Final = frozenset({"result", "success", "keccak"})

_Edge = tuple[CfgNode, CfgNode]


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
    refuted = refuted_edges(flow, code.functions.roots(entry))
    ends = {node for node in _free_from(flow, credited, debiting, refuted) if node.end == RETURNS}
    if not ends:
        return set()
    reached = _free_from(flow, code.functions.roots(entry), debiting, refuted)
    return {pc for node in credited if node in reached for pc in credited[node]}


def refuted_edges(flow: FunctionCfg, roots: Iterable[CfgNode]) -> set[_Edge]:
    """Return the edges that no path takes: each path to them had the opposite answer before.

    Only for conditions whose words cannot change within one call.
    """
    sides: dict[tuple[NormalForm, bool], set[_Edge]] = {}
    for node, branch in flow.branching():
        if not branch.condition.changes:
            for holds, after in ((True, branch.if_true), (False, branch.if_false)):
                sides.setdefault(normal(branch.condition, holds=holds), set()).add((node, after))
    refuted: set[_Edge] = set()
    for (form, is_so), edges in sides.items():
        opposite = sides.get((form, not is_so), set())
        if len({node for node, _ in edges | opposite}) > 1:
            reached = _free_from(flow, roots, (), opposite)
            refuted |= {(node, after) for node, after in edges if node not in reached}
    return refuted


def _free_from(
    flow: FunctionCfg,
    starts: Iterable[CfgNode],
    barred: Container[CfgNode],
    barred_edges: Container[_Edge],
) -> set[CfgNode]:
    """Return the nodes reachable from the start nodes without passing a barred node or edge."""
    alive = flow.can_succeed
    found = {node for node in starts if node not in barred and node in alive}
    waiting = list(found)
    while waiting:
        node = waiting.pop()
        for after in node.successors():
            is_open = after in alive and after not in barred and (node, after) not in barred_edges
            if is_open and after not in found:
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
