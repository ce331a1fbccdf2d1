"""Primitive types of the domain: addresses, hashes, raw amounts, blocks."""

import re
from functools import lru_cache
from typing import NewType

import msgspec

from core.errors import InvalidAddressError
from core.evm.keccak import keccak

Address = NewType("Address", str)
"""0x and 40 lower-case hex digits. Rendered with `checksum` in output for people only."""

Hash32 = NewType("Hash32", str)
"""0x and 64 lower-case hex digits: block hash, topic, V4 pool id, code hash, storage slot."""

HexBytes = NewType("HexBytes", str)
"""0x and an even number of lower-case hex digits, of any length."""

Selector = NewType("Selector", str)
"""0x and 8 lower-case hex digits: the first four bytes of a call's data."""

RawAmount = NewType("RawAmount", int)
"""An amount in a token's smallest unit, 0 to 2**256 - 1."""

ZERO_ADDRESS = Address("0x" + "0" * 40)
"""Means "no address" in ABI results, and the native coin in V4 pool keys."""

ADDRESS_BITS = 160
ADDRESS_MASK = (1 << ADDRESS_BITS) - 1
"""The low bits of a word that hold an address."""

_ADDRESS = re.compile("0[xX][0-9a-fA-F]{40}")
_UPPER_FROM = "8"
"""First digit of the hash, in the order of text as of numbers, for which a letter is upper-case."""


class BlockRef(msgspec.Struct, frozen=True, kw_only=True):
    """One block, with the fields needed for following and pinning."""

    number: int
    hash: Hash32
    parent_hash: Hash32
    time_s: int
    """Unix seconds from the block header."""


def to_hash32(number: int) -> Hash32:
    """Return a word, a storage slot or a storage value as JSON-RPC takes it."""
    return Hash32(f"0x{number:064x}")


def address_of(word: int) -> Address | None:
    """Return the address a word holds. None: its upper twelve bytes are not zero."""
    return None if word >> ADDRESS_BITS else Address(f"0x{word:040x}")


def low_address(word: int) -> Address:
    """Return the address in the low 160 bits of a word, whatever is above."""
    return Address(f"0x{word & ADDRESS_MASK:040x}")


def parse_address(text: str) -> Address:
    """Parse an address in any letter case; its checksum is not checked.

    Raises InvalidAddressError for anything but 0x and exactly 40 hex digits.
    """
    if not _ADDRESS.fullmatch(text):
        raise InvalidAddressError(text=text)
    return Address(text.lower())


@lru_cache(maxsize=4_096)
def checksum(address: Address) -> str:
    """Return the address in the mixed-case form of EIP-55.

    Computed here: eth-utils takes 0.2 s to load, and every command checks the chain files.
    """
    digits = address[2:]
    hashed = keccak(digits.encode()).hex()
    return "0x" + "".join(
        digit.upper() if nibble >= _UPPER_FROM else digit
        for digit, nibble in zip(digits, hashed, strict=False)
    )
