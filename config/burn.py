"""Addresses with a meaning on every chain: burn addresses, and contracts of the protocol itself."""

from pathlib import Path
from typing import Literal

import msgspec

from config.toml import decode, decode_address, load_toml
from core.evm.primitives import Address

BUILT_IN = Path(__file__).parent / "burn.toml"


class _Burn(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    addresses: tuple[str, ...]
    bridges: tuple[str, ...] = ()


def load_burn_addresses(path: Path = BUILT_IN) -> frozenset[Address]:
    """Return the addresses nobody can spend from. Raises ConfigError with the file and the key."""
    return _addresses(path, "addresses")


def load_bridges(path: Path = BUILT_IN) -> frozenset[Address]:
    """Return bridges that are part of a chain's protocol, and burn only what their callers hold.
    Raises ConfigError with the file and the key."""
    return _addresses(path, "bridges")


def _addresses(path: Path, key: Literal["addresses", "bridges"]) -> frozenset[Address]:
    listed = decode(load_toml(path), _Burn, source_of=lambda _: str(path))
    return frozenset(
        decode_address(text, key=f"{key}[{at}]", source_of=lambda _: str(path))
        for at, text in enumerate(listed.addresses if key == "addresses" else listed.bridges)
    )


BURN_ADDRESSES = load_burn_addresses()
BRIDGES = load_bridges()
