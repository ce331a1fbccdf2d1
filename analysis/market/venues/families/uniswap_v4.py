"""Uniswap V4 and PancakeSwap Infinity (concentrated and bins): pools that are entries of one
manager, known by the hash of their keys.

Source: v4-core IPoolManager, PoolId; infinity-core ICLPoolManager, IBinPoolManager, IVault.
"""

from collections.abc import Sequence

from analysis.market.venues.pool import Candidate
from analysis.market.venues.state.bin_state import BinFloorReads, BinStateReads
from analysis.market.venues.state.entry_layout import LAYOUTS, layout_of
from analysis.market.venues.state.uniswap_v4_state import CreationReads, SweepReads, V4StateReads
from analysis.market.venues.swaps import probe_router, uniswap_v4_swap
from analysis.market.venues.trade_route import Reach, TradeRoute
from analysis.market.venues.venue import (
    EntriesReading,
    FloorReading,
    LiquidityForm,
    PoolEntries,
    Venue,
)
from analysis.reads.read_batch import ReadBatch
from config.facts.chain import Dex
from core.evm.primitives import ZERO_ADDRESS, Address

_STANDARD_KEYS = ((100, 1), (500, 10), (2500, 50), (3000, 60), (10000, 200))
"""Fee and tick spacing of the usual pools without hooks: the pairs of V3 and of PancakeSwap V3."""


def _is_readable(dex: Dex) -> bool:
    """False for a variant of a chain file that is not known here."""
    return dex.variant in LAYOUTS


def _standard_pools(dex: Dex, token: Address, quotes: Sequence[Address]) -> tuple[Candidate, ...]:
    """Return the standard pools without hooks that the token may have, against `quotes` and the
    native coin. They need not exist: only the manager's state shows that. Pools of bins have no
    usual keys, so only their events name them."""
    if layout_of(dex).has_bins:
        return ()
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


def _request_states(
    batch: ReadBatch, dex: Dex, pools: Sequence[Candidate], *, to_block: int | None
) -> EntriesReading:
    reads = BinStateReads if layout_of(dex).has_bins else V4StateReads
    return reads(batch, dex, pools, to_block=to_block)


def _request_floors(batch: ReadBatch, dex: Dex, pools: Sequence[Candidate]) -> FloorReading:
    reads = BinFloorReads if layout_of(dex).has_bins else SweepReads
    return reads(batch, dex, pools)


def _route(
    candidate: Candidate,
    router: Address,
    *,
    wrapped: Address | None,
    permit2: Address | None,
) -> TradeRoute | str:
    if not _is_readable(candidate.dex):
        return f"how pools of {candidate.dex.name} are traded is not known"
    layout = layout_of(candidate.dex)
    if layout.has_vault:
        return probe_router.vaulted_way(router, has_bins=layout.has_bins, permit2=permit2)
    key = uniswap_v4_swap.pool_key(candidate)
    if key is None:
        return "the pool's key is not known"
    return probe_router.managed_way(router, key, permit2=permit2)


def _reach(candidate: Candidate, *, free: Address, mark: Address) -> Reach | None:
    if not _is_readable(candidate.dex):
        return None
    layout = layout_of(candidate.dex)
    if layout.has_vault:
        return probe_router.vaulted_reach(
            free, has_bins=layout.has_bins, mark=mark, hooks=candidate.hooks
        )
    key = uniswap_v4_swap.pool_key(candidate)
    if key is None:
        return None
    return probe_router.managed_reach(free, key, mark=mark, hooks=candidate.hooks)


def _liquidity_form(dex: Dex) -> LiquidityForm | None:
    if not _is_readable(dex):
        return None
    return "entry_bins" if layout_of(dex).has_bins else "entry_positions"


# Without `router`: the forms of the real router change from release to release.
VENUE = Venue(
    kind="AmmV4",
    liquidity_form=_liquidity_form,
    entries=PoolEntries(
        is_readable=_is_readable,
        standard_pools=_standard_pools,
        request_created=CreationReads,
        request_states=_request_states,
        request_floors=_request_floors,
    ),
    route=_route,
    reach=_reach,
)
