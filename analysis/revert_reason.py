"""What a contract said when it reverted. Pure.

Source: Solidity documentation, "Panic via assert and Error via require".
"""

from eth_abi.abi import decode
from eth_abi.exceptions import DecodingError

from analysis.calldata import selector_of

_ERROR = bytes.fromhex(selector_of("Error(string)")[2:])
_PANIC = bytes.fromhex(selector_of("Panic(uint256)")[2:])
_SELECTOR_BYTES = 4
_LONGEST_SHOWN = 200
_LONGEST_READ = 4_096


def decode_revert(data: bytes, message: str) -> str:
    """One line a person can read, at most 200 characters. `message` is the node's own wording."""
    payload = data[_SELECTOR_BYTES:_LONGEST_READ]
    if data[:_SELECTOR_BYTES] == _ERROR:
        reason = _decoded(payload)
        if reason is not None:
            return _printable(reason) or "reverted with an empty reason"
    if data[:_SELECTOR_BYTES] == _PANIC:
        return f"panic 0x{int.from_bytes(payload[:32], 'big'):02x}"
    if len(data) >= _SELECTOR_BYTES:
        return f"custom error 0x{data[:_SELECTOR_BYTES].hex()}"
    return _printable(message) or "reverted without a reason"


def _decoded(payload: bytes) -> str | None:
    try:
        (raw,) = decode(("bytes",), payload, strict=False)
    except (DecodingError, OverflowError):
        return None
    return bytes(raw).decode("utf-8", "replace")


def _printable(text: str) -> str:
    shown = "".join(character if character.isprintable() else " " for character in text).strip()
    return shown if len(shown) <= _LONGEST_SHOWN else shown[: _LONGEST_SHOWN - 3] + "..."
