"""Protects the mixed-case form of addresses, which people compare and wallets check."""

from eth_utils.address import to_checksum_address
from hypothesis import given
from hypothesis import strategies as st

from core.evm.primitives import Address, checksum


@given(st.binary(min_size=20, max_size=20))
def test_mixed_case_is_that_of_the_reference(raw: bytes) -> None:
    address = Address("0x" + raw.hex())
    assert checksum(address) == to_checksum_address(address)
