"""Uniswap V4 and its forks: pools that are entries of one manager, known by the hash of their keys.

Source: v4-core IPoolManager, PoolId (hash of the pool's key).
"""

from collections.abc import Sequence

from eth_hash.auto import keccak

from analysis.market.venues import probe_router, uniswap_v4_swap
from analysis.market.venues.pool import Candidate
from analysis.market.venues.trade_route import Reach, TradeRoute
from analysis.market.venues.uniswap_v4_state import CreationReads, V4StateReads
from analysis.market.venues.uniswap_v4_sweep import SweepReads
from analysis.market.venues.venue import PoolEntries, Venue
from config.chains import Dex
from core.primitives import ZERO_ADDRESS, Address, Hash32

_STANDARD_KEYS = ((100, 1), (500, 10), (3000, 60), (10000, 200))
"""Fee and tick spacing of the usual pools without hooks: the pairs of V3."""


def _is_original(dex: Dex) -> bool:
    """False for PancakeSwap Infinity, whose manager has another state and other functions."""
    return dex.variant is None


def _standard_pools(dex: Dex, token: Address, quotes: Sequence[Address]) -> tuple[Candidate, ...]:
    """Return the standard pools without hooks that the token may have, against `quotes` and the
    native coin. They need not exist: only the manager's state shows that."""
    return tuple(
        Candidate(
            dex=dex,
            pool=dex.factory,
            token=token,
            quote=quote,
            pool_id=_pool_id(token, quote, fee, spacing),
            fee=fee,
            tick_spacing=spacing,
        )
        for quote in (ZERO_ADDRESS, *quotes)
        for fee, spacing in _STANDARD_KEYS
    )


def _pool_id(token: Address, quote: Address, fee: int, spacing: int) -> Hash32:
    sides = sorted((int(token, 16), int(quote, 16)))
    key = b"".join(word.to_bytes(32) for word in (*sides, fee, spacing, 0))
    return Hash32("0x" + keccak(key).hex())


def _route(
    candidate: Candidate,
    router: Address,
    *,
    wrapped: Address | None,
    permit2: Address | None,
) -> TradeRoute | str:
    if not _is_original(candidate.dex):
        return f"pools of {candidate.dex.name} are traded otherwise than Uniswap's"
    key = uniswap_v4_swap.pool_key(candidate)
    if key is None:
        return "the pool's key is not known"
    return probe_router.managed_way(router, key, permit2=permit2)


def _reach(candidate: Candidate, *, free: Address, mark: Address) -> Reach | None:
    key = uniswap_v4_swap.pool_key(candidate)
    if key is None or not _is_original(candidate.dex):
        return None
    return probe_router.managed_reach(free, key, mark=mark, hooks=candidate.hooks)


# Without `router`: the forms of the real router change from release to release.
VENUE = Venue(
    kind="AmmV4",
    entries=PoolEntries(
        is_readable=_is_original,
        standard_pools=_standard_pools,
        ask_created=CreationReads,
        ask_states=V4StateReads,
        ask_floors=SweepReads,
    ),
    route=_route,
    reach=_reach,
)
