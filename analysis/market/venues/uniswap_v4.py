"""Uniswap V4 and PancakeSwap Infinity (concentrated): pools that are entries of one manager, known
by the hash of their keys.

Source: v4-core IPoolManager, PoolId; infinity-core ICLPoolManager, IVault.
"""

from collections.abc import Sequence

from analysis.market.venues import probe_router, uniswap_v4_swap
from analysis.market.venues.entry_layout import LAYOUTS, layout_of
from analysis.market.venues.pool import Candidate
from analysis.market.venues.trade_route import Reach, TradeRoute
from analysis.market.venues.uniswap_v4_state import CreationReads, V4StateReads
from analysis.market.venues.uniswap_v4_sweep import SweepReads
from analysis.market.venues.venue import PoolEntries, Venue
from config.chains import Dex
from core.primitives import ZERO_ADDRESS, Address

_STANDARD_KEYS = ((100, 1), (500, 10), (2500, 50), (3000, 60), (10000, 200))
"""Fee and tick spacing of the usual pools without hooks: the pairs of V3 and of PancakeSwap V3."""


def _is_readable(dex: Dex) -> bool:
    """False for a variant of a chain file that is not known here."""
    return dex.variant in LAYOUTS


def _standard_pools(dex: Dex, token: Address, quotes: Sequence[Address]) -> tuple[Candidate, ...]:
    """Return the standard pools without hooks that the token may have, against `quotes` and the
    native coin. They need not exist: only the manager's state shows that."""
    return tuple(
        Candidate(
            dex=dex,
            pool=dex.factory,
            token=token,
            quote=quote,
            pool_id=layout_of(dex).pool_id(dex, (token, quote), fee, spacing),
            fee=fee,
            tick_spacing=spacing,
        )
        for quote in (ZERO_ADDRESS, *quotes)
        for fee, spacing in _STANDARD_KEYS
    )


def _route(
    candidate: Candidate,
    router: Address,
    *,
    wrapped: Address | None,
    permit2: Address | None,
) -> TradeRoute | str:
    if not _is_readable(candidate.dex):
        return f"how pools of {candidate.dex.name} are traded is not known"
    if layout_of(candidate.dex).has_vault:
        return probe_router.vaulted_way(router, permit2=permit2)
    key = uniswap_v4_swap.pool_key(candidate)
    if key is None:
        return "the pool's key is not known"
    return probe_router.managed_way(router, key, permit2=permit2)


def _reach(candidate: Candidate, *, free: Address, mark: Address) -> Reach | None:
    if not _is_readable(candidate.dex):
        return None
    if layout_of(candidate.dex).has_vault:
        return probe_router.vaulted_reach(free, mark=mark, hooks=candidate.hooks)
    key = uniswap_v4_swap.pool_key(candidate)
    if key is None:
        return None
    return probe_router.managed_reach(free, key, mark=mark, hooks=candidate.hooks)


# Without `router`: the forms of the real router change from release to release.
VENUE = Venue(
    kind="AmmV4",
    liquidity_form=lambda dex: "entry_positions" if _is_readable(dex) else None,
    entries=PoolEntries(
        is_readable=_is_readable,
        standard_pools=_standard_pools,
        ask_created=CreationReads,
        ask_states=V4StateReads,
        ask_floors=SweepReads,
    ),
    route=_route,
    reach=_reach,
)
