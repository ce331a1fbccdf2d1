"""Protects built calls and addresses: they equal published values, eth_abi and eth-utils."""

import pytest
from eth_abi.abi import decode, encode
from eth_abi.exceptions import DecodingError, ParseError
from eth_abi.grammar import parse
from eth_utils.address import is_hex_address, to_checksum_address
from hypothesis import example, given
from hypothesis import strategies as st

from assay.demo.transaction_pipeline import created2_address, created_address
from core.errors import InvalidAddressError
from core.evm.abi import (
    AbiError,
    argument_types,
    call_data,
    decode_bytes,
    decode_values,
    decode_words,
    encode_values,
    encode_words,
    slice_bytes,
    topic_of,
)
from core.evm.abi_types import AbiTypeError, parse_type
from core.evm.primitives import Address, checksum, parse_address

SENDER = Address("0x6ac7ea33f8831ea9dcc53393aaa88b25a785dbf0")


def test_selectors_and_topics_are_the_published_ones() -> None:
    assert call_data("totalSupply()") == "0x18160ddd"
    assert call_data("transfer(address,uint256)", SENDER, 1)[:10] == "0xa9059cbb"
    transfer = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"
    assert topic_of("Transfer(address,address,uint256)") == transfer


@pytest.mark.parametrize(
    ("signature", "types"),
    [
        ("f()", ()),
        ("f(uint256)", ("uint256",)),
        ("f((address,bool)[],bytes)", ("(address,bool)[]", "bytes")),
    ],
)
def test_a_signature_says_its_types(signature: str, types: tuple[str, ...]) -> None:
    assert argument_types(signature) == types


@given(st.lists(st.integers(0, 2**256 - 1), max_size=4), st.binary(max_size=70))
def test_what_is_encoded_decodes_to_itself(numbers: list[int], blob: bytes) -> None:
    encoded = encode_values(["uint256[]", "bytes"], [numbers, blob])
    assert decode_values("(uint256[],bytes)", "0x" + encoded) == (tuple(numbers), blob)


@pytest.mark.parametrize(
    ("nonce", "address"),
    [
        # Known contracts of this sender, computed by the yellow paper's rule.
        (0, "0xcd234a471b72ba2f1ccf0a70fcaba648a5eecd8d"),
        (1, "0x343c43a37d37dff08ae8c4a11544c718abb4fcf8"),
        (2, "0xf778b86fa74e846c4f0a1fbd1335fe81c00a0c91"),
        (3, "0xfffd933a0bc612844eaf0c6fe3e5b8e9b6c1d19c"),
    ],
)
def test_created_addresses_are_the_known_ones(nonce: int, address: str) -> None:
    assert created_address(SENDER, nonce) == address


def test_create2_addresses_are_those_of_the_eips_examples() -> None:
    zero = Address("0x" + "0" * 40)
    assert (
        created2_address(zero, salt=bytes(32), creation="00")
        == "0x4d1a2e2bb4f88f0250f26ffff098b0b30b26bf38"
    )
    assert (
        created2_address(
            Address("0x00000000000000000000000000000000deadbeef"),
            salt=bytes.fromhex("cafebabe".rjust(64, "0")),
            creation="deadbeef",
        )
        == "0x60f3f640a8508fc6a86d45df051962668e1e8ac7"
    )


# --- abi encoder --------------------------------------------------------------------------------

Typed = tuple[str, object]

HEX = "0123456789abcdef"

ADDRESSES = st.text(HEX, min_size=40, max_size=40).map(lambda digits: "0x" + digits)

BITS = st.integers(1, 32).map(lambda count: 8 * count)


def of_type(kind: str, values: st.SearchStrategy[object]) -> st.SearchStrategy[Typed]:
    return values.map(lambda value: (kind, value))


WORDS: st.SearchStrategy[Typed] = st.one_of(
    of_type("address", ADDRESSES),
    of_type("bool", st.booleans()),
    of_type("bytes32", st.binary(min_size=32, max_size=32)),
    BITS.flatmap(lambda bits: of_type(f"uint{bits}", st.integers(0, 2**bits - 1))),
    BITS.flatmap(
        lambda bits: of_type(f"int{bits}", st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1))
    ),
)


def joined(parts: list[Typed]) -> Typed:
    return f"({','.join(kind for kind, _ in parts)})", tuple(value for _, value in parts)


STATIC = st.recursive(WORDS, lambda inner: st.lists(inner, min_size=1, max_size=4).map(joined))

ARRAYS = st.tuples(STATIC, st.integers(0, 4)).map(
    lambda pair: (pair[0][0] + "[]", [pair[0][1]] * pair[1])
)


DYNAMIC: st.SearchStrategy[Typed] = st.one_of(
    of_type("bytes", st.binary(max_size=70)),
    of_type("string", st.text(max_size=40)),
    of_type("bytes[]", st.lists(st.binary(max_size=40), max_size=3)),
    of_type("string[]", st.lists(st.text(max_size=12), max_size=3)),
)


@given(st.lists(STATIC | ARRAYS | DYNAMIC, max_size=6))
def test_words_are_those_of_eth_abi(parts: list[Typed]) -> None:
    types, values = [kind for kind, _ in parts], [value for _, value in parts]
    assert encode_words(types, values) == encode(types, values).hex()


OTHER = [
    ("bytes4", b"\1\2\3\4"),
    ("uint8[2]", [1, 2]),
    ("uint8[][]", [[1], [2, 3]]),
    ("(uint256,bytes)", (1, b"\2")),
    ("(uint256,uint8[])", (1, [2])),
    ("address", "0x" + "Ab" * 20),
    ("address", b"\1" * 20),
]


@pytest.mark.parametrize(("kind", "value"), OTHER)
def test_all_else_is_left_to_eth_abi(kind: str, value: object) -> None:
    assert encode_words(["uint256", kind], [7, value]) is None
    assert (
        encode_values(["uint256", kind], [7, value]) == encode(["uint256", kind], [7, value]).hex()
    )


WRONG = [
    ("uint8", 256),
    ("uint256", -1),
    ("uint256", True),
    ("int24", 1 << 23),
    ("int24", -(1 << 23) - 1),
    ("bool", 1),
    ("address", "0x1234"),
    ("bytes32", b"\1" * 33),
    ("(uint8,bool)", (1,)),
    ("uint8[]", 1),
    ("bytes", "0x1234"),
    ("string", b"text"),
    ("bytes[]", [b"", 1]),
]


@pytest.mark.parametrize(("kind", "value"), WRONG)
def test_wrong_values_are_refused_as_ever(kind: str, value: object) -> None:
    with pytest.raises(AbiError):
        call_data(f"f({kind})", value)


def test_a_wrong_count_is_refused() -> None:
    with pytest.raises(AbiError):
        call_data("f(uint256,bool)", 1)


# --- abi types and decoder ---------------------------------------------------------------------

BASIC = st.sampled_from(["uint256", "address", "bytes4", "uint", "string", "uint7", "a1b"])

TYPES = st.recursive(
    BASIC,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: f"({','.join(parts)})"),
        st.tuples(inner, st.sampled_from(["[]", "[3]", "[0]", "[][12]", "]"])).map("".join),
    ),
)


@given(TYPES | st.text("(),[]0129uintbytes ", max_size=12))
@example("(" * 31 + "bool" + ")" * 31)
@example("(address),(bool)")
@example("uint256(bool)")
def test_types_are_those_of_eth_abi(text: str) -> None:
    try:
        expected = parse(text)
    except (ParseError, ValueError):  # the latter for ()
        with pytest.raises(AbiTypeError):
            parse_type(text)
        return
    found = parse_type(text)
    assert found.name == expected.to_type_str() == text
    assert bool(found.arrays) == expected.is_array


def test_structs_without_end_are_refused() -> None:
    with pytest.raises(AbiTypeError):
        parse_type("(" * 5_000 + "bool" + ")" * 5_000)


DECODED = (
    "address",
    "bool",
    "bytes32",
    "uint8",
    "uint256",
    "int24",
    "int256",
    "uint160[]",
    "bool[]",
)


@given(
    st.lists(st.sampled_from(DECODED), max_size=3),
    st.lists(st.sampled_from([0, 1, 2, 32, 64, 96, 128, 2**24, 2**256 - 1, 2**255]), max_size=7),
    st.binary(max_size=33),
)
def test_decoded_words_are_those_of_eth_abi(
    types: list[str], words: list[int], rest: bytes
) -> None:
    data = b"".join(word.to_bytes(32) for word in words) + rest
    signature = f"({','.join(types)})"
    try:
        expected = decode(types, data)
    except (DecodingError, OverflowError):
        with pytest.raises(AbiError):
            decode_bytes(signature, data)
        return
    assert decode_bytes(signature, data) == expected
    assert decode_words(types, data) == expected


@given(
    st.sampled_from([32, 33, 63, 64, 2**255]),
    st.sampled_from([0, 1, 5, 32, 33, 2**20]),
    st.binary(max_size=70),
)
def test_sliced_bytes_are_those_of_eth_abi(offset: int, length: int, rest: bytes) -> None:
    data = offset.to_bytes(32) + length.to_bytes(32) + rest
    try:
        (expected,) = decode(["bytes"], data, strict=False)
    except (DecodingError, OverflowError):
        expected = None
    assert slice_bytes(data, may_be_cut=True) == expected
    if offset == 32:
        assert slice_bytes(data) == (expected if length <= len(rest) else None)


# --- addresses ----------------------------------------------------------------------------------

WORD = st.binary(min_size=20, max_size=20).map(lambda raw: "0x" + raw.hex())


@given(WORD)
def test_the_checksum_is_that_of_eip_55(text: str) -> None:
    assert checksum(parse_address(text)) == to_checksum_address(text)
    assert parse_address(checksum(parse_address(text))) == text
    assert parse_address("0X" + text[2:].upper()) == text


@given(st.text(max_size=44) | st.from_regex(r"0[xX]?[0-9a-gA-F]{38,42}\n?", fullmatch=True))
@example("0x" + "\N{FULLWIDTH DIGIT ONE}" * 40)
@example("0x" + "1" * 40 + "\n")
@example("0x" + "1" * 39 + "\N{LATIN SMALL LETTER LONG S}")
def test_what_is_no_address_is_refused(text: str) -> None:
    if text.isascii() and text[:1] == "0" and text[1:2] in ("x", "X") and is_hex_address(text):
        assert parse_address(text) == text.lower()
        return
    with pytest.raises(InvalidAddressError):
        parse_address(text)


@given(st.binary(min_size=20, max_size=20))
def test_mixed_case_is_that_of_the_reference(raw: bytes) -> None:
    address = Address("0x" + raw.hex())
    assert checksum(address) == to_checksum_address(address)
