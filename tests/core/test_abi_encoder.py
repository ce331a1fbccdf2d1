"""Protects the fast encoding of calldata: it is eth_abi's to the byte, or left to eth_abi."""

import pytest
from eth_abi.abi import encode
from eth_abi.exceptions import EncodingError
from hypothesis import given
from hypothesis import strategies as st

from core.evm.abi import call_data, encode_values, encode_words

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


@given(st.lists(STATIC | ARRAYS, max_size=6))
def test_words_are_those_of_eth_abi(parts: list[Typed]) -> None:
    types, values = [kind for kind, _ in parts], [value for _, value in parts]
    assert encode_words(types, values) == encode(types, values).hex()


OTHER = [
    ("string", "text"),
    ("bytes", b"\1\2"),
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
]


@pytest.mark.parametrize(("kind", "value"), WRONG)
def test_wrong_values_are_refused_as_ever(kind: str, value: object) -> None:
    with pytest.raises(EncodingError):
        call_data(f"f({kind})", value)


def test_a_wrong_count_is_refused() -> None:
    with pytest.raises(EncodingError):
        call_data("f(uint256,bool)", 1)
