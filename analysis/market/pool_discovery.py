"""Pool discovery by factory getters, for factories that the index does not cover yet, and from the
index.
"""

from collections.abc import Iterable, Sequence

from analysis.market.venues.lookup import Lookup
from analysis.market.venues.pool import Candidate
from analysis.market.venues.venue_registry import venue_of
from config.facts.chain import Dex
from core.evm.primitives import Address
from core.report.rows import PoolRow


def find_lookups(
    dexes: Iterable[Dex], token: Address, quotes: Sequence[Address]
) -> tuple[Lookup, ...]:
    """Return all queries of factories that find the token's pools against `quotes`: one for every
    pair of tokens, and for every known fee tier or tick spacing where those are part of the key."""
    return tuple(
        lookup
        for dex in dexes
        for quote in quotes
        if quote != token
        for lookup in venue_of(dex).lookups(dex, token, quote)
    )


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
