"""Simulation of one size of trade: a buy with its sale, and a sale of exactly that size.

The second seller bought more than the size. Where the whole is refused a tenth is tried: a limit on
the size of a sale harms no seller that can sell in parts. Sends no request.
"""

from typing import Final

from analysis.conditions.condition_inputs import WhatIf
from analysis.scenarios.conditions.what_if import InputSimulation
from analysis.scenarios.trade.account_calls import account_calls
from analysis.scenarios.trade.buy import BuyTry
from analysis.scenarios.trade.token_calls import UNLIMITED
from analysis.scenarios.trade.trade_setup import TradeSetup, build_simulation
from analysis.scenarios.trade.trade_steps import (
    Order,
    SaleSteps,
    write_approval,
    write_buy,
    write_sale,
    write_unread_buy,
)
from analysis.simulation.simulate_v1 import Passed
from analysis.simulation.simulation_builder import CallWriter, SimulationBuilder
from core.evm.primitives import Address, RawAmount

_BUYER: Final = "buyer of a size"
_SELLER: Final = "seller of a size"
_MORE_PCT: Final = 130
"""Percent of the size that the seller buys."""
_KEPT_PCT: Final = 97
"""Percent of its purchase that the buyer sells, as its amount is an estimate."""
_BLOCKS: Final = (0, 1, 3)
"""Indexes in TradeSetup.blocks of the buys, the approvals and the sales."""


def write_size(
    setup: TradeSetup, buyer: BuyTry, what_if: WhatIf, pool_balance_raw: RawAmount
) -> InputSimulation | None:
    """Return the simulation. `buyer`: an ordinary buy that passed.

    None: its price is not known, it brought nothing, or the pool holds less.
    """
    size = RawAmount(what_if.value)
    kept = _kept(buyer)
    if kept <= 0:
        return None
    pays = _payment(setup, buyer, size, pool_balance_raw)
    more = RawAmount(int(size * _MORE_PCT / (100 * kept)))
    pays_more = _payment(setup, buyer, more, pool_balance_raw)
    if pays is None or pays_more is None:
        return None
    setup = setup.with_coin(is_wanted=buyer.in_coin)
    builder = SimulationBuilder(setup.blocks[at] for at in _BLOCKS)
    names = (f"{_BUYER} {size}", f"{_SELLER} {size}")
    accounts = [setup.trader(name) for name in names]
    buying, approving, selling = (
        [account_calls(builder[at], name) for name in names] for at in range(len(_BLOCKS))
    )
    buy = write_buy(buying[0], setup, accounts[0], pays)
    write_unread_buy(buying[1], setup, accounts[1], pays_more)
    sold = RawAmount(int(size * kept) * _KEPT_PCT // 100)
    sales = [
        _write_sales(approving[at], selling[at], setup, account, amount)
        for at, (account, amount) in enumerate(zip(accounts, (sold, size), strict=True))
    ]
    return InputSimulation(
        what_if=what_if,
        extent="all",
        simulation=build_simulation(
            setup,
            builder.blocks(),
            payers=dict(zip(accounts, (pays, pays_more), strict=True)),
        ),
        setup=setup,
        buy=buy,
        sales=sales[0],
        others=sales[1],
    )


def _write_sales(
    approving: CallWriter,
    selling: CallWriter,
    setup: TradeSetup,
    seller: Address,
    amount: RawAmount,
) -> tuple[SaleSteps, SaleSteps]:
    approval = write_approval(approving, setup, seller, "at sale", UNLIMITED)
    whole = Order(label="at sale", amount=amount)
    tenth = Order(label="tenth at sale", amount=RawAmount(max(1, amount // 10)), share="tenth")
    return (
        write_sale(selling, setup, seller, whole, approval=approval),
        write_sale(selling, setup, seller, tenth),
    )


def _kept(buyer: BuyTry) -> float:
    """Return the share of a purchase that is left after the buy tax."""
    tax = buyer.outcome.tax if isinstance(buyer.outcome, Passed) else None
    return 1 - (tax or 0) / 100


def _payment(
    setup: TradeSetup, buyer: BuyTry, size: RawAmount, pool_balance_raw: RawAmount
) -> RawAmount | None:
    """Return the cost of a buy of `size`, by a constant product fitted to the ordinary buy.

    None: not known, or more than the pool has.
    """
    kept, reserve, paid = _kept(buyer), setup.quote_reserve_raw, buyer.amount_in
    if buyer.balances_raw is None or kept <= 0 or not reserve or not pool_balance_raw:
        return None
    brought = buyer.balances_raw[0] / kept
    usual = pool_balance_raw * paid / (reserve + paid)
    left = pool_balance_raw * brought / usual - size
    return RawAmount(max(1, int(reserve * size / left))) if left > 0 else None
