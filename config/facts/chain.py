"""Typed facts of each supported chain: clock, anchor tokens, oracle, exchanges, launch platforms.

Loaded from `config/chains/*.toml` and the deployment's overlay.
"""

import hashlib
from collections.abc import Mapping
from typing import Annotated, Literal

import msgspec

from config.burn import BRIDGES
from config.facts.launchpad import Launchpad
from config.facts.pool_family import FAMILY_OF, DexKind
from core.evm.primitives import Address

Clock = Literal["own", "ethereum"]
"""The chain whose block number contracts see in `block.number`."""

ETHEREUM_BLOCK_TIME_S = 12.0
"""One slot. Source: consensus-specs, SECONDS_PER_SLOT."""

Decimals = Annotated[int, msgspec.Meta(ge=0, le=36)]
"""Decimals of an anchor token or a feed; larger values are taken for typos."""

Seconds = Annotated[int, msgspec.Meta(ge=1)]
BlockNumber = Annotated[int, msgspec.Meta(ge=0)]
InitCodeHash = Annotated[str, msgspec.Meta(pattern=r"^0x[0-9a-f]{64}$")]


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
    """One exchange deployment. An address that is None is not known or does not exist."""

    name: str
    kind: DexKind
    factory: Address
    """Emitter of creation events; where one contract holds all pools, that contract."""
    variant: str | None = None
    """Decoder and ABI variant of the kind, such as pancake_v3 or algebra. None: the original."""
    router: Address | None = None
    quoter: Address | None = None
    position_manager: Address | None = None
    state_view: Address | None = None
    vault: Address | None = None
    """Contract that holds the tokens of all pools. None: each pool holds its own, or `factory`
    those of all."""
    pool_deployer: Address | None = None
    """Contract that creates the pools. None: the factory does."""
    init_code_hash: InitCodeHash | None = None
    """keccak256 of a pool's creation code, from which its address follows (EIP-1014). None: not
    known, or it differs between pools."""
    fee_bp: Annotated[int, msgspec.Meta(ge=0, le=10_000)] | None = None
    """Swap fee in basis points where every pool has the same. None: read per pool."""
    fee_tiers: tuple[Annotated[int, msgspec.Meta(ge=1)], ...] = ()
    """Known fees in hundredths of a basis point, or tick spacings, whichever keys the pools."""
    from_block: BlockNumber | None = None
    """At or before the first pool. None: unknown."""


class Permit2(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The Permit2 contract, which wallets approve to move their tokens, whatever the venue. Source:
    Uniswap permit2, AllowanceTransfer."""

    address: Address
    router: Address | None = None
    """The universal router that uses it. None: not known."""


LockRecords = Literal["uncx_v2", "pinklock", "team_finance", "uncx_v3", "never_released"]
"""Method by which the end of a lock is read: a reader each in `analysis/liquidity/holder_reads.py`.

uncx_v2, pinklock and team_finance: LP tokens. uncx_v3: positions. never_released: positions, by
code without a way to give them back.
"""


class Locker(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A service that holds tokens for others until a date of theirs."""

    name: Annotated[str, msgspec.Meta(min_length=1)]
    """As people know it."""
    contracts: Annotated[tuple[Address, ...], msgspec.Meta(min_length=1)]
    """Holders of the locked tokens."""
    records: LockRecords | None = None
    """None: when the tokens become free is not read from its contracts."""


class Listing(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Names of the chain at market-data services. Empty: not listed there, so not queried."""

    dexscreener: str = ""
    geckoterminal: str = ""
    defillama: str = ""


class Chain(msgspec.Struct, frozen=True, kw_only=True):
    """Static facts of one supported chain."""

    id: int
    slug: str
    aliases: tuple[str, ...] = ()
    """Further names that callers may use, in lower case; answers name the slug."""
    display_name: str
    block_time_s: float
    """Nominal seconds between blocks; used for estimates only."""
    clock: Clock
    native_symbol: str
    explorer: str = ""
    """Address of the chain's block explorer, without a slash at the end; pages link to `/token`,
    `/address` and `/block` below it. Empty: none."""
    finality_blocks: int
    """Blocks behind head that can no longer change."""
    start_block: int | None
    """First block to follow on an empty store. None: the head."""
    wrapped_native: Anchor
    stables: tuple[Anchor, Anchor]
    oracle: Oracle
    permit2: Permit2 | None = None
    """None: not known on this chain."""
    listing: Listing = Listing()
    dexes: tuple[Dex, ...]
    launchpads: tuple[Launchpad, ...]
    lockers: tuple[Locker, ...] = ()
    """Contracts in which tokens are known to be locked."""

    @property
    def consenting(self) -> frozenset[Address]:
        """Contracts that move a holder's tokens only with that holder's signature or call."""
        permit2 = () if self.permit2 is None else (self.permit2.address,)
        return BRIDGES.union(permit2)

    @property
    def clock_block_time_s(self) -> float:
        """Return the nominal seconds between two values of `block.number` as contracts read it."""
        return self.block_time_s if self.clock == "own" else ETHEREUM_BLOCK_TIME_S

    def blocks_in(self, seconds: float) -> int:
        """Return the approximate number of blocks in a time, rounded down."""
        return int(seconds / self.block_time_s)

    @property
    def liquidity_subject(self) -> str:
        """Return the coverage subject of the events that name who may hold liquidity; it changes
        with the exchanges and with their families' events, of which earlier blocks lack some."""
        lock_facts = sorted(
            f"{dex.factory}|{event.form.topic0}"
            for dex in self.dexes
            for event in FAMILY_OF[dex.kind].liquidity
        )
        return f"liquidity:{hashlib.sha256('|'.join(lock_facts).encode()).hexdigest()[:12]}"

    @property
    def locker_names(self) -> Mapping[Address, str]:
        """Return the names of the known lockers by the addresses of their contracts."""
        return {at: locker.name for locker in self.lockers for at in locker.contracts}

    @property
    def custodians(self) -> frozenset[Address]:
        """Return contracts that hold tokens for many others: known lockers, and vaults of
        exchanges."""
        return frozenset((*self.locker_names, *(dex.vault for dex in self.dexes if dex.vault)))

    @property
    def anchors(self) -> tuple[Anchor, Anchor, Anchor]:
        """Return the quote tokens: wrapped native first, then the two stables."""
        return (self.wrapped_native, *self.stables)
