"""ABI encoding and decoding by canonical signatures: calldata, event topics, tuples of values.

A signature is `transfer(address,uint256)`, with structs as `(address,uint24)`. Words, static
structs, bytes, strings and arrays of all these, which nearly all simulated calls take, have a
separate encoder; words and arrays of them have a separate decoder. Both take a fraction of the time
of eth_abi, which handles all other types, names the fault of an invalid value, and is imported when
it is needed. Source: Solidity documentation, "Contract ABI Specification".
"""

import re
from collections.abc import Callable, Sequence
from functools import cache, lru_cache

from core.evm.abi_types import AbiType, parse_type, parse_types
from core.evm.keccak import keccak
from core.evm.primitives import Address, Hash32, Selector

_WORD_DIGITS = 64
_WORD_BYTES = 32
_PADDING = "0" * 24
_ADDRESS = re.compile("0x[0-9a-f]{40}")

Encode = Callable[[object], str | None]
"""A value as hex. None: not a value of its type in the one form that is encoded here."""


class AbiError(ValueError):
    """Values do not fit their types, or data does not."""


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


@lru_cache(maxsize=4_096)
def _plan(kind: str) -> tuple[Encode, bool] | None:
    """Encoding of a type, and true if its words follow all heads. None: not supported here."""
    parsed = parse_type(kind)
    if parsed.base in ("bytes", "string") and parsed.size is None:
        blob = _bytes if parsed.base == "bytes" else _string
        if parsed.arrays not in ((), (None,)):
            return None
        return (_array_of_dynamic(blob) if parsed.arrays else blob), True
    if not parsed.arrays:
        encode = _static(parsed)
        return None if encode is None else (encode, False)
    item = None if parsed.arrays != (None,) else _static(parsed.item)
    return None if item is None else (_array_of(item), True)


def _static(parsed: AbiType) -> Encode | None:
    if parsed.arrays:
        return None
    if parsed.parts:
        parts = [_static(part) for part in parsed.parts]
        known = [part for part in parts if part is not None]
        return _struct_of(known) if len(known) == len(parts) else None
    return _word_of(parsed)


def _word_of(parsed: AbiType) -> Encode | None:
    match parsed.base, parsed.size:
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


def _bytes(value: object) -> str | None:
    if not isinstance(value, bytes):
        return None
    digits = -(-len(value) // _WORD_BYTES) * _WORD_DIGITS
    return f"{len(value):064x}{value.hex():0<{digits}}"


def _string(value: object) -> str | None:
    return _bytes(value.encode()) if isinstance(value, str) else None


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


def _array_of_dynamic(item: Encode) -> Encode:
    def encode(value: object) -> str | None:
        if not isinstance(value, list | tuple):
            return None
        parts = [item(one) for one in value]
        heads, at_byte = "", _WORD_BYTES * len(parts)
        for part in parts:
            heads += f"{at_byte:064x}"
            at_byte += len(part or "") // 2
        words = _joined(parts)
        return None if words is None else f"{len(value):064x}{heads}{words}"

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
    """Return the types between a signature's outer brackets. Raises AbiTypeError."""
    return tuple(part.name for part in parse_types(signature[signature.index("(") + 1 : -1]))


def encode_values(types: Sequence[str], values: Sequence[object]) -> str:
    """Return ABI-encoded values as hex without 0x, as constructors take them after their code.

    Raises AbiError.
    """
    words = encode_words(types, values)
    return _encode_any(types, values) if words is None else words


def _encode_any(types: Sequence[str], values: Sequence[object]) -> str:
    from eth_abi.abi import encode  # noqa: PLC0415 - a third of the imports of a command
    from eth_abi.exceptions import EncodingError  # noqa: PLC0415 - as above

    try:
        return encode(types, values).hex()
    except (EncodingError, OverflowError) as error:
        raise AbiError(str(error)) from error


def decode_values(types: str, data: str) -> tuple[object, ...]:
    """Return the values in 0x hex data. `types` in brackets: `(uint256,address)`.

    Raises AbiError when the data is too short or malformed.
    """
    return decode_bytes(types, bytes.fromhex(data.removeprefix("0x")))


def decode_bytes(types: str, data: bytes, *, is_strict: bool = True) -> tuple[object, ...]:
    """As `decode_values`, from bytes. `is_strict`: padding has to be zero."""
    kinds = argument_types(types)
    values = decode_words(kinds, data)
    return _decode_any(kinds, data, is_strict=is_strict) if values is None else values


def _decode_any(types: Sequence[str], data: bytes, *, is_strict: bool) -> tuple[object, ...]:
    from eth_abi.abi import decode  # noqa: PLC0415 - a third of the imports of a command
    from eth_abi.exceptions import DecodingError  # noqa: PLC0415 - as above

    try:
        return tuple(decode(types, data, strict=is_strict))
    except (DecodingError, OverflowError) as error:
        raise AbiError(str(error)) from error


def decode_words(types: Sequence[str], data: bytes) -> tuple[object, ...] | None:
    """Return words and arrays of words. None: a type or data that eth_abi has to see."""
    values: list[object] = []
    for index, kind in enumerate(types):
        parsed = parse_type(kind)
        word = _word_at(data, index * _WORD_BYTES)
        if word is None or parsed.parts or parsed.arrays not in ((), (None,)):
            return None
        if not parsed.arrays:
            value = _value(parsed, word)
        else:
            is_behind = word >= _WORD_BYTES * len(types)  # an offset into the heads is malformed
            value = _items(parsed.item, data, word) if is_behind else None
        if value is None:
            return None
        values.append(value)
    return tuple(values)


def slice_bytes(data: bytes, *, may_be_cut: bool = False) -> bytes | None:
    """Return the one value of type `bytes` or `string` in the data, without a look at its padding.

    Offset and length are only compared with the data at hand, so an absurd one costs nothing.
    `may_be_cut`: the data may end within the value. None: offset or length do not fit the data.
    """
    offset = _word_at(data, 0)
    length = None if offset is None else _word_at(data, offset)
    if offset is None or length is None:
        return None
    start = offset + _WORD_BYTES
    is_whole = start + length <= len(data)
    return data[start : start + length] if is_whole or may_be_cut else None


def _word_at(data: bytes, at: int) -> int | None:
    return int.from_bytes(data[at : at + _WORD_BYTES]) if at + _WORD_BYTES <= len(data) else None


def _items(item: AbiType, data: bytes, at: int) -> tuple[object, ...] | None:
    """Return the words of an array whose length is at a place of the data."""
    count = _word_at(data, at)
    if count is None or at + _WORD_BYTES * (count + 1) > len(data):
        return None
    places = range(at + _WORD_BYTES, at + _WORD_BYTES * (count + 1), _WORD_BYTES)
    found = [_value(item, int.from_bytes(data[place : place + _WORD_BYTES])) for place in places]
    return None if None in found else tuple(found)


def _value(parsed: AbiType, word: int) -> object | None:
    match parsed.base, parsed.size:
        case "address", None if word < 1 << 160:
            return f"0x{word:040x}"
        case "bool", None if word in (0, 1):
            return word == 1
        case "uint", int(bits) if word < 1 << bits:
            return word
        case "int", int(bits):
            number = word - (1 << 256) if word >> 255 else word
            return number if -1 << (bits - 1) <= number < 1 << (bits - 1) else None
        case "bytes", 32:
            return word.to_bytes(32)
        case _:
            return None
