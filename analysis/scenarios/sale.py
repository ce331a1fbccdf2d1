"""Can what was bought be sold, and what does a sale cost?

Fresh codeless accounts buy as in `buy`, approve in a block of its own, and in later blocks sell
what they got. Tax is what left the seller against what the pool says it received, and what it sent
against what arrived; slippage and pool fees are not tax. Source: the specification, "Pools".

`write_sales` repeats each buy that worked and sells. The answer is the worst of what was played:
the highest tax of the sizes that went through, and no sale where some buyers cannot sell.
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
from config.primitives import RawAmount

VERSION = 4

PATIENCE_S = 3_600
"""A sale refused in the next block is tried once more this much later: a cooldown is not a ban."""


class Sale(msgspec.Struct, frozen=True, kw_only=True):
    """How one buyer tries to sell: one play."""

    play: Simulation
    orders: tuple[tuple[Order, ...], tuple[Order, ...]]
    """In the block of the sale, and in that of the patient sale."""
    share: int
    """Position of the size among those that passed, largest first; 0 for a funded seller."""


class SoldSize(msgspec.Struct, frozen=True, kw_only=True):
    """What came of the sale after one size of buy."""

    amount_in: RawAmount
    outcome: Outcome


class Sold(msgspec.Struct, frozen=True, kw_only=True):
    """The sell side of one pool, settled."""

    outcome: Outcome
    sizes: tuple[SoldSize, ...] = ()
    depends_on_size: bool | None = None
    """Whether some buyers can sell, or keep half of what it brings, and others cannot. None: not
    more than one size was learnt of."""


def write_sales(ground: TradeSetup, bought: Bought, *, supply_raw: RawAmount) -> tuple[Sale, ...]:
    """How what was bought is sold, one play a size. Empty: there is nothing to sell.

    Where buying was refused, an account funded on stage sells: whoever holds the token already
    still wants to know.
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
    """At first what is sold is approved, for the patient sale everything: people do both."""
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
    """What everybody could sell. `sells_in_parts`: whether the largest buyer could sell all of it
    in parts; None: not tried."""
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
    """`told`: what was learnt of each size, largest first. A limit that refuses only the larger
    sizes, and those not in parts, is a limit and no trap."""
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
    """The first try that worked; the next block's before the patient ones."""
    outcomes = [
        read_sale(ground, played, order.when, asked=order.amount)
        for block in orders
        for order in block
        if _counts(played, order, block[0])
    ]
    passed = next((outcome for outcome in outcomes if isinstance(outcome, Passed)), None)
    # A balance that is gone by the patient sale does not take back a refusal seen before.
    learnt = [
        outcome
        for outcome in outcomes
        if not (isinstance(outcome, NotSimulated) and outcome.missing == "FUNDS")
    ] or outcomes
    return passed or unlearnt(learnt) or learnt[0]


def _counts(played: SimulationResult | NotSimulated, order: Order, whole: Order) -> bool:
    """Half counts only where there is less than all: that half sells says nothing of the rest."""
    if isinstance(played, NotSimulated) or not order.when.startswith(HALF):
        return True
    held = played[f"balance before sale {order.when}"].word
    return held is not None and held < whole.amount


def write_sending(ground: TradeSetup, bought: Bought) -> tuple[Simulation, Wallet] | None:
    """The buyer sends half of it on, after the longest wait. None: nothing was bought."""
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
    """All of it, with a wallet's gas and then with more, and nearly all of it, in both blocks: some
    wallets may not be emptied. Half of it, should the approval have taken a part."""
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
