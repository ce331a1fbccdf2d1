"""Liquidity risk of a token's pools on the analysed block, for the verdict."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from analysis.liquidity.find_ownership import OwnedPool, find_ownership
from analysis.liquidity.liquidity_shares import LiquidityShares, TokenParties
from analysis.liquidity.pool_age import find_older
from analysis.liquidity.withdrawal_risk import (
    YOUNG_S,
    LiquidityRisk,
    PoolAge,
    WeighedPool,
    combine_risk,
    usd_of_others,
)
from analysis.market.pool_ranking import ValuedPool
from analysis.pipeline.chain_context import ChainContext
from core.errors import UpstreamError
from core.evm.primitives import BlockRef

_MOST_POOLS: Final = 3
"""Pools whose holders are read, deepest first. The others' value counts as not known."""

WAIT_S: Final = 5.0
"""Time limit for the node in seconds: some are slow with old events, which the rest of the analysis
does not need."""


class WeighedLiquidity(msgspec.Struct, frozen=True, kw_only=True):
    """A token's liquidity by what its holders can do."""

    risk: LiquidityRisk | None = None
    """None: switched off for this token, or there is no pool. `unknown`: the node did not answer in
    time."""
    of_others_usd: float | None = None
    """See `usd_of_others`. None: not read."""


async def find_liquidity(
    context: ChainContext,
    pools: Sequence[ValuedPool],
    parties: TokenParties,
    *,
    made: Mapping[str, int],
    block: BlockRef,
    reads_old: bool,
) -> WeighedLiquidity:
    """Return the findings. `made`: block of a pool's creation, by Candidate.key, where it is known.

    `reads_old`: find the holders of old pools even where the deployment does not; the risk stays
    the same.
    """
    if context.settings.liquidity_holders == "never" or not pools:
        return WeighedLiquidity()
    limit = None if context.is_replayable else WAIT_S
    try:
        async with asyncio.timeout(limit):
            ages = await _find_ages(context, pools, made, block=block)
            due = [
                pool for pool in pools[:_MOST_POOLS] if reads_old or _is_due(context, ages, pool)
            ]
            owned = await _find_owners(context, due, parties, made, block=block)
    except (TimeoutError, UpstreamError):
        return WeighedLiquidity(risk="unknown")
    found: dict[str, LiquidityShares] = {one.candidate.key: one.ownership for one in owned}
    weighed = [
        WeighedPool(
            liquidity_usd=pool.value.liquidity_usd,
            age=ages[pool.candidate.key],
            ownership=found.get(pool.candidate.key),
            is_exempt=not _is_due(context, ages, pool),
        )
        for pool in pools
    ]
    return WeighedLiquidity(
        risk=combine_risk(weighed, now_s=block.time_s),
        of_others_usd=usd_of_others(weighed, parties, now_s=block.time_s),
    )


def _is_due(context: ChainContext, ages: Mapping[str, PoolAge], pool: ValuedPool) -> bool:
    is_always = context.settings.liquidity_holders == "always"
    return is_always or ages[pool.candidate.key] != "old"


async def _find_ages(
    context: ChainContext,
    pools: Sequence[ValuedPool],
    made: Mapping[str, int],
    *,
    block: BlockRef,
) -> dict[str, PoolAge]:
    """Return the age of each pool. Raises UpstreamError.

    The node is queried for the deepest pools that the index lacks.
    """
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
