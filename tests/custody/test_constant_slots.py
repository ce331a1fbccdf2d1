"""Constant slots: those of standards have names, all other hashes may be entries of mappings."""

from hypothesis import given
from hypothesis import strategies as st

from analysis.static.token_model.storage.constant_slots import may_be_entry
from core.evm.keccak import keccak

NAMED = (
    0x360894A13BA1A3210667C828492DB98DCA3E2076CC3735A920A3CA505D382BBC,
    0xB53127684A568B3173AE13B9F8A6016E243E63B6E8EE1178D6A717850B5D6103,
    0x52C63247E1F47DB19D5CE0460030C497F067CA4CEBF71BA98EEADABE20BACE00,
    0x9016D09D72D40FDAE2FD8CEAC6B6234C7706214FD39C1CD1E609A0528C199300,
    0x7050C9E0F4CA769C69BD3A8EF740BC37934F8E2C036E5A723FD8EE048ED3F8C3,
    0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF74873927,
)
"""Source: ERC-1967, OpenZeppelin 5, ZeppelinOS, Solady's Ownable."""


def test_slots_of_standards_are_no_entries() -> None:
    assert [slot for slot in NAMED if may_be_entry(slot) or may_be_entry(slot + 1)] == []


@given(st.integers(0, 2**160 - 1), st.integers(0, 255))
def test_a_hashed_key_may_be_an_entry(account: int, root: int) -> None:
    slot = keccak(account.to_bytes(32) + root.to_bytes(32))
    assert may_be_entry(int.from_bytes(slot))


@given(st.integers(0, 2**64 - 1))
def test_a_numbered_variable_is_none(slot: int) -> None:
    assert not may_be_entry(slot)
