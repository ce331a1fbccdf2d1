"""ABI encoding and decoding by canonical signatures: calldata, event topics, tuples of values.

A signature is `transfer(address,uint256)`, with structs as `(address,uint24)`. Words, static
structs and arrays of both, which nearly all simulated calls take, have a separate encoder. It takes
a fraction of the time of eth_abi, which handles all other types and names the fault of an invalid
value. Source: Solidity documentation, "Contract ABI Specification".
"""

import re
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import cast

from eth_abi.abi import decode, encode
from eth_abi.grammar import ABIType, BasicType, TupleType, parse

from core.evm.keccak import keccak
from core.evm.primitives import Address, Hash32, Selector

_WORD_DIGITS = 64
_WORD_BYTES = 32
_PADDING = "0" * 24
_ADDRESS = re.compile("0x[0-9a-f]{40}")

Encode = Callable[[object], str | None]
"""A value as hex. None: not a value of its type in the one form that is encoded here."""


def encode_words(types: Sequence[str], values: Sequence[object]) -> str | None:
    """Return values as hex without 0x. None: a type or a value that eth_abi has to see."""
    if len(types) != len(values):
        return None
    plans = [_plan(kind) for kind in types]
    heads: list[str] = []
    tails: list[tuple[int, str]] = []
    for plan, value in zip(plans, values, strict=True):
        if plan is None:
            return None
        encode, is_dynamic = plan
        words = encode(value)
        if words is None:
            return None
        if is_dynamic:
            tails.append((len(heads), words))
            heads.append("0" * _WORD_DIGITS)
        else:
            heads.append(words)
    at_byte = sum(map(len, heads)) // 2
    for index, words in tails:
        heads[index] = f"{at_byte:064x}"
        at_byte += len(words) // 2
    return "".join(heads) + "".join(words for _, words in tails)


@cache
def _plan(kind: str) -> tuple[Encode, bool] | None:
    """Encoding of a type, and true if its words follow all heads. None: not supported here."""
    parsed = parse(kind)
    if not parsed.is_array:
        encode = _static(parsed)
        return None if encode is None else (encode, False)
    item = None if parsed.arrlist != ((),) else _static(parsed.item_type)
    return None if item is None else (_array_of(item), True)


def _static(parsed: ABIType) -> Encode | None:
    if parsed.is_array:
        return None
    if isinstance(parsed, TupleType):
        parts = [_static(component) for component in parsed.components]
        known = [part for part in parts if part is not None]
        return _struct_of(known) if len(known) == len(parts) else None
    return _word_of(parsed) if isinstance(parsed, BasicType) else None


def _word_of(parsed: BasicType) -> Encode | None:
    match parsed.base, parsed.sub:
        case "address", _:
            return _address
        case "bool", _:
            return _bool
        case "uint", int(bits):
            return _integers(0, 1 << bits)
        case "int", int(bits):
            return _integers(-1 << (bits - 1), 1 << (bits - 1))
        case "bytes", 32:
            return _bytes32
        case _:
            return None


def _address(value: object) -> str | None:
    is_plain = isinstance(value, str) and _ADDRESS.fullmatch(value)
    return _PADDING + str(value)[2:] if is_plain else None


def _bool(value: object) -> str | None:
    return f"{value:064x}" if isinstance(value, bool) else None


def _bytes32(value: object) -> str | None:
    return value.hex() if isinstance(value, bytes) and len(value) == _WORD_BYTES else None


def _integers(least: int, end: int) -> Encode:
    def encode(value: object) -> str | None:
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value < end:
            return None
        return f"{value % (1 << 256):064x}"

    return encode


def _struct_of(parts: Sequence[Encode]) -> Encode:
    def encode(value: object) -> str | None:
        if not isinstance(value, tuple) or len(value) != len(parts):
            return None
        words = [part(field) for part, field in zip(parts, value, strict=True)]
        return _joined(words)

    return encode


def _array_of(item: Encode) -> Encode:
    def encode(value: object) -> str | None:
        if not isinstance(value, list | tuple):
            return None
        words = _joined([item(one) for one in value])
        return None if words is None else f"{len(value):064x}{words}"

    return encode


def _joined(words: Sequence[str | None]) -> str | None:
    """All words in one. None: one of them is missing."""
    known = [word for word in words if word is not None]
    return "".join(known) if len(known) == len(words) else None


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
