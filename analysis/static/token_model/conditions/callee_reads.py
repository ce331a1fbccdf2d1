"""Reads of other contracts: state that simulated trades move, or other state.

The code of a router, a pair or a wrapped coin is known, but not its state: anybody can send an
account wrapped coins or approve LP tokens. Trades settle only reads of pools.
"""

from typing import Final

import msgspec

from analysis.static.dataflow.dependencies import HASHES
from analysis.static.evm.cfg import FunctionId
from analysis.static.evm.expressions import Value, address_in
from analysis.static.evm.path_state import BALANCE_OF
from analysis.static.token_model.contract_model import ContractModel
from analysis.static.token_model.operand_index import operand_index
from core.evm.abi import selector_of

_SWAP: Final = "uint256,uint256,address[],address,uint256"
_MOVED_BY_TRADES: Final = frozenset(
    int(selector_of(signature), 16)
    for signature in (
        *("WETH()", "WETH9()", "wNative()", "factory()", "token0()", "token1()", "decimals()"),
        *("getReserves()", "slot0()", "liquidity()", "extsload(bytes32)", "sync()"),
        "getAmountsOut(uint256,address[])",
        *("getAmountsIn(uint256,address[])", "quote(uint256,uint256,uint256)"),
        f"swapExactTokensForETHSupportingFeeOnTransferTokens({_SWAP})",
        f"swapExactTokensForTokensSupportingFeeOnTransferTokens({_SWAP})",
        f"swapExactTokensForETH({_SWAP})",
        f"swapExactTokensForTokens({_SWAP})",
        *(
            f"{name}(uint256,address[],address,uint256)"
            for name in (
                "swapExactETHForTokens",
                "swapExactETHForTokensSupportingFeeOnTransferTokens",
                "swapETHForExactTokens",
            )
        ),
        "addLiquidityETH(address,uint256,uint256,uint256,address,uint256)",
        "addLiquidity(address,address,uint256,uint256,uint256,uint256,address,uint256)",
        "exactInputSingle((address,address,uint24,address,uint256,uint256,uint256,uint160))",
        "exactInputSingle((address,address,uint24,address,uint256,uint256,uint160))",
    )
)
"""Functions whose answers follow from configuration, reserves and prices, and swaps."""

_EXTSLOAD: Final = int(selector_of("extsload(bytes32)"), 16)
_POOLS_SLOT: Final = 6
"""Declared slot of the pools in a pool manager. Source: v4-core StateLibrary."""

_SURE: Final = _MOVED_BY_TRADES | {
    int(selector_of(signature), 16)
    for signature in (
        *("balanceOf(address)", "totalSupply()", "allowance(address,address)", "deposit()"),
        *("transfer(address,uint256)", "approve(address,uint256)", "withdraw(uint256)"),
        *("take(address,address,uint256)", "settle()", "mint(address,uint256,uint256)"),
        *("burn(address,uint256,uint256)", "sync(address)"),
        "updateDynamicLPFee((address,address,uint24,int24,address),uint24)",
    )
}
"""Functions that succeed for the caller whatever other accounts do. Those of pool managers settle
what a hook takes. Source: v4-core IPoolManager."""


class CalleeReads(msgspec.Struct, frozen=True, kw_only=True):
    """Reads of one contract by one function."""

    holders: tuple[Value, ...]
    """Accounts whose balances are read."""
    is_open: bool
    """True if it reads state that trades do not move, or that is not known."""


def reads_of(code: ContractModel, entry: FunctionId, target: Value) -> CalleeReads:
    """Return the reads that an answer of the contract may come from."""
    index = operand_index(code)
    holders: dict[Value, None] = {}
    is_open = False
    for (caller, pc), calls in index.calls.items():
        for call in calls if caller == entry else ():
            if address_in(code.dependencies.single_value(call.target)) != target:
                continue
            first = call.content[0] if call.content else 0
            for selector in index.selectors[entry, pc]:
                if selector == BALANCE_OF:
                    holders[first] = None
                elif selector == _EXTSLOAD:
                    is_open |= not _is_of_pool(code, first)
                else:
                    is_open |= selector not in _MOVED_BY_TRADES
    return CalleeReads(holders=tuple(holders), is_open=is_open)


def _is_of_pool(code: ContractModel, slot: Value) -> bool:
    """True if the slot of a pool manager is part of a pool's state: anybody writes others."""
    keys = [
        term.arguments[-1]
        for term in code.dependencies.subexpressions(slot)
        if term.operation in HASHES and term.arguments
    ]
    return bool(keys) and _POOLS_SLOT in keys


def may_fail(code: ContractModel, entry: FunctionId, pc: int) -> bool:
    """True if the call at `pc` may fail by state of its callee that trades do not move."""
    index = operand_index(code)
    has_input = any(call.length != 0 for call in index.calls.get((entry, pc), ()))
    return has_input and not index.selectors[entry, pc] <= _SURE
