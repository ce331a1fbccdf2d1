"""Pool discovery by factory getters, for factories that the index does not cover yet.

Every factory but V4's finds its pools by token pair: one read for every pair of token and quote,
and for every known fee tier or tick spacing where those are part of the key.
"""

from collections.abc import Callable, Iterable, Sequence

import msgspec
from eth_hash.auto import keccak

from analysis.market.venues.pool import ALGEBRA, Candidate
from analysis.reads.chain_reads import Handle
from analysis.reads.eth_reads import decode_address
from analysis.reads.read_batch import ReadBatch
from config.chains import Dex
from config.pool_families import DexKind
from core.primitives import ZERO_ADDRESS, Address, Hash32
from sql.rows import PoolRow

STANDARD_V3_FEES = (100, 500, 3000, 10000)
"""Hundredths of a basis point. Source: Uniswap V3 factory and its governance."""

STANDARD_TICK_SPACINGS = (1, 10, 50, 60, 100, 200, 2000)
"""Spacings that Slipstream, Ramses V3 and Solidly V3 factories enable."""


BY_SPACING = frozenset({"ramses_v3", "solidly_v3"})
"""AmmV3 variants whose pools are keyed by tick spacing instead of the fee."""

STANDARD_V4_KEYS = ((100, 1), (500, 10), (3000, 60), (10000, 200))
"""Fee and tick spacing of the usual V4 pools without hooks: the pairs of V3."""


class Lookup(msgspec.Struct, frozen=True, kw_only=True):
    """One query of a factory. Its answer is the pool's address, or zero."""

    dex: Dex
    token: Address
    quote: Address
    getter: str
    """Signature of the factory's read; its first two arguments are the two tokens."""
    key: tuple[int | bool, ...] = ()
    """Further arguments: fee, tick spacing or stable flag."""
    fee: int | None = None
    tick_spacing: int | None = None
    stable: bool | None = None

    def ask(self, batch: ReadBatch) -> Handle[Address | None]:
        """Add the read of the pool's address."""
        arguments = (self.token, self.quote, *self.key)
        return batch.call(self.dex.factory, self.getter, *arguments, returns=decode_address)

    def candidate(self, pool: Address | None) -> Candidate | None:
        """Return the pool at the address that the factory returned. None: there is none."""
        if pool is None or pool == ZERO_ADDRESS:
            return None
        return Candidate(
            dex=self.dex,
            pool=pool,
            token=self.token,
            quote=self.quote,
            fee=self.fee,
            tick_spacing=self.tick_spacing,
            stable=self.stable,
        )


def find_lookups(
    dexes: Iterable[Dex], token: Address, quotes: Sequence[Address]
) -> tuple[Lookup, ...]:
    """Return all queries that find the token's pools against `quotes`. AmmV4 has no registry to
    query."""
    return tuple(
        lookup
        for dex in dexes
        if dex.kind in _BY_KIND
        for quote in quotes
        if quote != token
        for lookup in _BY_KIND[dex.kind](dex, token, quote)
    )


def tiers_of(dex: Dex) -> tuple[int, ...]:
    """Return the fees, or tick spacings, by which pools of an AmmV3 or SolidV3 exchange are looked
    up."""
    is_by_spacing = dex.kind == "SolidV3" or dex.variant in BY_SPACING
    return dex.fee_tiers or (STANDARD_TICK_SPACINGS if is_by_spacing else STANDARD_V3_FEES)


def standard_v4(dex: Dex, token: Address, quotes: Sequence[Address]) -> tuple[Candidate, ...]:
    """Return the standard V4 pools without hooks that the token may have, against `quotes` and the
    native coin.

    They need not exist: only the manager's state shows that. Source: v4-core PoolId (hash of the
    pool's key).
    """
    return tuple(
        Candidate(
            dex=dex,
            pool=dex.factory,
            token=token,
            quote=quote,
            pool_id=_v4_id(token, quote, fee, spacing),
            fee=fee,
            tick_spacing=spacing,
        )
        for quote in (ZERO_ADDRESS, *quotes)
        for fee, spacing in STANDARD_V4_KEYS
    )


def _v4_id(token: Address, quote: Address, fee: int, spacing: int) -> Hash32:
    sides = sorted((int(token, 16), int(quote, 16)))
    key = b"".join(word.to_bytes(32) for word in (*sides, fee, spacing, 0))
    return Hash32("0x" + keccak(key).hex())


def candidates_of(
    rows: Iterable[PoolRow], *, token: Address, dexes: Iterable[Dex]
) -> tuple[Candidate, ...]:
    """Convert indexed pools to candidates. Pools of an exchange no longer configured are left
    out."""
    by_factory = {(dex.factory, dex.kind): dex for dex in dexes}
    return tuple(
        Candidate(
            dex=dex,
            pool=row.pool,
            token=token,
            quote=row.token1 if row.token0 == token else row.token0,
            pool_id=row.pool_id,
            fee=row.fee,
            tick_spacing=row.tick_spacing,
            stable=row.stable,
            hooks=row.hooks,
        )
        for row in rows
        if (dex := by_factory.get((row.factory, row.kind))) is not None
    )


def _v2(dex: Dex, token: Address, quote: Address) -> list[Lookup]:
    return [Lookup(dex=dex, token=token, quote=quote, getter="getPair(address,address)")]


def _v3(dex: Dex, token: Address, quote: Address) -> list[Lookup]:
    if dex.variant in ALGEBRA:
        return [Lookup(dex=dex, token=token, quote=quote, getter="poolByPair(address,address)")]
    if dex.variant in BY_SPACING:
        return _by_spacing(dex, token, quote)
    getter = "getPool(address,address,uint24)"
    return [
        Lookup(dex=dex, token=token, quote=quote, getter=getter, key=(fee,), fee=fee)
        for fee in tiers_of(dex)
    ]


def _by_spacing(dex: Dex, token: Address, quote: Address) -> list[Lookup]:
    getter = "getPool(address,address,int24)"
    return [
        Lookup(
            dex=dex, token=token, quote=quote, getter=getter, key=(spacing,), tick_spacing=spacing
        )
        for spacing in tiers_of(dex)
    ]


def _solid(dex: Dex, token: Address, quote: Address) -> list[Lookup]:
    name = "getPool" if dex.variant == "aerodrome_v1" else "getPair"
    getter = f"{name}(address,address,bool)"
    return [
        Lookup(dex=dex, token=token, quote=quote, getter=getter, key=(stable,), stable=stable)
        for stable in (False, True)
    ]


_BY_KIND: dict[DexKind, Callable[[Dex, Address, Address], list[Lookup]]] = {
    "AmmV2": _v2,
    "AmmV3": _v3,
    "Solid": _solid,
    "SolidV3": _by_spacing,
}
