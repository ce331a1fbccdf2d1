"""Liquidity reach: simulates the amounts of a buy and a sale that a pool's liquidity can take.

Used for concentrated pools without liquidity at the current price, and for those that open with
tokens only. A swap there begins at the next tick with liquidity in its direction; where there is
none, it reverts or brings nothing, which is not due to the token. Nothing is paid: the pool reports
the amounts to our own router, which then aborts the swap. The token has no influence: its transfers
before the payment move nothing. Sends no request.
"""

from collections.abc import Mapping

import msgspec

from analysis import probes
from analysis.market.pool_ranking import TradeResult, ValuedPool
from analysis.market.venues.swaps import probe_router
from analysis.market.venues.trade_route import Reach, Swap
from analysis.simulation.disguise import Disguise
from analysis.simulation.simulate_v1 import (
    CallHandle,
    NotSimulated,
    Passed,
    Refused,
    SimCall,
    Simulation,
    SimulationResult,
)
from analysis.simulation.simulation_builder import SimulationBuilder
from core.evm.primitives import Address, BlockRef, RawAmount

VERSION = 1

_GAS = 12_000_000
"""Gas of a call: a pool of small tick spacing searches some thousand words of its bitmap. Below the
limit of one call on nodes that simulate nothing."""

_MARGIN = 2
"""Multiple of the minimum that the pool is offered."""

_SHARE_SOLD = 1_000
"""Divisor of the supply that the pool is offered."""


class ReachSimulation(msgspec.Struct, frozen=True, kw_only=True):
    """One simulation of both directions, each from the pinned state of the pool."""

    simulation: Simulation
    pool: ValuedPool
    has_hooks: bool
    """See Reach.has_hooks."""
    buy: CallHandle
    sale: CallHandle


class ReachableLiquidity(msgspec.Struct, frozen=True, kw_only=True):
    """Liquidity that a buy and a sale reach."""

    has_buy: bool | None
    """True if a buy meets liquidity. None: not determined."""
    has_sale: bool | None
    """True if a sale meets liquidity, before any buy. None: not determined."""
    absorbed_raw: RawAmount | None
    """Quote that the pool would take of a buyer's offer, in smallest units. None: not determined.

    The offer is slightly above the minimum.
    """
    is_doubtful: bool = False
    """True if there is no liquidity at the price, and the distance of the next is not determined:
    the pool's bitmap is too long for one transaction."""


def is_due(pool: ValuedPool, *, min_liquidity_usd: float) -> bool:
    """True if the pool is to be checked."""
    return pool.state.in_range_liquidity == 0 or pool.is_opening(
        min_liquidity_usd=min_liquidity_usd
    )


def write_simulation(
    reach: Reach,
    pool: ValuedPool,
    *,
    pin: BlockRef,
    disguise: Disguise,
    block: tuple[int, int],
    token_code: bytes,
    supply_raw: RawAmount,
    min_liquidity_usd: float,
) -> ReachSimulation:
    """Return the simulation. `token_code` is the runtime code at the token's own address."""
    candidate = pool.candidate
    token, quote = candidate.token, candidate.quote
    trader = disguise.account(f"{candidate.key}:reach")
    home = disguise.account(f"{candidate.key}:home of the token")
    offered_usd = _MARGIN * min_liquidity_usd
    offered = offered_usd / pool.quote_unit_usd if pool.quote_unit_usd else 0

    def reach_call(label: str, token_in: Address, token_out: Address, amount_in: int) -> SimCall:
        swap = Swap(
            candidate=candidate,
            router=reach.router,
            trader=trader,
            token_in=token_in,
            token_out=token_out,
            amount_in=RawAmount(max(1, amount_in)),
        )
        return SimCall(label=label, sender=trader, to=reach.router, data=reach.data(swap), gas=_GAS)

    builder = SimulationBuilder([block])
    buy = builder[0].add(reach_call("reach of a buy", quote, token, int(offered)))
    sold = supply_raw // _SHARE_SOLD
    sale = builder[0].add(reach_call("reach of a sale", token, quote, sold))
    simulation = Simulation(
        pin=pin,
        disguise=disguise,
        blocks=builder.blocks(),
        purses={trader: disguise.purse(trader)},
        storage={},
        code={
            reach.router: reach.code,
            token: probes.runtime("Quiet") + home[2:],
            home: "0x" + token_code.hex(),
        },
    )
    return ReachSimulation(
        simulation=simulation, pool=pool, has_hooks=reach.has_hooks, buy=buy, sale=sale
    )


def read_result(
    written: ReachSimulation, result: SimulationResult | NotSimulated
) -> ReachableLiquidity:
    """Return the liquidity that a buy and a sale reach.

    A hook may make a trade itself, or prevent one: where one acts, a lack of liquidity is accepted
    only for both directions together.
    """
    if isinstance(result, NotSimulated):
        return ReachableLiquidity(has_buy=None, has_sale=None, absorbed_raw=None)
    buy, sale = (_read(result, call) for call in (written.buy, written.sale))
    has_buy, has_sale = (None if amounts is None else any(amounts) for amounts in (buy, sale))
    if written.has_hooks and has_buy is not has_sale:
        has_buy, has_sale = has_buy or None, has_sale or None
    is_empty = written.pool.state.in_range_liquidity == 0
    return ReachableLiquidity(
        has_buy=has_buy,
        has_sale=has_sale,
        absorbed_raw=None if buy is None else buy[0],
        is_doubtful=is_empty and buy is None and not written.has_hooks,
    )


def settle(
    trades: Mapping[str, TradeResult], reached: Mapping[str, ReachableLiquidity]
) -> dict[str, TradeResult]:
    """Return the trades by Candidate.key, with failures without liquidity marked as not
    simulated."""
    return {
        key: _settled(trade, reached[key]) if key in reached else trade
        for key, trade in trades.items()
    }


def _settled(trade: TradeResult, reached: ReachableLiquidity) -> TradeResult:
    buy, sell = trade.buy, trade.sell
    if not isinstance(buy, Passed):
        # After a buy, its payment is available to the sale. Some routers let a sale of nothing for
        # nothing pass.
        if reached.has_sale is False:
            sell = NotSimulated(missing="LIQUIDITY", reason="no liquidity is reached by selling")
        if reached.has_buy is False:
            buy = NotSimulated(missing="LIQUIDITY", reason="no liquidity is reached by buying")
        if reached.is_doubtful:
            buy = NotSimulated(missing="POOL", reason=_DOUBTFUL)
        if reached.is_doubtful and isinstance(sell, Refused) and reached.has_sale is None:
            sell = NotSimulated(missing="POOL", reason=_DOUBTFUL)
    return msgspec.structs.replace(trade, buy=buy, sell=sell, absorbed_raw=reached.absorbed_raw)


_DOUBTFUL = "how far the next liquidity lies was not learnt"


def _read(result: SimulationResult, call: CallHandle) -> tuple[RawAmount, RawAmount] | None:
    answer = result[call]
    return probe_router.read_reach(answer.data) if answer.ok else None
