"""ABI encoding and decoding by canonical signatures: calldata, event topics, tuples of values.

A signature is `transfer(address,uint256)`, with structs as `(address,uint24)`.
"""

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import cast

from eth_abi.abi import decode, encode
from eth_abi.grammar import TupleType, parse

from core.evm.abi_encoder import encode_words
from core.evm.keccak import keccak
from core.evm.primitives import Address, Hash32, Selector


@cache
def selector_of(signature: str) -> Selector:
    """Return the first four bytes of the hash of `name(type,...)`."""
    return Selector("0x" + keccak(signature.encode())[:4].hex())


@cache
def topic_of(signature: str) -> Hash32:
    """Return topic 0 of the event `Name(type,...)`."""
    return Hash32("0x" + keccak(signature.encode()).hex())


def address_word(address: Address) -> str:
    """Return an address as a word in hex, as topics and slots have it."""
    return "0x" + address[2:].rjust(64, "0")


def call_data(signature: str, *arguments: object) -> str:
    """Return 0x calldata of a call of `name(type,...)`."""
    try:
        return _remembered(signature, arguments)
    except TypeError:  # an argument is a list, which no cache can hash
        return _encoded(signature, arguments)


def _encoded(signature: str, arguments: tuple[object, ...]) -> str:
    return selector_of(signature) + encode_values(argument_types(signature), arguments)


# Simulations repeat the same calls with the same accounts.
_remembered = lru_cache(maxsize=8_192)(_encoded)


@cache
def argument_types(signature: str) -> tuple[str, ...]:
    """Return the types between a signature's outer brackets."""
    arguments = signature[signature.index("(") :]
    if arguments == "()":
        return ()
    parsed = cast("TupleType", parse(arguments))
    return tuple(component.to_type_str() for component in parsed.components)


def encode_values(types: Sequence[str], values: Sequence[object]) -> str:
    """Return ABI-encoded values as hex without 0x, as constructors take them after their code."""
    words = encode_words(types, values)
    return encode(types, values).hex() if words is None else words


def decode_values(types: str, data: str) -> tuple[object, ...]:
    """Return the values in 0x hex data. `types` in brackets: `(uint256,address)`.

    Raises eth_abi's DecodingError when the data is too short or malformed.
    """
    return tuple(decode(argument_types(types), bytes.fromhex(data.removeprefix("0x"))))
