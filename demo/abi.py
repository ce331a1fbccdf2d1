"""Calls and their answers, between Python values and ABI bytes, by function signature."""

from collections.abc import Sequence
from typing import cast

from eth_abi.abi import decode, encode
from eth_abi.grammar import TupleType, parse
from eth_utils.crypto import keccak


def call_data(signature: str, *values: object) -> str:
    """The data of a call as 0x hex.

    `signature` is the canonical one: `transfer(address,uint256)`, structs as `(address,uint24)`.
    """
    return "0x" + (selector(signature) + encode(argument_types(signature), values)).hex()


def selector(signature: str) -> bytes:
    """The first four bytes of the hash of the signature."""
    return keccak(text=signature)[:4]


def argument_types(signature: str) -> list[str]:
    """The types between a signature's outer brackets."""
    return _split(signature[signature.index("(") :])


def topic(event: str) -> str:
    """The first topic of an event, by its canonical signature."""
    return "0x" + keccak(text=event).hex()


def encode_values(types: Sequence[str], values: Sequence[object]) -> str:
    """ABI-encoded values as hex without 0x, as constructors take them behind their code."""
    return encode(types, values).hex()


def decode_values(types: str, data: str) -> tuple[object, ...]:
    """The values in 0x hex data. `types` in brackets: `(uint256,address)`.

    Raises eth_abi's DecodingError when the data is too short or malformed.
    """
    return tuple(decode(_split(types), bytes.fromhex(data.removeprefix("0x"))))


def _split(types: str) -> list[str]:
    if types == "()":
        return []
    return [component.to_type_str() for component in cast(TupleType, parse(types)).components]
