"""Who can withdraw the liquidity of a token's pools, for its verdict, on the analysed block."""

from collections.abc import Mapping, Sequence
from typing import Final

from analysis.liquidity.find_ownership import TokenParties, find_ownership
from analysis.liquidity.withdrawal_risk import LiquidityRisk, WeighedPool, judge_risk
from analysis.market.pool_ranking import ValuedPool
from analysis.pipeline.chain_context import ChainContext
from core.errors import UpstreamError
from core.primitives import BlockRef

_MOST_POOLS: Final = 3
"""Pools that are looked at, deepest first; what the others are worth counts as not known."""


async def find_liquidity_risk(
    context: ChainContext,
    pools: Sequence[ValuedPool],
    parties: TokenParties,
    *,
    made: Mapping[str, int],
    block: BlockRef,
) -> LiquidityRisk:
    """Return the risk. `made`: block of a pool's creation, by Candidate.key, where it is known.

    A node that does not tell makes it `unknown`: the rest of the analysis does not depend on it.
    """
    picked = pools[:_MOST_POOLS]
    try:
        owned = await find_ownership(
            context.chain,
            [(pool.candidate, pool.state) for pool in picked],
            parties,
            created=made,
            block=block,
            node=context.node,
            capabilities=context.capabilities,
        )
    except UpstreamError:
        return "unknown"
    found = {one.candidate.key: one.ownership for one in owned}
    block_s = context.chain.block_time_s

    def weigh(pool: ValuedPool) -> WeighedPool:
        key = pool.candidate.key
        at = made.get(key)
        return WeighedPool(
            liquidity_usd=pool.value.liquidity_usd,
            age_s=None if at is None else (block.number - at) * block_s,
            ownership=found.get(key),
        )

    return judge_risk(map(weigh, pools), now_s=block.time_s)
