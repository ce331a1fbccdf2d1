"""Callee checks: tests of a called contract that compilers and libraries put beside each call."""

from typing import Final

from analysis.static.evm.cfg import FunctionId
from analysis.static.evm.expressions import Expr, Value, address_in
from analysis.static.token_model.contract_model import ContractModel
from analysis.static.token_model.operand_index import operand_index

_CALLS: Final = frozenset({"CALL", "STATICCALL", "DELEGATECALL", "CALLCODE"})
_WORD: Final = 32


def is_code_check(
    code: ContractModel, entry: FunctionId, condition: Value, *, fails_when: bool | None
) -> bool:
    """True if the branch fails only where an address has no code that the function calls.

    What the callee does then counts as a source already. Any other test of an account's code can be
    turned by who puts code there, even at an address that is called.
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
    code: ContractModel, entry: FunctionId, condition: Value, *, may_fail: bool
) -> bool:
    """True if the branch asks whether a callee returned the words that are decoded, or, without
    failing, whether it returned any data that would have to be copied.

    False in a function that calls a precompile: what that returns is its input.
    """
    if operand_index(code).precompiles.get(entry):
        return False
    tested, _ = _zero_test(condition)
    if tested is not None and tested.operation == "RETURNDATASIZE":
        return not may_fail
    while isinstance(condition, Expr) and condition.operation == "ISZERO":
        condition = condition.arguments[0]
    match condition:
        case (
            Expr(operation="LT" | "SLT", arguments=(Expr(operation="RETURNDATASIZE"), int(size)))
            | Expr(operation="GT" | "SGT", arguments=(int(size), Expr(operation="RETURNDATASIZE")))
        ):
            return size % _WORD == 0
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
