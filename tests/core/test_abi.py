"""Protects built calls: selectors and words equal published values of the ABI."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.demo.transaction_pipeline import created2_address, created_address
from core.evm.abi import argument_types, call_data, decode_values, encode_values, topic_of
from core.evm.primitives import Address

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
