"""Measures the cost of trades in pools with hooks, by size, moment and side.

For all pools in parallel: buys of every size at every moment, then sales of the tokens that the
buys in the next block brought. Where the node traces calls, trades at moments whose block numbers
simulations do not reach are run again. The measured tax is that of hook and token together; the
pool's own fee, which a hook may set, is reported separately.
"""

import asyncio
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Final

import msgspec

from analysis.market.pool_ranking import TradeResult, ValuedPool, either
from analysis.pipeline.chain_context import ChainContext
from analysis.pipeline.first_round import FirstRound
from analysis.pipeline.pool_setups import trade_setups
from analysis.pipeline.trade_rounds import simulation_job
from analysis.quotes.timed_simulation import perform_in_time, trace_in_time
from analysis.scenarios.trade.sized_trades import (
    TRADE_SIDES,
    WAITS_S,
    SizedTrade,
    SizedTradeSimulation,
    Timing,
    TradeDirection,
    read_balance,
    read_sized_trade,
    write_sized_buy,
    write_sized_sale,
)
from analysis.scenarios.trade.trade_setup import TradeSetup
from analysis.simulation.simulate_v1 import NotSimulated, Passed, Refused, SimulationResult
from core.evm.primitives import RawAmount

SIZES_USD: Final = (100.0, 1_000.0, 10_000.0)
"""Approximate sizes of the buys: each is varied by up to a tenth, as round sizes reveal a test."""

_POINTS: Final = 0.1
"""Percentage points: takings that differ by no more are equal."""


_TradeKey = tuple[TradeDirection, float, int]
"""Side, size in USD, and wait."""


class MeasuredTrades(msgspec.Struct, frozen=True, kw_only=True):
    """The trades of one pool."""

    trades: tuple[SizedTrade, ...] = ()
    """Buys, then sales; by size, then by moment."""
    reason: str = ""
    """Reason for missing trades. Empty: there are some."""

    @property
    def varies_by_size(self) -> bool | None:
        """True if outcome, tax or the pool's fee differ with the size alone. None: no known ones
        differ, and some are unknown."""
        return _varies(self.trades, lambda trade: (trade.side, trade.wait_s))

    @property
    def varies_by_time(self) -> bool | None:
        """True if they differ with the moment alone. None also where blocks were left out between
        the moments: a rule by block number may have been skipped."""
        found = _varies(self.trades, lambda trade: (trade.side, trade.size_usd))
        is_passed_over = any(trade.block and trade.block.left_out for trade in self.trades)
        return None if is_passed_over and not found else found

    @property
    def varies_by_side(self) -> bool | None:
        """True if they differ between a buy and the sale of its tokens."""
        return _varies(self.trades, lambda trade: (trade.size_usd, trade.wait_s))


async def measure_trades(
    context: ChainContext,
    first_round: FirstRound,
    pools: Sequence[ValuedPool],
    *,
    until_s: float | None = None,
) -> list[MeasuredTrades]:
    """Return the trades of each pool, in the order of the pools. Raises UpstreamError.

    Trades that have not run by `until_s` (see `perform_in_time`) are reported as not simulated.
    """
    setups, refused = trade_setups(context, first_round, pools)
    by_key = {setup.candidate.key: setup for setup in setups}

    async def measure(pool: ValuedPool) -> MeasuredTrades:
        setup = by_key.get(pool.candidate.key)
        if setup is None:
            return MeasuredTrades(reason=_reason(refused[pool.candidate.key]))
        return await _PoolTrades(context, first_round, pool, setup, until_s).measure()

    # One request per pool: a slow node then loses only the answers of some pools.
    return await asyncio.gather(*map(measure, pools))


class _PoolTrades:
    """The trades of one pool."""

    def __init__(
        self,
        context: ChainContext,
        first_round: FirstRound,
        pool: ValuedPool,
        setup: TradeSetup,
        until_s: float | None,
    ) -> None:
        self._context, self._round = context, first_round
        self._pool, self._setup = pool, setup
        self._until_s = until_s
        self._timing = Timing(block_time_s=context.chain.block_time_s, now_s=int(context.now_s()))

    async def measure(self) -> MeasuredTrades:
        """Run all trades, and those that need distant blocks again by traces.

        Raises UpstreamError.
        """
        buys = self._write_buys(self._timing)
        bought = await self._simulate(buys)
        bought_raw = {
            written.size_usd: amount
            for written, result in zip(buys, bought, strict=True)
            if not written.wait_s and (amount := _sellable(written, result))
        }
        sales = self._write_sales(buys, bought_raw, self._timing)
        sold = await self._simulate(sales)
        ran = zip((*buys, *sales), (*bought, *sold), strict=True)
        trades = {_key_of(written): read_sized_trade(written, result) for written, result in ran}
        return _measured(self._pool, self._setup, trades | await self._trace(trades, bought_raw))

    async def _trace(
        self, trades: Mapping[_TradeKey, SizedTrade], bought_raw: Mapping[float, RawAmount]
    ) -> dict[_TradeKey, SizedTrade]:
        """Return trades at the true block numbers of their moments, by traces.

        Only trades for which simulations left blocks out. Empty: the node traces no calls.
        """
        timing = msgspec.structs.replace(self._timing, is_bounded=False)
        buys = self._write_buys(timing)
        distant = [
            written
            for written in (*buys, *self._write_sales(buys, bought_raw, timing))
            if (block := trades[_key_of(written)].block) is not None and block.left_out
        ]
        traced = await trace_in_time(
            self._context, [written.simulation for written in distant], until_s=self._until_s
        )
        return {
            _key_of(written): read_sized_trade(written, result)
            for written, result in zip(distant, traced, strict=True)
            if result is not None
        }

    async def _simulate(
        self, written: Sequence[SizedTradeSimulation]
    ) -> list[SimulationResult | NotSimulated]:
        jobs = [simulation_job(self._setup.candidate, each.simulation) for each in written]
        return await perform_in_time(self._context, self._round, jobs, until_s=self._until_s)

    def _write_buys(self, timing: Timing) -> list[SizedTradeSimulation]:
        """Return the buys of every size that the pool can take, at every moment."""
        setup = self._setup
        return [
            write_sized_buy(
                setup, timing, size_usd=size_usd, amount_in=RawAmount(amount), wait_s=wait_s
            )
            for size_usd in SIZES_USD
            if 0 < (amount := _amount(self._pool, setup, size_usd)) <= setup.quote_reserve_raw
            for wait_s in WAITS_S
        ]

    def _write_sales(
        self,
        buys: Sequence[SizedTradeSimulation],
        bought_raw: Mapping[float, RawAmount],
        timing: Timing,
    ) -> list[SizedTradeSimulation]:
        """Return the sales, at every moment, of the tokens of buys in the next block.

        `bought_raw`: amount of these tokens, by the size of the buy.
        """
        return [
            write_sized_sale(
                self._setup,
                timing,
                size_usd=written.size_usd,
                amount_in=written.buy.amount_in,
                amount_raw=bought_raw[written.size_usd],
                wait_s=wait_s,
            )
            for written in buys
            if not written.wait_s and written.size_usd in bought_raw
            for wait_s in WAITS_S
        ]


def _amount(pool: ValuedPool, setup: TradeSetup, size_usd: float) -> int:
    """Return roughly this size in smallest units of the quote token. 0: it has no price."""
    if not pool.quote_unit_usd:
        return 0
    amount = RawAmount(int(size_usd / pool.quote_unit_usd))
    return setup.disguise.about(amount, f"{setup.candidate.key}:sized {size_usd}")


def _sellable(
    written: SizedTradeSimulation, result: SimulationResult | NotSimulated
) -> RawAmount | None:
    """Return the tokens of a buy that passed. None: it did not, or they are not visible."""
    if not isinstance(read_sized_trade(written, result).outcome, Passed):
        return None
    return read_balance(written, result)


def _reason(trade: TradeResult) -> str:
    return trade.buy.reason if isinstance(trade.buy, Refused | NotSimulated) else "not tried"


def _key_of(trade: SizedTrade | SizedTradeSimulation) -> _TradeKey:
    if isinstance(trade, SizedTrade):
        return trade.side, trade.size_usd, trade.wait_s
    return "buy" if trade.sale is None else "sell", trade.size_usd, trade.wait_s


def _measured(
    pool: ValuedPool, setup: TradeSetup, known: Mapping[_TradeKey, SizedTrade]
) -> MeasuredTrades:
    """Return the trades of one pool, with those that were not run."""
    trades: list[SizedTrade] = []
    for side in TRADE_SIDES:
        for size_usd in SIZES_USD:
            first = known.get(("buy", size_usd, 0))
            why = _why_no_buy(pool, setup, size_usd) if first is None else _why_no_sale(first)
            trades += [
                known.get((side, size_usd, wait_s))
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
    match buy.outcome:
        case Passed():
            reason = "what was bought is not visible, or is gone"
            return NotSimulated(missing="HOLDER", reason=reason)
        case Refused():
            reason = "the buy did not pass, so there was nothing to sell"
            return NotSimulated(missing="FUNDS", reason=reason)
        case NotSimulated():
            return buy.outcome


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
        max(known_values) - min(known_values)
        for values in (taxes, fees)
        if (known_values := [value for value in values if value is not None])
    ]
    if any(spread > _POINTS for spread in spreads):
        return True
    return None if len(known) < len(group) or None in taxes or None in fees else False
