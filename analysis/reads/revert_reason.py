"""Decodes revert data into a readable reason. Pure.

Source: Solidity documentation, "Panic via assert and Error via require"; ERC-7751 (an error wrapped
by a caller, as Uniswap V4 does with errors of its hooks and currencies); ERC-6093 and the sources
of the exchanges for the names of errors.
"""

from functools import lru_cache
from typing import cast

from core.evm.abi import AbiError, decode_bytes, selector_of, slice_bytes

_ERROR = bytes.fromhex(selector_of("Error(string)")[2:])
_PANIC = bytes.fromhex(selector_of("Panic(uint256)")[2:])
_WRAPPED = bytes.fromhex(selector_of("WrappedError(address,bytes4,bytes,bytes)")[2:])
_SELECTOR_BYTES = 4
_WORD = 32
_LONGEST_SHOWN = 200
_LONGEST_READ = 4_096
_MOST_WRAPPINGS = 4
_MOST_WORDS_SHOWN = 2

_NAMED = (
    # errors of tokens, by ERC-6093 and OpenZeppelin
    "ERC20InsufficientBalance(address,uint256,uint256)",
    "ERC20InsufficientAllowance(address,uint256,uint256)",
    "ERC20InvalidSender(address)",
    "ERC20InvalidReceiver(address)",
    "ERC20InvalidApprover(address)",
    "ERC20InvalidSpender(address)",
    "OwnableUnauthorizedAccount(address)",
    "AccessControlUnauthorizedAccount(address,bytes32)",
    "EnforcedPause()",
    "ReentrancyGuardReentrantCall()",
    "SafeERC20FailedOperation(address)",
    # Solady
    "InsufficientBalance()",
    "InsufficientAllowance()",
    "Unauthorized()",
    # Uniswap V4
    "CurrencyNotSettled()",
    "ERC20TransferFailed()",
    "HookCallFailed()",
    "HookDeltaExceedsSwapAmount()",
    "InvalidHookResponse()",
    "NativeTransferFailed()",
    "NotEnoughLiquidity()",
    "PoolNotInitialized()",
    "PriceLimitAlreadyExceeded(uint160,uint160)",
    "SwapAmountCannotBeZero()",
)
_BY_SELECTOR = {bytes.fromhex(selector_of(signature)[2:]): signature for signature in _NAMED}


def decode_revert(data: bytes, message: str) -> str:
    """Return one readable line of at most 200 characters. `message` is the node's own error
    message."""
    return _line(data[:_LONGEST_READ], message[:_LONGEST_READ])


@lru_cache(maxsize=1_024)  # attempts of many kinds fail alike
def _line(data: bytes, message: str) -> str:
    return _cut(_decode(data, message, _MOST_WRAPPINGS))


def _decode(data: bytes, message: str, wrappings: int) -> str:
    selector, payload = data[:_SELECTOR_BYTES], data[_SELECTOR_BYTES:]
    if selector == _ERROR:
        reason = _text(payload)
        if reason is not None:
            return _printable(reason) or "reverted with an empty reason"
    if selector == _PANIC:
        return f"panic 0x{int.from_bytes(payload[:_WORD], 'big'):02x}"
    if selector == _WRAPPED and wrappings:
        wrapped = _unwrap(payload, wrappings)
        if wrapped is not None:
            return wrapped
    if len(data) >= _SELECTOR_BYTES:
        return _custom(selector, payload)
    return _printable(message) or "reverted without a reason"


def _unwrap(payload: bytes, wrappings: int) -> str | None:
    """Return the failed contract, the function and the reason. None: not encoded so."""
    try:
        found = decode_bytes("(address,bytes4,bytes,bytes)", payload, is_strict=False)
    except AbiError:
        return None
    target, called, reason, details = cast("tuple[str, bytes, bytes, bytes]", found)
    # If the failed call returned no data, only its caller's details are left.
    inner = _decode(reason or details, "", wrappings - 1)
    return f"{target} failed in 0x{called.hex()}: {inner}"


def _custom(selector: bytes, payload: bytes) -> str:
    """Format a custom error with its arguments: by name where it is known, else as raw words."""
    signature = _BY_SELECTOR.get(selector)
    if signature is not None:
        try:
            values = decode_bytes(signature, payload, is_strict=False)
        except AbiError:
            pass
        else:
            shown = (value.hex() if isinstance(value, bytes) else str(value) for value in values)
            return f"{signature[: signature.index('(')]}({', '.join(shown)})"
    words = [payload[at : at + _WORD] for at in range(0, len(payload), _WORD)]
    shown_words = [f"0x{int.from_bytes(word, 'big'):x}" for word in words[:_MOST_WORDS_SHOWN]]
    more = ["..."] if len(words) > _MOST_WORDS_SHOWN else []
    arguments = f"({', '.join(shown_words + more)})" if words else ""
    return f"custom error 0x{selector.hex()}{arguments}"


def _text(payload: bytes) -> str | None:
    raw = slice_bytes(payload, may_be_cut=True)
    return None if raw is None else raw.decode("utf-8", "replace")


def _printable(text: str) -> str:
    return "".join(character if character.isprintable() else " " for character in text).strip()


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 3] + "..."
