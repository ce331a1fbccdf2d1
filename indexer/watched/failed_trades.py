"""Causes of failed trades, as far as they can be found. Pure.

A receipt has no reason, so the call is repeated on the state before the block and its error is
taken as the reason. That is not certain, as other transactions of the block came first.
"""

from typing import Final, Literal

import msgspec

from core.evm.abi import selector_of
from core.rpc.headers import Header
from core.rpc.messages import RpcAnswer, RpcFault, RpcRequest
from indexer.watched.transactions import BlockTransaction, Receipt

FailureCause = Literal["slippage", "deadline", "gas", "unknown"]
"""slippage, deadline, gas: limits of the trade itself. unknown: anything else, the token included.
"""


class TradeFailure(msgspec.Struct, frozen=True, kw_only=True):
    """Cause of a failed trade."""

    cause: FailureCause
    error: str
    """Error of the repeated call."""


_TEXTS: Final[tuple[tuple[str, FailureCause], ...]] = (
    ("INSUFFICIENT_OUTPUT_AMOUNT", "slippage"),
    ("EXCESSIVE_INPUT_AMOUNT", "slippage"),
    ("Too little received", "slippage"),
    ("Too much requested", "slippage"),
    ("EXPIRED", "deadline"),
    ("Transaction too old", "deadline"),
)
"""Ends of messages. Sources: Uniswap v2-periphery UniswapV2Router02; v3-periphery SwapRouter,
PeripheryValidation; forks of them put another name in front."""

_ERRORS: Final[dict[str, FailureCause]] = {
    selector_of("V2TooLittleReceived()"): "slippage",
    selector_of("V2TooMuchRequested()"): "slippage",
    selector_of("V3TooLittleReceived()"): "slippage",
    selector_of("V3TooMuchRequested()"): "slippage",
    selector_of("V4TooLittleReceived(uint256,uint256)"): "slippage",
    selector_of("V4TooMuchRequested(uint256,uint256)"): "slippage",
    selector_of("TransactionDeadlinePassed()"): "deadline",
}
"""Source: Uniswap universal-router, V2SwapRouter, V3SwapRouter, UniversalRouter; v4-periphery."""

_ERROR_TEXT: Final = selector_of("Error(string)")
_SELECTOR_CHARS: Final = 10
_MOST_TOLD: Final = 200

RouterSide = Literal["buy", "sell", "unknown"]

_PATHS: Final[dict[bytes, int]] = {
    bytes.fromhex(selector_of(f"{name}({types})")[2:]): types.split(",").index("address[]")
    for name, types in (
        ("swapExactTokensForTokens", "uint256,uint256,address[],address,uint256"),
        ("swapTokensForExactTokens", "uint256,uint256,address[],address,uint256"),
        ("swapExactETHForTokens", "uint256,address[],address,uint256"),
        ("swapTokensForExactETH", "uint256,uint256,address[],address,uint256"),
        ("swapExactTokensForETH", "uint256,uint256,address[],address,uint256"),
        ("swapETHForExactTokens", "uint256,address[],address,uint256"),
        (
            "swapExactTokensForTokensSupportingFeeOnTransferTokens",
            "uint256,uint256,address[],address,uint256",
        ),
        (
            "swapExactETHForTokensSupportingFeeOnTransferTokens",
            "uint256,address[],address,uint256",
        ),
        (
            "swapExactTokensForETHSupportingFeeOnTransferTokens",
            "uint256,uint256,address[],address,uint256",
        ),
    )
}
"""Position of the path among the arguments. Source: Uniswap v2-periphery IUniswapV2Router02."""

_PAIRS: Final[dict[bytes, int | None]] = {
    bytes.fromhex(selector_of(f"{name}({types})")[2:]): place
    for name, types, place in (
        (
            "exactInputSingle",
            "(address,address,uint24,address,uint256,uint256,uint256,uint160)",
            5,
        ),
        ("exactInputSingle", "(address,address,uint24,address,uint256,uint256,uint160)", 4),
        (
            "exactOutputSingle",
            "(address,address,uint24,address,uint256,uint256,uint256,uint160)",
            None,
        ),
        ("exactOutputSingle", "(address,address,uint24,address,uint256,uint256,uint160)", None),
    )
}
"""Functions that begin with input and output token, with the position of the amount to sell; None:
no such argument. Sources: Uniswap v3-periphery ISwapRouter, swap-router-contracts IV3SwapRouter."""

_EXACT_INPUTS: Final = frozenset(
    bytes.fromhex(selector_of(f"{name}(uint256,uint256,address[],address,uint256)")[2:])
    for name in (
        "swapExactTokensForTokens",
        "swapExactTokensForETH",
        "swapExactTokensForTokensSupportingFeeOnTransferTokens",
        "swapExactTokensForETHSupportingFeeOnTransferTokens",
    )
)
"""Functions whose first argument is the amount to sell. Source: as _PATHS."""

_SELECTOR_BYTES: Final = 4
_WORD: Final = 32
_MOST_HOPS: Final = 16


def explain(transaction: BlockTransaction, receipt: Receipt, again: RpcAnswer) -> TradeFailure:
    """Return the cause of a failed trade. `again`: the answer to the same call on the state before
    its block."""
    if receipt.gas_used >= transaction.gas:
        return TradeFailure(cause="gas", error="all gas was used")
    if not isinstance(again, RpcFault):
        return TradeFailure(cause="unknown", error="it passes on the block before")
    data = again.data or ""
    error = _text(again)
    by_text = (cause for end, cause in _TEXTS if error.endswith(end))
    cause = _ERRORS.get(data[:_SELECTOR_CHARS]) or next(by_text, None) or "unknown"
    return TradeFailure(cause=cause, error=error)


def again_request(transaction: BlockTransaction, header: Header) -> RpcRequest:
    """Return the request that repeats a transaction's call on the state before its block."""
    call = {
        "from": transaction.sender,
        "to": "0x" + transaction.to.hex(),
        "data": "0x" + transaction.data.hex(),
        "gas": hex(transaction.gas),
        "value": hex(transaction.value_wei),
    }
    return RpcRequest("eth_call", (call, {"blockHash": header.ref.parent_hash}))


def side_of(data: bytes, token: bytes) -> RouterSide:
    """Return the side of a router call for a token. unknown: unknown function, or the token is
    neither first nor last."""
    selector, arguments = data[:_SELECTOR_BYTES], data[_SELECTOR_BYTES:]
    if selector in _PATHS:
        path = _path(arguments, _PATHS[selector])
    elif selector in _PAIRS:
        path = [arguments[at + _WORD - len(token) : at + _WORD] for at in (0, _WORD)]
    else:
        path = []
    if not path or path[0] == path[-1]:
        return "unknown"
    if token == path[0]:
        return "sell"
    return "buy" if token == path[-1] else "unknown"


def sold_raw(data: bytes, token: bytes) -> int | None:
    """Return the amount of a token that a router call sells, in smallest units. None: not a sale,
    or no such argument."""
    if side_of(data, token) != "sell":
        return None
    selector, arguments = data[:_SELECTOR_BYTES], data[_SELECTOR_BYTES:]
    place = 0 if selector in _EXACT_INPUTS else _PAIRS.get(selector)
    if place is None:
        return None
    return int.from_bytes(arguments[place * _WORD : (place + 1) * _WORD])


def _path(arguments: bytes, place: int) -> list[bytes]:
    offset = int.from_bytes(arguments[place * _WORD : (place + 1) * _WORD])
    count = int.from_bytes(arguments[offset : offset + _WORD])
    begin = offset + _WORD
    if count > _MOST_HOPS or len(arguments) < begin + count * _WORD:
        return []
    ends = range(begin + _WORD, begin + (count + 1) * _WORD, _WORD)
    return [arguments[end - 20 : end] for end in ends]


def _text(fault: RpcFault) -> str:
    data = fault.data or ""
    if data.startswith(_ERROR_TEXT):
        return _error_string(data[_SELECTOR_CHARS:]) or fault.message[:_MOST_TOLD]
    if len(data) >= _SELECTOR_CHARS:
        return f"error {data[:_SELECTOR_CHARS]}"
    return fault.message[:_MOST_TOLD]


def _error_string(arguments: str) -> str:
    """Return the text of Error(string). Empty: the arguments are malformed."""
    try:
        raw = bytes.fromhex(arguments)
    except ValueError:
        return ""
    length = int.from_bytes(raw[_WORD : 2 * _WORD])
    return raw[2 * _WORD :][: min(length, _MOST_TOLD)].decode(errors="replace")
