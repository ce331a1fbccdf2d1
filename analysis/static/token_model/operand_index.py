"""Index of the operands recorded in the CFG: calls by program counter, and transient stores."""

from collections.abc import Iterator

import msgspec

from analysis.static.evm.cfg import CfgNode, Effect, FunctionId
from analysis.static.evm.expressions import Expr, Value
from analysis.static.evm.instruction_effects import ECRECOVER
from analysis.static.evm.operand_records import INPUT, LAST_PRECOMPILE, STORED
from analysis.static.token_model.contract_model import ContractModel
from analysis.static.token_model.memoize import cached_on_model

_MOST_LEFT = 50_000
"""Gas that old compilers keep back from a call. With less left the trade fails anyway."""

_SELECTOR_SHIFT = 224
_SURE_PRECOMPILES = range(1, 5)
"""Precompiles that fail without enough gas only: signatures, two hashes, the identity."""

_FIXED_ANSWERS = range(2, 5)
"""Those whose answer's length does not depend on the content of the input."""


class CallOperands(msgspec.Struct, frozen=True, kw_only=True):
    """Operands of one call."""

    target: Value
    value: Value
    """Coins sent, in wei."""
    gas: Value
    length: Value
    content: tuple[Value, ...]
    """Input of a precompile, empty if it is not known; of a contract the first sixteen words of
    arguments, or as many of them as the length has room for."""

    @property
    def is_to_precompile(self) -> bool:
        """True for the addresses below 0x200."""
        return isinstance(self.target, int) and self.target <= LAST_PRECOMPILE

    def deciding(self) -> tuple[Value, ...] | None:
        """Return the operands that may make the call fail, apart from the callee's behaviour. None:
        the input of a precompile is not known."""
        gas = () if _is_all_gas(self.gas) or self._is_stipend() else (self.gas,)
        if not self.is_to_precompile:
            return gas
        if self.target in _SURE_PRECOMPILES:
            return (*gas, self.length) if gas else ()
        if not self.content and self.length != 0:
            return None
        return (*gas, self.length, *self.content)

    def _is_stipend(self) -> bool:
        """True for the gas of `transfer` and `send`: 2300 in all, whatever the value."""
        match self.gas:
            case Expr(operation="MUL", arguments=(int(), Expr(operation="ISZERO") as test)):
                return test.arguments[0] is self.value
        return False

    def sizing(self) -> tuple[Value, ...] | None:
        """Return the operands of a precompile that decide how much data it returns.

        None: not known.
        """
        if self.target not in _FIXED_ANSWERS:
            return self.deciding() if self.target != ECRECOVER else self.content or None
        return (self.length,) if _is_all_gas(self.gas) else (self.gas, self.length)


def read_call(operand: Effect) -> CallOperands:
    """Return the operands of a call from their record, of kind INPUT."""
    target, value, gas, length, *content = operand.words
    return CallOperands(target=target, value=value, gas=gas, length=length, content=tuple(content))


def _is_all_gas(word: Value) -> bool:
    if not isinstance(word, Expr):
        return False
    if word.operation == "SUB":
        first, less = word.arguments
        return isinstance(less, int) and less <= _MOST_LEFT and _is_all_gas(first)
    return word.operation == "GAS"


class OperandIndex:
    """The recorded operands of one contract, on paths that can succeed."""

    def __init__(self, code: ContractModel) -> None:
        self.calls: dict[tuple[FunctionId, int], list[CallOperands]] = {}
        """Operands by function and program counter."""
        self.precompiles: dict[FunctionId, list[CallOperands]] = {}
        """Calls to precompiles by function."""
        self.selectors: dict[tuple[FunctionId, int], set[int | None]] = {}
        """Selectors that are called, by function and program counter. None: not known."""
        self.stores: list[tuple[FunctionId, CfgNode, Effect]] = []
        """Transient stores."""
        for entry, effect in code.calls():
            if effect.kind == "LOG":
                continue
            head = code.dependencies.single_value(effect.words[1])
            selector = head >> _SELECTOR_SHIFT if isinstance(head, int) else None
            self.selectors.setdefault((entry, effect.pc), set()).add(selector)
        for entry in code.functions.entries:
            for node, operand in code.functions.cfg(entry).operands():
                if operand.kind == STORED:
                    self.stores.append((entry, node, operand))
                elif operand.kind == INPUT:
                    self._add(entry, operand)

    def _add(self, entry: FunctionId, operand: Effect) -> None:
        call = read_call(operand)
        known = self.calls.setdefault((entry, operand.pc), [])
        if call not in known:
            known.append(call)
            if call.is_to_precompile:
                self.precompiles.setdefault(entry, []).append(call)

    def stores_to(self, slot: Value) -> Iterator[tuple[FunctionId, Value]]:
        """Yield function and value of each transient store that may be to this slot."""
        found = {
            (entry, store.words[1]): None
            for entry, _, store in self.stores
            if _may_be_same(store.words[0], slot)
        }
        yield from found


def _may_be_same(one: Value, other: Value) -> bool:
    return one is other or not (isinstance(one, int) and isinstance(other, int)) or one == other


def operand_index(code: ContractModel) -> OperandIndex:
    """Return the contract's index."""
    [found] = _indexes(code)
    return found


@cached_on_model
def _indexes(code: ContractModel) -> Iterator[OperandIndex]:
    yield OperandIndex(code)
