"""Protects how addresses are read and shown, in mixed case too, against eth-utils."""

import pytest
from eth_utils.address import is_hex_address, to_checksum_address
from hypothesis import example, given
from hypothesis import strategies as st

from core.errors import InvalidAddressError
from core.evm.primitives import Address, checksum, parse_address

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
