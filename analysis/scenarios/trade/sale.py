"""Sale check: simulates sales of bought tokens in a pool, and measures their tax.

Fresh codeless accounts buy as in `buy`, approve in a separate block, and sell in later blocks. Tax
is the difference between the amount that left the seller and the one that the pool reports as
received, and between the amount that the pool sent and the received one; slippage and pool fees are
not tax. Source: the specification, "Pools".

`write_sales` repeats each buy that passed and sells. The answer is the worst outcome: the highest
tax of the sizes that passed, and no sale where some buyers cannot sell.
"""

from collections.abc import Sequence

import msgspec

from analysis.scenarios.trade.buy import Bought, BuyTry, estimated_gas
from analysis.scenarios.trade.token_calls import UNLIMITED, balance_call
from analysis.scenarios.trade.trade_outcome import (
    HEAVY_TAX_PCT,
    exceeds_rounding,
    highest_taxed,
    read_sale,
    unlearnt,
)
from analysis.scenarios.trade.trade_setup import TradeSetup, build_simulation
from analysis.scenarios.trade.trade_steps import (
    ApprovalSteps,
    Order,
    SaleSteps,
    write_approval,
    write_buy,
    write_sale,
)
from analysis.scenarios.trade.transfer import TransferSimulation, Wallet, sent_share, write_transfer
from analysis.simulation.balance_slot import balance_override
from analysis.simulation.simulate_v1 import (
    CALL_GAS,
    NotSimulated,
    Outcome,
    Passed,
    Refused,
    Simulation,
    SimulationResult,
)
from analysis.simulation.simulation_builder import CallWriter, SimulationBuilder
from core.evm.primitives import Address, RawAmount

VERSION = 4

PATIENCE_S = 3_600
"""Seconds after which a sale that reverts in the next block is retried: a cooldown is not a ban."""


class Sale(msgspec.Struct, frozen=True, kw_only=True):
    """The attempts of one buyer to sell: one simulation."""

    simulation: Simulation
    setup: TradeSetup
    """With the means of payment."""
    attempts: tuple[tuple[SaleSteps, ...], tuple[SaleSteps, ...]]
    """Attempts in the block of the sale, and in that of the late sale."""
    size: int
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


def write_sales(setup: TradeSetup, bought: Bought, *, supply_raw: RawAmount) -> tuple[Sale, ...]:
    """Return one simulation of sales for each size of buy that passed. Empty: there is nothing to
    sell.

    Where buying reverted, an account funded by state override sells: existing holders still need
    the answer.
    """
    if bought.passed:
        return tuple(
            _write_bought_sale(
                setup.with_coin(is_wanted=each.in_coin), each, each.balances_raw, size=size
            )
            for size, each in enumerate(bought.passed)
            if each.balances_raw is not None and any(each.balances_raw)
        )
    slot_index = setup.token_slot_index
    if not isinstance(bought.outcome, Refused) or slot_index is None:
        return ()
    amount = sent_share(supply_raw, setup.disguise)
    return (_write_funded_sale(setup, amount, slot_index=slot_index),)


def _write_bought_sale(
    setup: TradeSetup, bought: BuyTry, balances: tuple[RawAmount, RawAmount], *, size: int
) -> Sale:
    """Return a simulation of the same buy with a sale.

    The account approves in the next block, and sells in the two blocks after that.
    """
    is_estimated = bought.approval_gas_used is not None
    gas = estimated_gas(bought.gas_used) if is_estimated else None
    seller = setup.buyer(bought.amount_in)
    builder = SimulationBuilder(setup.blocks)
    write_buy(builder[0], setup, seller, bought.amount_in, gas=gas or bought.gas)
    attempts = _write_approved_sales(
        builder,
        setup,
        seller,
        _orders(balances, gas=gas),
        allowed=balances[0],
        gas=estimated_gas(bought.approval_gas_used),
    )
    simulation = build_simulation(setup, builder.blocks(), payers={seller: bought.amount_in})
    return Sale(simulation=simulation, setup=setup, attempts=attempts, size=size)


def _write_funded_sale(setup: TradeSetup, amount: RawAmount, *, slot_index: int) -> Sale:
    """Return a simulation that sells from an account funded by state override."""
    seller, token = setup.trader(f"funded {amount}"), setup.candidate.token
    builder = SimulationBuilder(setup.blocks)
    builder[0].add(balance_call(token, seller, "balance given"))
    attempts = _write_approved_sales(
        builder, setup, seller, _orders((amount, amount)), allowed=amount
    )
    given = {token: balance_override(seller, amount, index=slot_index)}
    simulation = build_simulation(setup, builder.blocks(), others=(seller,), given=given)
    return Sale(simulation=simulation, setup=setup, attempts=attempts, size=0)


def _write_approved_sales(
    builder: SimulationBuilder,
    setup: TradeSetup,
    seller: Address,
    orders: tuple[Sequence[Order], Sequence[Order]],
    *,
    allowed: int,
    gas: int | None = None,
) -> tuple[tuple[SaleSteps, ...], tuple[SaleSteps, ...]]:
    """Write the approval in a separate block, as wallets do, and then the sales.

    The first approval is of `allowed`, that of the late sale is unlimited: both are common. `gas`:
    limit of the approvals; None: CALL_GAS.
    """
    approval = write_approval(builder[1], setup, seller, "at sale", allowed, gas=gas)
    at_sale = _write_attempts(builder[2], setup, seller, orders[0], approval)
    unlimited = write_approval(builder[2], setup, seller, "later", UNLIMITED, gas=gas)
    return at_sale, _write_attempts(builder[3], setup, seller, orders[1], unlimited)


def _write_attempts(
    calls: CallWriter,
    setup: TradeSetup,
    seller: Address,
    orders: Sequence[Order],
    approval: ApprovalSteps,
) -> tuple[SaleSteps, ...]:
    first = write_sale(calls, setup, seller, orders[0], approval=approval)
    return (first, *(write_sale(calls, setup, seller, order, first=first) for order in orders[1:]))


def read_sales(
    bought: Bought,
    sales: Sequence[Sale],
    results: Sequence[SimulationResult | NotSimulated],
    *,
    sells_in_parts: bool | None,
) -> Sold:
    """Return the result over all sizes. `sells_in_parts`: True if the largest buyer could sell its
    whole purchase in parts; None: not tried."""
    if not sales:
        return Sold(outcome=_nothing_to_sell(bought))
    outcomes = [
        read_attempts(sale.setup, result, sale.attempts)
        for sale, result in zip(sales, results, strict=True)
    ]
    if not bought.passed:
        return Sold(outcome=outcomes[0])
    sizes = tuple(
        SoldSize(amount_in=bought.passed[sale.size].amount_in, outcome=outcome)
        for sale, outcome in zip(sales, outcomes, strict=True)
    )
    settled = [
        outcome
        for sale, outcome in zip(sales, outcomes, strict=True)
        if not isinstance(outcome, NotSimulated)
        and (sale.size == 0 or exceeds_rounding(sale.attempts[0][0].order.amount))
    ]
    if not settled:
        return Sold(outcome=unlearnt(outcomes) or outcomes[0], sizes=sizes)
    return combine_sizes(settled, sizes, sells_in_parts=sells_in_parts)


def combine_sizes(
    settled: Sequence[Outcome], sizes: tuple[SoldSize, ...], *, sells_in_parts: bool | None
) -> Sold:
    """Return the result from the outcomes that are determined, largest size first. A limit that
    reverts only the larger sizes, and not their sale in parts, is a limit and no trap."""
    passed = [outcome for outcome in settled if isinstance(outcome, Passed)]
    refused = [outcome for outcome in settled if isinstance(outcome, Refused)]
    if not refused:
        taxes = [outcome.tax for outcome in passed if outcome.tax is not None]
        depends = len(taxes) > 1 and min(taxes) < HEAVY_TAX_PCT <= max(taxes)
        return Sold(outcome=highest_taxed(passed), sizes=sizes, depends_on_size=depends)
    is_only_larger = all(isinstance(outcome, Refused) for outcome in settled[: len(refused)])
    if passed and is_only_larger and sells_in_parts:
        return Sold(outcome=highest_taxed(passed), sizes=sizes, depends_on_size=False)
    return Sold(outcome=refused[-1], sizes=sizes, depends_on_size=bool(passed))


def _nothing_to_sell(bought: Bought) -> Outcome:
    if any(each.balances_raw is not None for each in bought.passed):
        return Refused(reason="what was bought is gone in the next block")
    if bought.passed:
        return NotSimulated(missing="HOLDER", reason="balanceOf does not tell what was bought")
    return NotSimulated(
        missing="FUNDS", reason="the buy did not pass, so there was nothing to sell"
    )


def read_attempts(
    setup: TradeSetup,
    result: SimulationResult | NotSimulated,
    attempts: Sequence[Sequence[SaleSteps]],
) -> Outcome:
    """Return the outcome of the first attempt that passed, those of the next block first."""
    if isinstance(result, NotSimulated):
        return result
    outcomes = [
        read_sale(setup, result, each)
        for block in attempts
        for each in block
        if _counts(result, each, block[0])
    ]
    passed = next((outcome for outcome in outcomes if isinstance(outcome, Passed)), None)
    # A balance that is gone by the late sale does not cancel a revert seen before.
    learnt = [
        outcome
        for outcome in outcomes
        if not (isinstance(outcome, NotSimulated) and outcome.missing == "FUNDS")
    ] or outcomes
    return passed or unlearnt(learnt) or learnt[0]


def _counts(result: SimulationResult, attempt: SaleSteps, whole: SaleSteps) -> bool:
    """False for an attempt to sell half while the seller still holds all: it does not show that the
    rest sells."""
    if attempt.order.share != "half":
        return True
    balance = result.word(attempt.before)
    return balance is not None and balance < whole.order.amount


def write_sending(setup: TradeSetup, bought: Bought) -> TransferSimulation | None:
    """Return a simulation in which the buyer transfers half after the longest wait.

    If that fails for its size, a hundredth of it is tried: where each whole token costs gas, half
    of a large purchase may need more than a block has. None: nothing was bought.
    """
    buyer = bought.largest
    if buyer is None or buyer.balances_raw is None or not buyer.balances_raw[1]:
        return None
    setup, token = setup.with_coin(is_wanted=buyer.in_coin), setup.candidate.token
    wallet = Wallet(
        address=setup.buyer(buyer.amount_in),
        balance_raw=buyer.balances_raw[1],
        amount_raw=RawAmount(max(1, buyer.balances_raw[1] // 2)),
        slot_index=None,
    )
    sender = wallet.address
    builder = SimulationBuilder(setup.blocks)
    write_buy(builder[0], setup, sender, buyer.amount_in)
    builder[1].add(balance_call(token, sender, "balance at approval"))
    builder[2].add(balance_call(token, sender, "balance at sale"))
    attempts = tuple(
        write_transfer(
            builder[3].named(prefix),
            token,
            sender,
            setup.trader("friend"),
            RawAmount(max(1, wallet.amount_raw // share)),
            reader=sender,
        )
        for prefix, share in (("", 1), ("smaller ", 100))
    )
    simulation = build_simulation(setup, builder.blocks(), payers={sender: buyer.amount_in})
    return TransferSimulation(wallet=wallet, simulation=simulation, attempts=attempts)


def _orders(
    balances: tuple[RawAmount, RawAmount], *, gas: int | None = None
) -> tuple[tuple[Order, ...], tuple[Order, ...]]:
    """Return the attempts of both blocks.

    The whole balance, with a wallet's gas and then with more; nearly all of it, as some wallets may
    not be emptied; and half of it, in case the approval has taken a part.
    """
    at_sale, later = (
        (
            Order(label=label, amount=amount, gas=gas),
            Order(label=f"with more gas {label}", amount=amount, gas=CALL_GAS),
            Order(
                label=f"nearly all {label}",
                amount=RawAmount(max(1, amount - amount // 100 - 1)),
                share="nearly all",
            ),
            Order(label=f"half {label}", amount=RawAmount(max(1, amount // 2)), share="half"),
        )
        for label, amount in zip(
            ("at sale", "later"), (RawAmount(max(1, each)) for each in balances), strict=True
        )
    )
    return at_sale, later
