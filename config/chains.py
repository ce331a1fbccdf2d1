"""Chain facts as typed values. Loaded from `config/chains/*.toml` and the deployment's overlay."""

from typing import Annotated, Literal

import msgspec

from config.launchpads import Launchpad
from config.primitives import Address

DexKind = Literal["AmmV2", "AmmV3", "AmmV4", "Solid", "SolidV3"]
"""The five pool families of the specification; also the value of `liquidity_type`."""

Clock = Literal["own", "ethereum"]
"""Which chain's block number a contract sees in `block.number`."""

ETHEREUM_BLOCK_TIME_S = 12.0
"""One slot. Source: consensus-specs, SECONDS_PER_SLOT."""

Decimals = Annotated[int, msgspec.Meta(ge=0, le=36)]
"""Of an anchor token or a feed: what is above is a typo, not a token."""

Seconds = Annotated[int, msgspec.Meta(ge=1)]
BlockNumber = Annotated[int, msgspec.Meta(ge=0)]


class Anchor(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A quote token: the wrapped native coin or a dollar stable."""

    address: Address
    symbol: str
    decimals: Decimals


class Oracle(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The Chainlink feed of the native coin in USD."""

    native_usd: Address
    decimals: Decimals
    heartbeat_s: Seconds


class Dex(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One exchange deployment. Addresses that are None are not known or do not exist."""

    name: str
    kind: DexKind
    factory: Address
    """For AmmV4 the pool manager."""
    variant: str | None = None
    """Decoder and ABI variant of the kind, such as pancake_v3 or algebra. None: the original."""
    router: Address | None = None
    quoter: Address | None = None
    position_manager: Address | None = None
    state_view: Address | None = None
    fee_bp: Annotated[int, msgspec.Meta(ge=0, le=10_000)] | None = None
    """Swap fee in basis points where every pool has the same. None: read per pool."""
    fee_tiers: tuple[Annotated[int, msgspec.Meta(ge=1)], ...] = ()
    """V3 kinds: known fees in hundredths of a basis point; SolidV3: known tick spacings."""
    from_block: BlockNumber | None = None
    """At or before the first pool. None: unknown."""


class Permit2(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The contract that wallets let move their tokens, whatever the venue. Source: Uniswap
    permit2, AllowanceTransfer."""

    address: Address
    router: Address | None = None
    """The universal router that asks it to. None: not known."""


class Listing(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What market-data services call the chain. Empty: not listed there, so not asked."""

    dexscreener: str = ""
    geckoterminal: str = ""
    defillama: str = ""


class Chain(msgspec.Struct, frozen=True, kw_only=True):
    """Everything known about one supported chain before asking it anything."""

    id: int
    slug: str
    display_name: str
    block_time_s: float
    """Nominal seconds between blocks; used for estimates only."""
    clock: Clock
    native_symbol: str
    finality_blocks: int
    """Blocks behind head that can no longer change."""
    start_block: int | None
    """Where following begins on an empty store. None: at the head."""
    wrapped_native: Anchor
    stables: tuple[Anchor, Anchor]
    oracle: Oracle
    permit2: Permit2 | None = None
    """None: not known on this chain."""
    listing: Listing = Listing()
    dexes: tuple[Dex, ...]
    launchpads: tuple[Launchpad, ...]

    @property
    def clock_block_time_s(self) -> float:
        """Nominal seconds between two values of `block.number` as contracts read it."""
        return self.block_time_s if self.clock == "own" else ETHEREUM_BLOCK_TIME_S

    def blocks_in(self, seconds: float) -> int:
        """About how many blocks a time has, rounded down."""
        return int(seconds / self.block_time_s)

    @property
    def anchors(self) -> tuple[Anchor, Anchor, Anchor]:
        """Wrapped native first, then the two stables."""
        return (self.wrapped_native, *self.stables)
