"""Pool setups: how each of the pools of one analysis is traded in its simulations."""

from collections.abc import Sequence

from analysis.market import routers
from analysis.market.pool_ranking import TradeResult, ValuedPool
from analysis.market.venues.pool import Candidate
from analysis.pipeline.chain_context import ChainContext
from analysis.pipeline.first_round import FirstRound
from analysis.scenarios.trade import sale
from analysis.scenarios.trade.trade_setup import TradeSetup
from analysis.simulation.block_schedule import next_blocks
from analysis.simulation.simulate_v1 import NotSimulated
from core.evm.primitives import ZERO_ADDRESS


def what_if_blocks(
    context: ChainContext, first_round: FirstRound, candidate: Candidate | None = None
) -> tuple[tuple[int, int], ...]:
    """Return number and time of the blocks of buys, approvals, sales and patient sales.

    `candidate`: the pool that is traded in. None: none is.
    """
    waits_s = (0, 0, sale.PATIENCE_S)
    return tuple(
        next_blocks(
            first_round.pin,
            block_time_s=context.chain.block_time_s,
            now_s=int(context.now_s()),
            waits_s=waits_s,
            counts_blocks=counts_blocks(first_round, candidate),
        )
    )


def counts_blocks(first_round: FirstRound, candidate: Candidate | None) -> bool:
    """True if the token's code or a pool's hook may read a block's number; known exchanges do
    not."""
    return first_round.counts_blocks or bool(candidate and candidate.hooks)


def trade_setups(
    context: ChainContext, first_round: FirstRound, pools: Sequence[ValuedPool]
) -> tuple[list[TradeSetup], dict[str, TradeResult]]:
    """Return how each pool is traded, in the order of the pools; and those that cannot be, by
    Candidate.key, with the reason."""
    setups, refused = [], {}
    wrapped = context.chain.wrapped_native.address
    known_routers = context.memory.recall_routers()
    knows_permit2 = routers.knows_permit2(first_round.codes, context.chain)
    for at, pool in enumerate(pools):
        candidate = pool.candidate
        slot = context.memory.recall_balance_slot(candidate.quote)
        routes = routers.find_routes(
            candidate,
            known_routers,
            context.chain,
            free=first_round.disguise.account(f"{candidate.key}:router"),
        )
        if slot is None and candidate.quote not in (wrapped, ZERO_ADDRESS):
            routes = "the quote token's balances could not be found"
        if isinstance(routes, str):
            missing = NotSimulated(missing="POOL", reason=routes)
            refused[candidate.key] = TradeResult(buy=missing, sell=missing)
            continue
        setups.append(
            TradeSetup(
                pin=first_round.pin,
                disguise=first_round.disguise,
                blocks=what_if_blocks(context, first_round, candidate),
                candidate=candidate,
                quote_reserve_raw=pool.trade_reference_raw,
                route=routes[0],
                permit2_route=routes[1] if len(routes) > 1 and (knows_permit2 or at == 0) else None,
                quote_slot_index=None if candidate.quote == wrapped else slot,
                token_slot_index=first_round.token_slot_index,
            )
        )
    return setups, refused
