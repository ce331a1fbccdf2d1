"""The burn addresses, loaded from `burn.toml`."""

from pathlib import Path

import msgspec

from config.toml import decode, decode_address, load_toml
from core.evm.primitives import Address

BUILT_IN = Path(__file__).parent / "burn.toml"


class _Burn(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    addresses: tuple[str, ...]


def load_burn_addresses(path: Path = BUILT_IN) -> frozenset[Address]:
    """Return the addresses nobody can spend from. Raises ConfigError with the file and the key."""
    listed = decode(load_toml(path), _Burn, source_of=lambda _: str(path)).addresses
    return frozenset(
        decode_address(text, key=f"addresses[{at}]", source_of=lambda _: str(path))
        for at, text in enumerate(listed)
    )


BURN_ADDRESSES = load_burn_addresses()
