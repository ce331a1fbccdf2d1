"""Condition simulations by pool: the conditions of the token, and of the pool's hook."""

from collections.abc import Mapping, Sequence

from analysis.market.pool_ranking import ValuedPool
from analysis.pipeline.chain_context import ChainContext
from analysis.pipeline.first_round import FirstRound
from analysis.pipeline.pool_simulations import can_simulate
from analysis.pipeline.trade_rounds import Buys
from analysis.scenarios.conditions import condition_check
from analysis.scenarios.conditions.condition_check import (
    CodeConditions,
    ConditionSimulations,
)
from core.evm.primitives import Address


def write_condition_checks(
    context: ChainContext,
    first_round: FirstRound,
    pools: Sequence[ValuedPool],
    buys: Buys,
    token_conditions: CodeConditions,
    hooks: Mapping[Address, CodeConditions],
) -> list[ConditionSimulations | None]:
    """Return condition simulations by pool: the token's in the deepest one, a hook's in its own."""
    if not can_simulate(context):
        return [None] * len(buys.bought)
    reserves = {pool.candidate.key: pool.state.token_reserve_raw for pool in pools}
    known = {
        *(
            place
            for dex in context.chain.dexes
            for place in (dex.factory, dex.router, dex.vault)
            if place
        ),
        *(anchor.address for anchor in context.chain.anchors),
        *(pool.candidate.pool for pool in pools),
    }
    found = []
    for at, (setup, bought) in enumerate(buys.bought):
        hook = hooks.get(setup.candidate.hooks) if setup.candidate.hooks else None
        codes = [*([] if at else [token_conditions]), *([hook] if hook else [])]
        check = condition_check.write_simulations(
            setup,
            bought,
            codes,
            supply_raw=first_round.admitted.metadata.supply_raw,
            pool_balance_raw=reserves[setup.candidate.key],
            known=known,
            block_time_s=context.chain.block_time_s,
        )
        found.append(check)
    return found
