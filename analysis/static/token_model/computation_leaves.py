"""Names of the operations that a computation has as leaves, and the sources of those."""

from typing import Final

from analysis.static.dataflow.dependencies import HASHES, is_own_address
from analysis.static.evm.expressions import FOLDED, Expr, Value, address_in
from analysis.static.token_model.trade_conditions import Source

ENVIRONMENT: Final[dict[str, tuple[str, Source]]] = {
    "TIMESTAMP": ("time", "time"),
    "NUMBER": ("block", "block"),
    "GASPRICE": ("gas_price", "fees"),
    "BASEFEE": ("base_fee", "fees"),
    "BLOBBASEFEE": ("blob_base_fee", "fees"),
    "GASLIMIT": ("gas_limit", "fees"),
    "COINBASE": ("proposer", "proposer"),
    "DIFFICULTY": ("randomness", "randomness"),
    "PREVRANDAO": ("randomness", "randomness"),
    "GAS": ("gas", "gas"),
    "CALLDATASIZE": ("input", "input"),
}

IDENTITY: Final = {"CALLER": "caller", "ORIGIN": "origin", "ADDRESS": "this"}
FIXED: Final = frozenset(
    {"selector", "selector_high", "CODESIZE", "CHAINID", "CALLVALUE", "PC", "MSIZE"}
)


ARITHMETIC: Final = frozenset(
    {"SDIV", "SMOD", "ADDMOD", "MULMOD", "SIGNEXTEND", "SAR", "CLZ", "EXP", "BYTE"}
)


def is_own_purse(word: Value) -> bool:
    """True if the value is the contract's own native balance."""
    if not isinstance(word, Expr):
        return False
    return word.operation == "SELFBALANCE" or (
        word.operation == "BALANCE" and is_own_address(word.arguments[0])
    )


def is_derived(account: Value) -> bool:
    """True if the address is computed, or a hash: no party of a transfer, and no stored address."""
    bare = address_in(account)
    match bare:
        case Expr(operation="SHR", arguments=(int(), Expr(operation="SLOAD"))):
            return False  # a field of a packed slot
        case Expr(operation="DIV", arguments=(Expr(operation="SLOAD"), int())):
            return False
    return isinstance(bare, Expr) and (bare.operation in FOLDED or bare.operation in HASHES)
