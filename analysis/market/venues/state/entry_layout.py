"""Layouts of managers whose pools are entries: creation event, storage, and pool id.

Source: v4-core IPoolManager, PoolId, StateLibrary; infinity-core ICLPoolManager, PoolId,
CLPoolManager and CLPool (storage layout, as solc lays it out), CLPoolParametersHelper;
IBinPoolManager, BinPoolParametersHelper.
"""

from collections.abc import Callable, Sequence

import msgspec

from config.facts.chain import Dex
from core.evm.abi import topic_of
from core.evm.keccak import keccak
from core.evm.primitives import ZERO_ADDRESS, Address, Hash32

_SPACING_BIT = 16
"""First bit of the tick spacing, or the bin step, in Infinity's `parameters`, whose lowest 16 are
the hook's permissions."""
_SPACING_BITS = 24
"""Bits of the tick spacing. A bin step has 16; the manager rejects keys with higher bits."""


class CreatedKey(msgspec.Struct, frozen=True, kw_only=True):
    """Data of a creation event, without the tokens."""

    fee: int
    """Hundredths of a basis point; 0x800000: a hook sets it."""
    tick_spacing: int
    hooks: Address
    """The zero address: none."""


class EntryLayout(msgspec.Struct, frozen=True, kw_only=True):
    """One release line of managers."""

    created: Hash32
    """Topic 0 of the creation event; the next topics are id, currency 0 and currency 1."""
    read_created: Callable[[Sequence[int]], CreatedKey]
    """Decoder of the words of its data."""
    pools_slot: int
    """Storage slot of the mapping from ids to pool states."""
    key_words: Callable[[Dex, int, int], tuple[int, ...]]
    """The words of a pool's key behind its two currencies, by fee and tick spacing (or bin step),
    without hooks."""
    has_vault: bool = False
    """True if tokens lie in a separate vault, which is unlocked for a trade."""
    has_bins: bool = False
    """Pools are bins of one price each, which a call reads; no storage slot is then used."""

    def pool_id(self, dex: Dex, pair: tuple[Address, Address], fee: int, spacing: int) -> Hash32:
        """Return the id of the pool of two tokens without hooks."""
        sides = sorted(int(token, 16) for token in pair)
        words = (*sides, *self.key_words(dex, fee, spacing))
        return Hash32("0x" + keccak(b"".join(word.to_bytes(32) for word in words)).hex())


def _read_uniswap(words: Sequence[int]) -> CreatedKey:
    fee, spacing, hooks = words[:3]
    return CreatedKey(fee=fee, tick_spacing=_signed(spacing, 256), hooks=_address(hooks))


def _read_infinity(words: Sequence[int]) -> CreatedKey:
    hooks, fee, parameters = words[:3]
    spacing = parameters >> _SPACING_BIT & (1 << _SPACING_BITS) - 1
    return CreatedKey(fee=fee, tick_spacing=_signed(spacing, _SPACING_BITS), hooks=_address(hooks))


def _address(word: int) -> Address:
    return Address(f"{ZERO_ADDRESS[:2]}{word:040x}")


def _signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> bits - 1 else value


_UNISWAP = EntryLayout(
    created=topic_of("Initialize(bytes32,address,address,uint24,int24,address,uint160,int24)"),
    read_created=_read_uniswap,
    pools_slot=6,
    key_words=lambda _, fee, spacing: (fee, spacing, 0),
)

_INFINITY = EntryLayout(
    created=topic_of("Initialize(bytes32,address,address,address,uint24,bytes32,uint160,int24)"),
    read_created=_read_infinity,
    pools_slot=4,
    key_words=lambda dex, fee, spacing: (0, int(dex.factory, 16), fee, spacing << _SPACING_BIT),
    has_vault=True,
)

_INFINITY_BIN = msgspec.structs.replace(
    _INFINITY,
    created=topic_of("Initialize(bytes32,address,address,address,uint24,bytes32,uint24)"),
    pools_slot=5,
    has_bins=True,
)

LAYOUTS: dict[str | None, EntryLayout] = {
    None: _UNISWAP,
    "infinity_bin": _INFINITY_BIN,
    "infinity_cl": _INFINITY,
}
"""Layouts by the variant in chain files."""


def layout_of(dex: Dex) -> EntryLayout:
    """Return the layout of the exchange's manager. Raises KeyError for a variant that is not
    known."""
    return LAYOUTS[dex.variant]
