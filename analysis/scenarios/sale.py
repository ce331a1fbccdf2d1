"""Sale check: simulates sales of what was bought in a pool, and measures their tax.

Fresh codeless accounts buy as in `buy`, approve in a block of its own, and in later blocks sell
what they got. Tax is the difference between what left the seller and what the pool reports as
received, and between what the pool sent and what arrived; slippage and pool fees are not tax.
Source: the specification, "Pools".

`write_sales` repeats each buy that passed and sells. The answer is the worst outcome: the highest
tax of the sizes that passed, and no sale where some buyers cannot sell.
"""

from collections.abc import Sequence

import msgspec

from analysis.scenarios.buy import Bought, BuyTry, estimated_gas
from analysis.scenarios.trade_outcome import (
    HALF,
    HEAVY_TAX_PCT,
    MORE_GAS,
    NEARLY_ALL,
    highest_taxed,
    is_told,
    read_sale,
    unlearnt,
)
from analysis.scenarios.trade_setup import (
    Order,
    TradeSetup,
    funded_sale_play,
    sale_play,
    sending_play,
)
from analysis.scenarios.transfer import Wallet, sent_share
from analysis.simulation.simulate_v1 import (
    CALL_GAS,
    NotSimulated,
    Outcome,
    Passed,
    Refused,
    Simulation,
    SimulationResult,
)
from core.primitives import RawAmount

VERSION = 4

PATIENCE_S = 3_600
"""Seconds after which a sale that reverts in the next block is retried: a cooldown is not a ban."""


class Sale(msgspec.Struct, frozen=True, kw_only=True):
    """The attempts of one buyer to sell: one simulation."""

    play: Simulation
    orders: tuple[tuple[Order, ...], tuple[Order, ...]]
    """Attempts in the block of the sale, and in that of the late sale."""
    share: int
    """Index of the size among those that passed, largest first; 0 for a funded seller."""


class SoldSize(msgspec.Struct, frozen=True, kw_only=True):
    """Outcome of the sale after one size of buy."""

    amount_in: RawAmount
    outcome: Outcome


class Sold(msgspec.Struct, frozen=True, kw_only=True):
    """Result of the sell side of one pool."""

    outcome: Outcome
    sizes: tuple[SoldSize, ...] = ()
    depends_on_size: bool | None = None
    """True if some buyers can sell, or keep half of the proceeds, and others cannot. None: fewer
    than two sizes were determined."""


def write_sales(ground: TradeSetup, bought: Bought, *, supply_raw: RawAmount) -> tuple[Sale, ...]:
    """Return one simulation of sales for each size of buy that passed. Empty: there is nothing to
    sell.

    Where buying reverted, an account funded by state override sells: existing holders still need
    the answer.
    """
    if bought.passed:
        return tuple(
            _sale(ground, each, share)
            for share, each in enumerate(bought.passed)
            if each.held is not None and any(each.held)
        )
    slot = ground.token_slot_index
    if not isinstance(bought.outcome, Refused) or slot is None:
        return ()
    amount = sent_share(supply_raw, ground.disguise)
    orders = _orders((amount, amount))
    play = funded_sale_play(ground, amount, orders, slot_index=slot)
    return (Sale(play=play, orders=orders, share=0),)


def _sale(ground: TradeSetup, bought: BuyTry, share: int) -> Sale:
    """Return the sales of one size. The first approval is of the amount sold, that of the late sale
    is unlimited: both are common."""
    held = bought.held or (RawAmount(0), RawAmount(0))
    is_estimated = bought.approval_gas_used is not None
    gas = estimated_gas(bought.gas_used) if is_estimated else None
    orders = _orders(held, gas=gas)
    play = sale_play(
        ground.with_coin(is_wanted=bought.in_coin),
        bought.amount_in,
        orders,
        gas=gas or bought.gas,
        approval_gas=estimated_gas(bought.approval_gas_used),
        allowed=held[0],
    )
    return Sale(play=play, orders=orders, share=share)


def read_sales(
    ground: TradeSetup,
    bought: Bought,
    sales: Sequence[Sale],
    played: Sequence[SimulationResult | NotSimulated],
    *,
    sells_in_parts: bool | None,
) -> Sold:
    """Return the result over all sizes. `sells_in_parts`: True if the largest buyer could sell all
    of it in parts; None: not tried."""
    if not sales:
        return Sold(outcome=_nothing_to_sell(bought))
    outcomes = [
        read_tries(_ground_of(ground, bought, sale), result, sale.orders)
        for sale, result in zip(sales, played, strict=True)
    ]
    if not bought.passed:
        return Sold(outcome=outcomes[0])
    sizes = tuple(
        SoldSize(amount_in=bought.passed[sale.share].amount_in, outcome=outcome)
        for sale, outcome in zip(sales, outcomes, strict=True)
    )
    told = [
        outcome
        for sale, outcome in zip(sales, outcomes, strict=True)
        if not isinstance(outcome, NotSimulated)
        and (sale.share == 0 or is_told(sale.orders[0][0].amount))
    ]
    if not told:
        return Sold(outcome=unlearnt(outcomes) or outcomes[0], sizes=sizes)
    return judge_sizes(told, sizes, sells_in_parts=sells_in_parts)


def judge_sizes(
    told: Sequence[Outcome], sizes: tuple[SoldSize, ...], *, sells_in_parts: bool | None
) -> Sold:
    """Return the result from the determined outcomes `told`, largest size first. A limit that
    reverts only the larger sizes, and not their sale in parts, is a limit and no trap."""
    passed = [outcome for outcome in told if isinstance(outcome, Passed)]
    refused = [outcome for outcome in told if isinstance(outcome, Refused)]
    if not refused:
        taxes = [outcome.tax for outcome in passed if outcome.tax is not None]
        depends = len(taxes) > 1 and min(taxes) < HEAVY_TAX_PCT <= max(taxes)
        return Sold(outcome=highest_taxed(passed), sizes=sizes, depends_on_size=depends)
    is_only_larger = all(isinstance(outcome, Refused) for outcome in told[: len(refused)])
    if passed and is_only_larger and sells_in_parts:
        return Sold(outcome=highest_taxed(passed), sizes=sizes, depends_on_size=False)
    return Sold(outcome=refused[-1], sizes=sizes, depends_on_size=bool(passed))


def _nothing_to_sell(bought: Bought) -> Outcome:
    if any(each.held is not None for each in bought.passed):
        return Refused(reason="what was bought is gone in the next block")
    if bought.passed:
        return NotSimulated(missing="HOLDER", reason="balanceOf does not tell what was bought")
    return NotSimulated(
        missing="FUNDS", reason="the buy did not pass, so there was nothing to sell"
    )


def read_tries(
    ground: TradeSetup, played: SimulationResult | NotSimulated, orders: Sequence[Sequence[Order]]
) -> Outcome:
    """Return the outcome of the first attempt that passed, those of the next block before the late
    ones."""
    outcomes = [
        read_sale(ground, played, order.when, asked=order.amount)
        for block in orders
        for order in block
        if _counts(played, order, block[0])
    ]
    passed = next((outcome for outcome in outcomes if isinstance(outcome, Passed)), None)
    # A balance that is gone by the late sale does not cancel a revert seen before.
    learnt = [
        outcome
        for outcome in outcomes
        if not (isinstance(outcome, NotSimulated) and outcome.missing == "FUNDS")
    ] or outcomes
    return passed or unlearnt(learnt) or learnt[0]


def _counts(played: SimulationResult | NotSimulated, order: Order, whole: Order) -> bool:
    """True unless the attempt is to sell half and the seller still holds all: that half sells says
    nothing about the rest."""
    if isinstance(played, NotSimulated) or not order.when.startswith(HALF):
        return True
    held = played[f"balance before sale {order.when}"].word
    return held is not None and held < whole.amount


def write_sending(ground: TradeSetup, bought: Bought) -> tuple[Simulation, Wallet] | None:
    """Return a simulation in which the buyer transfers half after the longest wait. None: nothing
    was bought."""
    buyer = bought.largest
    if buyer is None or buyer.held is None or not buyer.held[1]:
        return None
    amount = RawAmount(max(1, buyer.held[1] // 2))
    wallet = Wallet(
        address=ground.buyer(buyer.amount_in),
        balance_raw=buyer.held[1],
        amount_raw=amount,
        slot_index=None,
    )
    paying = ground.with_coin(is_wanted=buyer.in_coin)
    return sending_play(paying, buyer.amount_in, amount), wallet


def _ground_of(ground: TradeSetup, bought: Bought, sale: Sale) -> TradeSetup:
    return ground.with_coin(is_wanted=bool(bought.passed) and bought.passed[sale.share].in_coin)


def _orders(
    held: tuple[RawAmount, RawAmount], *, gas: int | None = None
) -> tuple[tuple[Order, ...], tuple[Order, ...]]:
    """Return the attempts of both blocks: all of it, with a wallet's gas and then with more, nearly
    all of it, as some wallets may not be emptied, and half of it, in case the approval has taken a
    part."""
    at_sale, later = (
        (
            Order(when=when, amount=amount, gas=gas),
            Order(when=f"{MORE_GAS}{when}", amount=amount, gas=CALL_GAS),
            Order(when=f"{NEARLY_ALL}{when}", amount=RawAmount(max(1, amount - amount // 100 - 1))),
            Order(when=f"{HALF}{when}", amount=RawAmount(max(1, amount // 2))),
        )
        for when, amount in zip(
            ("at sale", "later"), (RawAmount(max(1, each)) for each in held), strict=True
        )
    )
    return at_sale, later
