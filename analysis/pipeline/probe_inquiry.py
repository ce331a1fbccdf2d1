"""Inputs of the probe check, from the results of earlier stages."""

from collections.abc import Sequence

from analysis.market.pool_ranking import ValuedPool
from analysis.pipeline.chain_context import ChainContext
from analysis.pipeline.first_round import FirstRound
from analysis.pipeline.second_round import MarketState
from analysis.pipeline.trade_rounds import Buys
from analysis.scenarios.probing.probe_simulations import ProbeInquiry
from analysis.scenarios.theft.theft_checks import TheftInquiry
from analysis.scenarios.trade.trade_setup import TradeSetup
from config.burn import BURN_ADDRESSES
from core.evm.primitives import ZERO_ADDRESS, Address, RawAmount

_COIN_WEI = 10**18
_PRICE_SHARE = 100
"""Divisor of the pool's quote side: an ordinary payment."""
_MOST_WATCHED = 6


def probe_inquiry(
    context: ChainContext,
    first_round: FirstRound,
    state: MarketState,
    thefts: TheftInquiry,
    *,
    owners: Sequence[Address],
    buys: Buys,
) -> ProbeInquiry:
    """Return the inputs of the probe check, with the accounts of the theft checks."""
    traded = ((setup, bought.largest) for setup, bought in buys.bought)
    setup, buy = next(((setup, buy) for setup, buy in traded if buy is not None), (None, None))
    pool = _pool_of(state, setup)
    wei = None if setup is None else _wei_per_quote(context, first_round, setup, pool)
    holders = (wallet.address for wallet in thefts.attack.holders)
    creator = first_round.holdings.creator
    watched = dict.fromkeys((*([creator] if creator else []), *owners, *holders))
    return ProbeInquiry(
        attack=thefts.attack,
        functions=thefts.hints.open_functions,
        buyer=thefts.buyer,
        watched=tuple(one for one in watched if one not in BURN_ADDRESSES)[:_MOST_WATCHED],
        sale=setup,
        buy_raw=RawAmount(0) if buy is None else buy.amount_in,
        pool_raw=0 if pool is None else pool.state.token_reserve_raw,
        wei_per_quote=wei,
        price_wei=_COIN_WEI // _PRICE_SHARE
        if setup is None or not wei
        else max(1, int(setup.quote_reserve_raw * wei) // _PRICE_SHARE),
    )


def _pool_of(state: MarketState, setup: TradeSetup | None) -> ValuedPool | None:
    key = None if setup is None else setup.candidate.key
    return next((pool for pool in state.pools if pool.candidate.key == key), None)


def _wei_per_quote(
    context: ChainContext, first_round: FirstRound, setup: TradeSetup, pool: ValuedPool | None
) -> float | None:
    """Return the worth of the smallest unit of the pool's quote token in wei. None: not known."""
    if setup.candidate.quote in (context.chain.wrapped_native.address, ZERO_ADDRESS):
        return 1.0
    if pool is None or not pool.quote_unit_usd or not first_round.native_usd:
        return None
    return pool.quote_unit_usd / first_round.native_usd * _COIN_WEI
