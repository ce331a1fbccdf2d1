"""Sized trades: buys of several sizes, and sales of their tokens, at several moments.

Each buy and each sale is a separate simulation from the pinned state, by a fresh account, so no
trade affects another. Buys come at each moment; sales are by accounts that bought
in the next block, and come at each moment after that. Sends no request.
"""

from collections.abc import Sequence
from typing import Final, Literal

import msgspec

from analysis.scenarios.trade.token_calls import UNLIMITED, balance_call
from analysis.scenarios.trade.trade_outcome import exceeds_rounding, read_buy, read_sale
from analysis.scenarios.trade.trade_setup import TradeSetup, build_simulation
from analysis.scenarios.trade.trade_steps import (
    BuySteps,
    Order,
    SaleSteps,
    write_approval,
    write_buy,
    write_sale,
)
from analysis.simulation.block_schedule import SimulatedBlock, blocks_after
from analysis.simulation.simulate_v1 import (
    CallHandle,
    NotSimulated,
    Outcome,
    Passed,
    Simulation,
    SimulationResult,
)
from analysis.simulation.simulation_builder import SimulationBuilder
from core.evm.primitives import RawAmount

TradeDirection = Literal["buy", "sell"]
TRADE_SIDES: Final[tuple[TradeDirection, ...]] = ("buy", "sell")

WAITS_S: Final = (0, 3_600, 86_400)
"""Moments: seconds after the next block. 0: as soon as an order can be mined."""

_UNCLEAR: Final = NotSimulated(
    missing="LIQUIDITY", reason="so little arrives that rounding decides"
)


class SizedTrade(msgspec.Struct, frozen=True, kw_only=True):
    """One buy or sale of one size at one moment."""

    side: TradeDirection
    size_usd: float
    """Approximate size of the buy, at the price of the quote token. A sale is of that buy's
    tokens."""
    amount_raw: RawAmount | None
    """Paid smallest units: of the quote token in a buy, of the token in a sale. None: it was not
    run."""
    wait_s: int
    """Wait, one of WAITS_S."""
    block: SimulatedBlock | None
    """Block of the trade. None: it was not run."""
    outcome: Outcome
    pool_fee_pct: float | None = None
    """Percent that the pool kept as its fee, which is no tax. None: nothing was traded."""


class SizedTradeSimulation(msgspec.Struct, frozen=True, kw_only=True):
    """One simulation of one trade."""

    simulation: Simulation
    setup: TradeSetup
    size_usd: float
    wait_s: int
    block: SimulatedBlock
    buy: BuySteps
    balance: CallHandle | None
    """The buyer's balance a block later. None: a sale follows."""
    sale: SaleSteps | None
    """None: a buy only."""


class Timing(msgspec.Struct, frozen=True, kw_only=True):
    """Inputs of the block schedule."""

    block_time_s: float
    now_s: int
    is_bounded: bool = True
    """See `blocks_after`."""


def write_sized_buy(
    setup: TradeSetup, timing: Timing, *, size_usd: float, amount_in: RawAmount, wait_s: int
) -> SizedTradeSimulation:
    """Return a buy at one moment."""
    # The first wait is from the next block, which is a block without trades unless it is 0.
    waits = (0,) if not wait_s else (wait_s, 0)
    first, second = _blocks(setup, timing, waits)[-2:]
    setup = setup.with_coin()
    buyer = setup.buyer(amount_in)
    builder = SimulationBuilder([(first.number, first.time_s), (second.number, second.time_s)])
    buy = write_buy(builder[0], setup, buyer, amount_in)
    balance = builder[1].add(balance_call(setup.candidate.token, buyer, "balance a block later"))
    return SizedTradeSimulation(
        simulation=build_simulation(setup, builder.blocks(), payers={buyer: amount_in}),
        setup=setup,
        size_usd=size_usd,
        wait_s=wait_s,
        block=first,
        buy=msgspec.structs.replace(buy, at_sale=balance),
        balance=balance,
        sale=None,
    )


def write_sized_sale(
    setup: TradeSetup,
    timing: Timing,
    *,
    size_usd: float,
    amount_in: RawAmount,
    amount_raw: RawAmount,
    wait_s: int,
) -> SizedTradeSimulation:
    """Return a sale at one moment of the tokens of a buy in the next block.

    The buy is that of `write_sized_buy`, and the approval is in the block after it. `amount_raw`:
    tokens to sell.
    """
    blocks = _blocks(setup, timing, (0, wait_s))
    setup = setup.with_coin()
    seller = setup.buyer(amount_in)
    builder = SimulationBuilder((block.number, block.time_s) for block in blocks)
    buy = write_buy(builder[0], setup, seller, amount_in)
    approval = write_approval(builder[1], setup, seller, "at sale", UNLIMITED)
    order = Order(label="at sale", amount=amount_raw)
    sale = write_sale(builder[2], setup, seller, order, approval=approval)
    return SizedTradeSimulation(
        simulation=build_simulation(setup, builder.blocks(), payers={seller: amount_in}),
        setup=setup,
        size_usd=size_usd,
        wait_s=wait_s,
        block=blocks[-1],
        buy=buy,
        balance=None,
        sale=sale,
    )


def read_sized_trade(
    written: SizedTradeSimulation, result: SimulationResult | NotSimulated
) -> SizedTrade:
    """Return the outcome of the sale, or of the buy where none follows."""
    sale, buy = written.sale, written.buy
    trade = SizedTrade(
        side="buy" if sale is None else "sell",
        size_usd=written.size_usd,
        amount_raw=buy.amount_in if sale is None else sale.order.amount,
        wait_s=written.wait_s,
        block=written.block,
        outcome=_UNCLEAR,
    )
    if isinstance(result, NotSimulated):
        return msgspec.structs.replace(trade, outcome=result)
    setup = written.setup
    if sale is None:
        outcome, swapped = read_buy(setup, result, buy), buy.buy
        balance = read_balance(written, result)
        is_clear = balance is None or exceeds_rounding(balance)
    else:
        outcome, swapped = read_sale(setup, result, sale), sale.sell
        is_clear = exceeds_rounding(sale.order.amount)
    if not isinstance(outcome, Passed):
        return msgspec.structs.replace(trade, outcome=outcome)
    moved = setup.moved(result[swapped].logs, is_buy=sale is None)
    return msgspec.structs.replace(
        trade,
        outcome=outcome if is_clear else _UNCLEAR,
        pool_fee_pct=None if moved is None else round(moved.fee_share * 100, 4),
    )


def read_balance(
    written: SizedTradeSimulation, result: SimulationResult | NotSimulated
) -> RawAmount | None:
    """Return the buyer's balance a block later. None: not visible, or not simulated."""
    if isinstance(result, NotSimulated):
        return None
    balance = result.word(written.balance)
    return None if balance is None else RawAmount(balance)


def _blocks(
    setup: TradeSetup, timing: Timing, waits_s: Sequence[int]
) -> tuple[SimulatedBlock, ...]:
    return blocks_after(
        setup.pin,
        block_time_s=timing.block_time_s,
        now_s=timing.now_s,
        waits_s=waits_s,
        is_bounded=timing.is_bounded,
    )
