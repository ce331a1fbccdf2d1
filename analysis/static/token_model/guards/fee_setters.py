"""Fee setters: functions of a Uniswap V4 hook that change the fee of its pool's trades.

A hook changes a dynamic fee by calling its manager, or returns another one from `beforeSwap`. A fee
is low if it is a constant, or its function reverts above a constant, of at most five percent.
"""

from collections.abc import Iterator
from typing import Final

from analysis.static.evm.cfg import Branch, CfgNode, Effect, FunctionId, selector_of
from analysis.static.evm.expressions import Expr, Value
from analysis.static.evm.function_cfg import FunctionCfg
from analysis.static.token_model.atomic_comparisons import atomic_comparisons
from analysis.static.token_model.contract_model import ContractModel
from analysis.static.token_model.operand_index import operand_index
from core.evm.primitives import Selector

_BEFORE_SWAP: Final = 0x575E24B4
_OVERRIDES: Final = 0x400000
"""Bit of the fee that `beforeSwap` returns. Source: v4-core LPFeeLibrary."""
_RETURNED_FEE: Final = 2
"""Index of the fee among the words that `beforeSwap` returns."""

_LOW: Final = 50_000
"""Hundredths of a basis point: five percent."""

_FEE_UPDATE: Final = 0x52759651
"""`updateDynamicLPFee(PoolKey,uint24)`. Source: v4-core IPoolManager."""
_FEE_ARGUMENT: Final = 5
"""Index of the fee, behind the five words of a pool's key."""

_FEE_MASK: Final = 0xFFFFFF
_SELECTOR_SHIFT: Final = 224
_CALLS: Final = frozenset({"CALL", "DELEGATECALL", "CALLCODE"})


def find_fee_setters(code: ContractModel) -> tuple[Selector, ...]:
    """Return the functions that may set a fee which is not shown to be low."""
    found = dict.fromkeys((*_updates(code), *_overrides(code)))
    return tuple(selector_of(entry) for entry in found)


def _updates(code: ContractModel) -> Iterator[FunctionId]:
    for entry in code.functions.entries:
        flow = code.functions.cfg(entry)
        for node, effect in flow.effects():
            if effect.kind in _CALLS and _is_update(code, effect):
                calls = operand_index(code).calls.get((entry, effect.pc), [])
                fees = [
                    call.content[_FEE_ARGUMENT] for call in calls if call.content[_FEE_ARGUMENT:]
                ]
                if not fees or not all(_is_low(code, flow, node, fee) for fee in fees):
                    yield entry


def _overrides(code: ContractModel) -> Iterator[FunctionId]:
    """Yield `beforeSwap` if it may return a fee that is not low."""
    for note in code.notes.returns.values():
        if note.entry == _BEFORE_SWAP:
            words = note.words[_RETURNED_FEE : _RETURNED_FEE + 1] or (None,)
            for word in words:
                values = [] if word is None else code.dependencies.phi_values(word)
                if not values or not all(map(_is_low_override, values)):
                    yield note.entry


def _is_low_override(word: Value) -> bool:
    if not isinstance(word, int):
        return False
    return not word & _OVERRIDES or word & ~_OVERRIDES <= _LOW


def _is_update(code: ContractModel, effect: Effect) -> bool:
    head = code.dependencies.single_value(effect.words[1])
    return not isinstance(head, int) or head >> _SELECTOR_SHIFT == _FEE_UPDATE


def _is_low(code: ContractModel, flow: FunctionCfg, node: CfgNode, fee: Value) -> bool:
    """True if the fee is a low constant, or a test on every path to the node shows it low."""
    fee = _bare(code.dependencies.single_value(fee))
    if isinstance(fee, int):
        return fee <= _LOW
    bounds = {
        (refusal.test.pc, refusal.test.condition): refusal.test.holds
        for refusal in flow.revert_branches()
        if any(
            _bounds(term, fee, is_true=is_true)
            for term, is_true in atomic_comparisons(
                code, refusal.test.condition, holds=refusal.test.holds
            )
        )
    }

    def failing(branch: Branch) -> CfgNode | None:
        holds = bounds.get((branch.pc, branch.condition))
        if holds is None:
            return None
        return branch.if_true if holds else branch.if_false

    return bool(bounds) and node not in flow.reached(failing)


def _bounds(term: Expr, fee: Value, *, is_true: bool) -> bool:
    """True if a revert on this term, with this truth, rejects every fee that is not low."""
    match (term.operation, term.arguments, is_true):
        case ("GT", (word, int(most)), True) | ("LT", (int(most), word), True):
            return _bare(word) is fee and most <= _LOW
        case ("LT", (word, int(least)), False) | ("GT", (int(least), word), False):
            return _bare(word) is fee and least <= _LOW + 1
    return False


def _bare(word: Value) -> Value:
    match word:
        case Expr(operation="AND", arguments=(mask, inner)) if mask == _FEE_MASK:
            return inner
    return word
