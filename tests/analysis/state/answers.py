"""Answers as a node would send them."""

import msgspec
from eth_abi.abi import encode

from core.rpc.messages import RpcFault

REVERTED = RpcFault(code=3, message="execution reverted", data="0x")
LOST_BLOCK = RpcFault(code=-32000, message="header not found")


def sent(data: bytes) -> msgspec.Raw:
    """Bytes as the result of a read."""
    return msgspec.Raw(f'"0x{data.hex()}"'.encode())


def word(number: int) -> msgspec.Raw:
    """One word as the result of a read."""
    return sent(number.to_bytes(32))


def address(text: str) -> msgspec.Raw:
    """An address in a word."""
    return word(int(text, 16))


def string(text: str) -> msgspec.Raw:
    """An ABI string."""
    return sent(encode(["string"], [text]))


def raw(value: object) -> msgspec.Raw:
    """Any result."""
    return msgspec.Raw(msgspec.json.encode(value))
