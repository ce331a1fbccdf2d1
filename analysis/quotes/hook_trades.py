"""Measures what trades in pools with hooks cost, by size, moment and side.

Two round trips: buys of every size at every moment, then sales of what those in the next block
brought. What is taken is by the hook and the token together; the pool's own fee, which a hook may
set, is told beside it.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Final

import msgspec

from analysis.market.pool_ranking import TradeResult, ValuedPool, either
from analysis.pipeline.chain_context import ChainContext
from analysis.pipeline.first_round import FirstRound
from analysis.pipeline.pool_setups import trade_setups
from analysis.pipeline.trade_rounds import simulation_job
from analysis.scenarios.sized_trades import (
    TRADE_SIDES,
    WAITS_S,
    SizedTrade,
    SizedTradeSimulation,
    Timing,
    read_held,
    read_sized_trade,
    write_sized_buy,
    write_sized_sale,
)
from analysis.scenarios.trade_setup import TradeSetup
from analysis.simulation.backends import perform
from analysis.simulation.simulate_v1 import NotSimulated, Passed, Refused, SimulationResult
from core.primitives import RawAmount

SIZES_USD: Final = (100.0, 1_000.0, 10_000.0)
"""Sizes of the buys, about: each is changed by up to a tenth, as round sizes tell a test."""

_POINTS: Final = 0.1
"""Percentage points: takings that differ by no more are equal."""


class MeasuredTrades(msgspec.Struct, frozen=True, kw_only=True):
    """The trades of one pool."""

    trades: tuple[SizedTrade, ...] = ()
    """Buys, then sales; by size, then by moment."""
    reason: str = ""
    """Why there are none. Empty: there are."""

    @property
    def varies_by_size(self) -> bool | None:
        """True if the outcome, the tax or the pool's fee differ with the size alone. None: they do
        not as far as they are known, which is not everywhere."""
        return _varies(self.trades, lambda trade: (trade.side, trade.wait_s))

    @property
    def varies_by_time(self) -> bool | None:
        """The same with the moment alone. None also where blocks were left out between the moments:
        what goes by the number of a block may have been passed over."""
        found = _varies(self.trades, lambda trade: (trade.side, trade.size_usd))
        is_passed_over = any(trade.block and trade.block.left_out for trade in self.trades)
        return None if is_passed_over and not found else found

    @property
    def varies_by_side(self) -> bool | None:
        """The same between a buy and the sale of what one brought."""
        return _varies(self.trades, lambda trade: (trade.size_usd, trade.wait_s))


async def measure_trades(
    context: ChainContext, first_round: FirstRound, pools: Sequence[ValuedPool]
) -> list[MeasuredTrades]:
    """Return the trades of each pool, in the order of the pools. Raises UpstreamError."""
    setups, refused = trade_setups(context, first_round, pools)
    by_key = {setup.candidate.key: setup for setup in setups}
    timing = Timing(block_time_s=context.chain.block_time_s, now_s=int(context.now_s()))
    buys = [
        write_sized_buy(
            setup, timing, size_usd=size_usd, amount_in=RawAmount(amount), wait_s=wait_s
        )
        for pool in pools
        if (setup := by_key.get(pool.candidate.key)) is not None
        for size_usd in SIZES_USD
        if 0 < (amount := _amount(pool, setup, size_usd)) <= setup.quote_reserve_raw
        for wait_s in WAITS_S
    ]
    bought = await _simulate(context, first_round, buys)
    sales = [
        write_sized_sale(
            written.setup,
            timing,
            size_usd=written.size_usd,
            amount_in=written.buy.amount_in,
            held=held,
            wait_s=wait_s,
        )
        for written, result in zip(buys, bought, strict=True)
        if not written.wait_s and (held := _sellable(written, result))
        for wait_s in WAITS_S
    ]
    sold = await _simulate(context, first_round, sales)
    read: dict[tuple[str, str, float, int], SizedTrade] = {}
    for written, result in zip((*buys, *sales), (*bought, *sold), strict=True):
        trade = read_sized_trade(written, result)
        key = written.setup.candidate.key
        read[key, trade.side, trade.size_usd, trade.wait_s] = trade
    return [
        _measured(pool, by_key[key], read)
        if (key := pool.candidate.key) in by_key
        else MeasuredTrades(reason=_reason(refused[key]))
        for pool in pools
    ]


async def _simulate(
    context: ChainContext, first_round: FirstRound, written: Sequence[SizedTradeSimulation]
) -> list[SimulationResult | NotSimulated]:
    jobs = [simulation_job(each.setup.candidate, each.simulation) for each in written]
    if not jobs:
        return []
    return await perform(context.node, context.capabilities, jobs, codes=first_round.codes)


def _amount(pool: ValuedPool, setup: TradeSetup, size_usd: float) -> int:
    """Return about a size in smallest units of the quote token. 0: it has no price."""
    if not pool.quote_unit_usd:
        return 0
    amount = RawAmount(int(size_usd / pool.quote_unit_usd))
    return setup.disguise.about(amount, f"{setup.candidate.key}:sized {size_usd}")


def _sellable(
    written: SizedTradeSimulation, result: SimulationResult | NotSimulated
) -> RawAmount | None:
    """Return what a buy that passed brought. None: it did not pass, or that is not visible."""
    if not isinstance(read_sized_trade(written, result).outcome, Passed):
        return None
    return read_held(written, result)


def _reason(trade: TradeResult) -> str:
    return trade.buy.reason if isinstance(trade.buy, Refused | NotSimulated) else "not tried"


def _measured(
    pool: ValuedPool,
    setup: TradeSetup,
    read: Mapping[tuple[str, str, float, int], SizedTrade],
) -> MeasuredTrades:
    """Return the trades of one pool, with those that were not run."""
    key = pool.candidate.key
    trades: list[SizedTrade] = []
    for side in TRADE_SIDES:
        for size_usd in SIZES_USD:
            first = read.get((key, "buy", size_usd, 0))
            why = _why_no_buy(pool, setup, size_usd) if first is None else _why_no_sale(first)
            trades += [
                read.get((key, side, size_usd, wait_s))
                or SizedTrade(
                    side=side,
                    size_usd=size_usd,
                    amount_raw=None,
                    wait_s=wait_s,
                    block=None,
                    outcome=why,
                )
                for wait_s in WAITS_S
            ]
    return MeasuredTrades(trades=tuple(trades))


def _why_no_buy(pool: ValuedPool, setup: TradeSetup, size_usd: float) -> NotSimulated:
    if not _amount(pool, setup, size_usd):
        return NotSimulated(missing="POOL", reason="what the pool is paid in has no price")
    return NotSimulated(missing="LIQUIDITY", reason="the size is more than the pool holds")


def _why_no_sale(buy: SizedTrade) -> NotSimulated:
    if isinstance(buy.outcome, Passed):
        return NotSimulated(missing="HOLDER", reason="what was bought is not visible, or is gone")
    return NotSimulated(
        missing="FUNDS", reason="the buy did not pass, so there was nothing to sell"
    )


def _varies(
    trades: Iterable[SizedTrade], group_of: Callable[[SizedTrade], Hashable]
) -> bool | None:
    """True if two trades of a group differ. None: none do, and not all are known."""
    groups: dict[Hashable, list[SizedTrade]] = {}
    for trade in trades:
        groups.setdefault(group_of(trade), []).append(trade)
    return either(*map(_differ, groups.values()))


def _differ(group: Sequence[SizedTrade]) -> bool | None:
    """True if two of the trades differ. None: none of those known do, and one is not known."""
    known = [trade for trade in group if not isinstance(trade.outcome, NotSimulated)]
    if len({type(trade.outcome) for trade in known}) > 1:
        return True
    taxes = [trade.outcome.tax for trade in known if isinstance(trade.outcome, Passed)]
    fees = [trade.pool_fee_pct for trade in known if isinstance(trade.outcome, Passed)]
    spreads = [
        max(told) - min(told)
        for values in (taxes, fees)
        if (told := [value for value in values if value is not None])
    ]
    if any(spread > _POINTS for spread in spreads):
        return True
    return None if len(known) < len(group) or None in taxes or None in fees else False
