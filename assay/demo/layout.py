"""Layout of the demo's world: anchors, venues, tokens and accounts."""

from typing import Final, Literal

import msgspec
from eth_utils.crypto import keccak

from assay.demo.anvil import ETHER
from config.facts.chain import Anchor, Dex, Oracle
from config.facts.launchpad import Launchpad
from config.facts.pool_family import DexKind
from core.errors import InternalError
from core.evm.primitives import ZERO_ADDRESS, Address, Hash32

NATIVE_USD = 3_000
"""Price of a native coin in the demo's feed, USD."""

FOR_EVER = 2**255
"""A deadline no transaction misses."""


VenueKey = Literal["v2", "v3", "pancake", "algebra", "v4", "solid", "solid_stable", "slipstream"]
"""Venues of pools: the exchanges, with Solidly once for each of its two curves."""


class Pool(msgspec.Struct, frozen=True, kw_only=True):
    """One pool of one token of the zoo."""

    venue: VenueKey
    dex: str
    """Name of the venue, as in the overlay."""
    kind: DexKind
    address: Address
    """For AmmV4 the pool manager."""
    quote: Address
    """The other side. The zero address: the native coin itself (AmmV4)."""
    pool_id: Hash32 | None = None
    """AmmV4 only."""
    fee: int = 0
    """AmmV3 (but Algebra) and AmmV4: hundredths of a basis point."""
    tick_spacing: int = 0
    """AmmV4 and SolidV3 only."""
    hooks: Address = ZERO_ADDRESS
    """AmmV4 only."""
    stable: bool = False
    """Solid only: the curve of stables."""


BURN: Final = Address(f"0x{0xDEAD:040x}")
"""Recipient of burnt liquidity."""


class Sides(msgspec.Struct, frozen=True, kw_only=True):
    """Deposits of a new pool and their owner."""

    token: Address
    token_raw: int
    quote: Address
    """The wrapped native coin is deposited as native coin; on V4 it means the native coin."""
    quote_raw: int
    owner: Address
    opener: Address | None = None
    """Creator of the pool. None: the owner."""
    liquidity_to: Address | None = None
    """Recipient of LP tokens or the position. None: the owner, or on V4 a contract."""


class ZooToken(msgspec.Struct, frozen=True, kw_only=True):
    """One token with one trait, and the pool it trades in."""

    key: str
    trait: str
    """One phrase, for the table that `assay demo` prints."""
    address: Address
    symbol: str
    """Symbol in the demo; symbol() of a hostile token may not answer."""
    decimals: int
    pool: Pool
    owner: Address
    """Creator, which also seeded its pool; its owner() unless renounced."""
    holders: tuple[Address, ...]
    """Ordinary wallets with 1 percent of the supply each."""
    keeper: Address | None = None
    """Address with powers over other wallets, if that is the trait. Never trades."""


class LaunchedToken(msgspec.Struct, frozen=True, kw_only=True):
    """One token that a launch platform of the demo issued."""

    key: str
    trait: str
    """One phrase, for the table that `assay demo` prints."""
    address: Address
    symbol: str
    launchpad: str
    """The platform's slug in the overlay."""
    pad: Address
    """Contract that issued it; with a curve, it holds the reserves."""


class Venues(msgspec.Struct, frozen=True, kw_only=True):
    """Addresses of everything but the tokens of the zoo."""

    wrapped_native: Anchor
    stables: tuple[Anchor, Anchor]
    oracle: Oracle
    v2: Dex
    v3: Dex
    pancake: Dex
    algebra: Dex
    v4: Dex
    solid: Dex
    slipstream: Dex
    liquidity_v4: Address
    """PoolModifyLiquidityTest of v4-core."""
    swap_v4: Address
    """PoolSwapTest of v4-core."""
    fee_hook: Address
    """Our FeeHook."""
    trap_hook: Address
    """FeeTakingHook of v4-core. It cannot receive native coins, so every sell for them fails."""
    input_hook: Address
    """Our InputFeeHook."""
    dynamic_hook: Address
    """DynamicReturnFeeTestHook of v4-core, set to a fee of 5 %."""
    router_hook: Address
    """Our RouterHook, which knows PoolSwapTest only."""
    clones: Address
    """Our maker of EIP-1167 clones."""

    @property
    def dexes(self) -> tuple[Dex, ...]:
        """In the order of the overlay."""
        return (
            self.v2, self.v3, self.pancake, self.algebra, self.v4, self.solid, self.slipstream,
        )  # fmt: skip

    def dex_of(self, venue: VenueKey) -> Dex:
        """The exchange of a venue."""
        return {
            "v2": self.v2,
            "v3": self.v3,
            "pancake": self.pancake,
            "algebra": self.algebra,
            "v4": self.v4,
            "solid": self.solid,
            "solid_stable": self.solid,
            "slipstream": self.slipstream,
        }[venue]


class World(msgspec.Struct, frozen=True, kw_only=True):
    """All deployed contracts, and the accounts that deployed them."""

    venues: Venues
    tokens: tuple[ZooToken, ...]
    deployer: Address
    """Created venues and anchors; holds the remaining stables."""
    owner: Address
    """Created the tokens of the zoo."""
    traders: tuple[Address, ...]
    """Unlocked accounts with native coins and stables, for the trader."""
    launcher: Address
    """Unlocked account that creates new tokens while the demo runs."""
    launchpads: tuple[Launchpad, ...] = ()
    launched: tuple[LaunchedToken, ...] = ()
    """Tokens of the launch platforms."""

    def issued(self, key: str) -> LaunchedToken:
        """The launched token with this key. Raises KeyError."""
        for token in self.launched:
            if token.key == key:
                return token
        raise KeyError(key)

    def token(self, key: str) -> ZooToken:
        """The token with this key. Raises KeyError."""
        for token in self.tokens:
            if token.key == key:
                return token
        raise KeyError(key)


class NotDeployedError(InternalError):
    """A venue lacks a contract."""

    def __init__(self, *, dex: str, contract: str) -> None:
        super().__init__(f"{dex} has no {contract} here")
        self.dex = dex
        self.contract = contract


def router_of(dex: Dex) -> Address:
    """The venue's router. Raises NotDeployedError."""
    if dex.router is None:
        raise NotDeployedError(dex=dex.name, contract="router")
    return dex.router


def positions_of(dex: Dex) -> Address:
    """The venue's position manager. Raises NotDeployedError."""
    if dex.position_manager is None:
        raise NotDeployedError(dex=dex.name, contract="position manager")
    return dex.position_manager


def named_account(name: str) -> Address:
    """Return an address without a known key, derived from the name. Unlocked on anvil."""
    return Address("0x" + keccak(text=f"assay demo {name}")[12:].hex())


def native_worth(usd: int) -> int:
    """Convert US dollars to wei at the price of the demo's feed."""
    return usd * ETHER // NATIVE_USD
