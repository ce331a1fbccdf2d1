"""Names of the operations that a computation has as leaves, and the sources of those."""

from typing import Final

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
