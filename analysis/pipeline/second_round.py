"""Values and ranks the pools of the first round, and chooses wallets to simulate with.

Entries of one contract that neither the index nor a standard id named, found by their creation
events, take one more round trip; very many of them take two.
"""

from collections.abc import Mapping, Sequence

import msgspec

from analysis.market import native_price
from analysis.market.pool_ranking import ValuedPool, rank_pools
from analysis.market.venues.pool import Candidate, PoolState
from analysis.market.venues.state.pool_bounds import MOST_SUMMED, pick_deepest, within_bound
from analysis.market.venues.venue import EntriesReading, FloorReading
from analysis.market.venues.venue_registry import venue_of
from analysis.pipeline.chain_context import ChainContext
from analysis.pipeline.first_round import FirstRound
from analysis.pipeline.offload import in_thread_if_large
from analysis.reads.eth_reads import decode_uint
from analysis.reads.read_batch import ReadBatch
from analysis.scenarios.trade.transfer import Wallet, funded_wallet, holder_wallet
from core.evm.primitives import ZERO_ADDRESS, Address, RawAmount

MOST_DECIMALS = 77
"""10**77 still fits in 256 bits; an honest token has no more decimals."""


class MarketState(msgspec.Struct, frozen=True, kw_only=True):
    """Pools by depth, and wallets for simulations."""

    pools: tuple[ValuedPool, ...]
    """Deepest first."""
    unpriced: tuple[tuple[Candidate, PoolState], ...] = ()
    """Pools against tokens that are no anchors."""
    quote_decimals: Mapping[Address, int] = {}
    """Decimals of those tokens."""
    is_complete: bool
    """False: some pools may not have been found, read or priced."""
    wallets: tuple[Wallet, ...]
    """Wallets whose tokens simulations may move: a funded one where possible, then holders."""


class _Created(msgspec.Struct, frozen=True, kw_only=True):
    """Entries of one contract known only from their creation events."""

    unread: tuple[Candidate, ...]
    """Pools whose positions are not added up yet."""
    swept: tuple[tuple[Candidate, PoolState | None], ...] = ()
    """All pools of managers that have too many to add up."""
    is_bounded: bool = False
    """True if there are more pools than the bound on swept ones."""


async def run_second_round(
    context: ChainContext, first_round: FirstRound, token: Address
) -> MarketState:
    """Read what pools still lack, rank them, and choose wallets. Raises UpstreamError."""
    created = await _sweep_created(context, first_round)
    batch = ReadBatch(first_round.pin.hash)
    positions = _request_positions(batch, created.unread, to_block=first_round.pin.number)
    prices = native_price.anchor_prices(context.chain, first_round.native_usd)
    anchors = {*native_price.anchor_prices(context.chain, 1.0)}
    others = list(
        dict.fromkeys(pool.quote for pool, _ in first_round.states if pool.quote not in anchors)
    )
    units = {quote: batch.call(quote, "decimals()", returns=decode_uint) for quote in others}
    await batch.send(context.node, context.capabilities)

    def read() -> MarketState:
        by_key = {pool.key: (pool, state) for pool, state in (*first_round.states, *created.swept)}
        for reads in positions:
            # A pool that was swept before already has a lower bound of its reserves.
            by_key |= {
                pool.key: (pool, state)
                for pool, state in reads.read()
                if state or pool.key not in by_key
            }
        states = tuple(by_key.values())
        decimals = {
            quote: number
            for quote, unit in units.items()
            if (number := batch[unit]) is not None and number <= MOST_DECIMALS
        }
        return MarketState(
            pools=rank_pools(states, prices, decimals=first_round.admitted.metadata.decimals),
            unpriced=tuple(
                (pool, state)
                for pool, state in states
                if state is not None and pool.quote in decimals
            ),
            quote_decimals=decimals,
            is_complete=first_round.is_every_pool_read
            and not created.is_bounded
            and _is_all_known(context, states, first_round.native_usd),
            wallets=_wallets(first_round, token, [pool.holder for pool, _ in states]),
        )

    return await in_thread_if_large(read, pools=len(first_round.states) + len(created.swept))


def _request_positions(
    batch: ReadBatch, pools: Sequence[Candidate], *, to_block: int
) -> list[EntriesReading]:
    """Add the reads of the pools' states, those of one contract together."""
    by_manager: dict[Address, list[Candidate]] = {}
    for pool in pools:
        by_manager.setdefault(pool.dex.factory, []).append(pool)
    return [
        how.request_states(batch, entries[0].dex, entries, to_block=to_block)
        for entries in by_manager.values()
        if (how := venue_of(entries[0].dex).entries) is not None
    ]


async def _sweep_created(context: ChainContext, first_round: FirstRound) -> _Created:
    """Bound the reserves of created pools in one round trip, where a manager has too many to add
    up."""
    known = {pool.key for pool, _ in first_round.states}
    unread = [pool for pool in first_round.unread if pool.key in known]
    by_manager: dict[Address, list[Candidate]] = {}
    for pool in first_round.unread:
        if pool.key not in known:
            by_manager.setdefault(pool.dex.factory, []).append(pool)
    batch, sweeps, is_bounded = ReadBatch(first_round.pin.hash), list[FloorReading](), False
    for pools in by_manager.values():
        how = venue_of(pools[0].dex).entries
        if how is None or len(pools) <= MOST_SUMMED:
            unread += pools
            continue
        swept = within_bound(pools)
        is_bounded |= len(swept) < len(pools)
        sweeps.append(how.request_floors(batch, pools[0].dex, swept))
    if not sweeps:
        return _Created(unread=tuple(unread))
    await batch.send(context.node, context.capabilities)
    found = [sweep.read() for sweep in sweeps]
    picked = [pool for one in found for pool in pick_deepest(one)]
    return _Created(
        unread=(*unread, *picked),
        swept=tuple(pool for one in found for pool in one),
        is_bounded=is_bounded,
    )


def _is_all_known(
    context: ChainContext,
    states: Sequence[tuple[Candidate, PoolState | None]],
    native_usd: float | None,
) -> bool:
    """True if every entry of one contract was read, and every pool against the native coin was
    priced."""
    native = {context.chain.wrapped_native.address, ZERO_ADDRESS}
    is_unread = any(state is None and venue_of(pool.dex).entries for pool, state in states)
    is_unpriced = native_usd is None and any(pool.quote in native for pool, _ in states)
    return not is_unread and not is_unpriced


def _wallets(
    first_round: FirstRound, token: Address, pools: Sequence[Address]
) -> tuple[Wallet, ...]:
    """Return a wallet funded by state override first, because no code can favour it; then real
    holders that are neither owners nor pools, largest first."""
    supply_raw = first_round.admitted.metadata.supply_raw
    wallets = []
    if first_round.token_slot_index is not None:
        wallets.append(
            funded_wallet(
                first_round.disguise,
                token,
                supply_raw=supply_raw,
                slot_index=first_round.token_slot_index,
            )
        )
    special = {*first_round.owners, *pools}
    for holder in first_round.holders:
        if holder.is_account and holder.balance_raw and holder.address not in special:
            wallets.append(
                holder_wallet(
                    first_round.disguise,
                    holder.address,
                    balance_raw=RawAmount(holder.balance_raw),
                    supply_raw=supply_raw,
                )
            )
    return tuple(wallets)
