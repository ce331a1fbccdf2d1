"""Who can withdraw the liquidity of a token's pools, for its verdict, on the analysed block."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final

from analysis.liquidity.find_ownership import OwnedPool, TokenParties, find_ownership
from analysis.liquidity.liquidity_shares import LiquidityShares
from analysis.liquidity.pool_age import find_older
from analysis.liquidity.withdrawal_risk import (
    YOUNG_S,
    LiquidityRisk,
    PoolAge,
    WeighedPool,
    combine_risk,
)
from analysis.market.pool_ranking import ValuedPool
from analysis.pipeline.chain_context import ChainContext
from core.errors import UpstreamError
from core.evm.primitives import BlockRef

_MOST_POOLS: Final = 3
"""Pools that are looked at, deepest first; what the others are worth counts as not known."""

WAIT_S: Final = 5.0
"""Seconds that a node has for it: old events take long on some, and the rest of the analysis does
not depend on them."""


async def find_liquidity_risk(
    context: ChainContext,
    pools: Sequence[ValuedPool],
    parties: TokenParties,
    *,
    made: Mapping[str, int],
    block: BlockRef,
) -> LiquidityRisk | None:
    """Return the risk. `made`: block of a pool's creation, by Candidate.key, where it is known.

    None: the deployment does not ask it of this token, or there is no pool. A node that does not
    tell, or not in time, makes it `unknown`.
    """
    if context.settings.liquidity_holders == "never" or not pools:
        return None
    limit = None if context.is_replayable else WAIT_S
    try:
        async with asyncio.timeout(limit):
            ages = await _find_ages(context, pools, made, block=block)
            asked = [pool for pool in pools[:_MOST_POOLS] if _is_asked(context, ages, pool)]
            owned = await _find_owners(context, asked, parties, made, block=block)
    except (TimeoutError, UpstreamError):
        return "unknown"
    found: dict[str, LiquidityShares] = {one.candidate.key: one.ownership for one in owned}
    weighed = (
        WeighedPool(
            liquidity_usd=pool.value.liquidity_usd,
            age=ages[pool.candidate.key],
            ownership=found.get(pool.candidate.key),
            is_exempt=not _is_asked(context, ages, pool),
        )
        for pool in pools
    )
    return combine_risk(weighed, now_s=block.time_s)


def _is_asked(context: ChainContext, ages: Mapping[str, PoolAge], pool: ValuedPool) -> bool:
    asks_all = context.settings.liquidity_holders == "always"
    return asks_all or ages[pool.candidate.key] != "old"


async def _find_ages(
    context: ChainContext,
    pools: Sequence[ValuedPool],
    made: Mapping[str, int],
    *,
    block: BlockRef,
) -> dict[str, PoolAge]:
    """Return the age of each pool; the node is asked about the deepest that the index has not got.
    Raises UpstreamError."""
    block_s = context.chain.block_time_s
    ages: dict[str, PoolAge] = {}
    for pool in pools:
        key = pool.candidate.key
        at = made.get(key)
        is_young = at is not None and (block.number - at) * block_s < YOUNG_S
        ages[key] = "unknown" if at is None else "young" if is_young else "old"
    unknown = [
        pool.candidate for pool in pools[:_MOST_POOLS] if ages[pool.candidate.key] == "unknown"
    ]
    older = await find_older(unknown, YOUNG_S, block=block, block_time_s=block_s, node=context.node)
    return ages | dict.fromkeys(older, "old")


async def _find_owners(
    context: ChainContext,
    pools: Sequence[ValuedPool],
    parties: TokenParties,
    made: Mapping[str, int],
    *,
    block: BlockRef,
) -> list[OwnedPool]:
    """Raises UpstreamError."""
    if not pools:
        return []
    return await find_ownership(
        context.chain,
        [(pool.candidate, pool.state) for pool in pools],
        parties,
        created=made,
        block=block,
        node=context.node,
        capabilities=context.capabilities,
        index=context.index,
    )
