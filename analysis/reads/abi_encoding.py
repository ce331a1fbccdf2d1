"""Calldata and topics from their canonical signatures, so that no selector is typed by hand."""

from functools import cache, lru_cache
from typing import cast

from eth_abi.abi import encode
from eth_abi.grammar import TupleType, parse
from eth_hash.auto import keccak

from config.primitives import Hash32, Selector


@cache
def selector_of(signature: str) -> Selector:
    """First four bytes of the hash of `name(type,...)`."""
    return Selector("0x" + keccak(signature.encode())[:4].hex())


@cache
def topic_of(signature: str) -> Hash32:
    """Topic 0 of the event `Name(type,...)`."""
    return Hash32("0x" + keccak(signature.encode()).hex())


def call_data(signature: str, *arguments: object) -> str:
    """0x calldata of one call of `name(type,...)`."""
    try:
        return _remembered(signature, arguments)
    except TypeError:  # a list among them, which no memory takes
        return _encoded(signature, arguments)


def _encoded(signature: str, arguments: tuple[object, ...]) -> str:
    return selector_of(signature) + encode(argument_types(signature), arguments).hex()


# Simulations ask the same of the same people over and over.
_remembered = lru_cache(maxsize=8_192)(_encoded)


@cache
def argument_types(signature: str) -> tuple[str, ...]:
    """The types between a signature's outer brackets."""
    arguments = signature[signature.index("(") :]
    if arguments == "()":
        return ()
    parsed = cast("TupleType", parse(arguments))
    return tuple(component.to_type_str() for component in parsed.components)
