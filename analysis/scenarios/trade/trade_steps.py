"""Trade steps: calls of one buy, approval or sale, and the handles of their results.

Writers append calls to a block and return the handles; `trade_outcome` reads the results.
"""

from typing import Literal

import msgspec

from analysis.market.venues.trade_route import Swap
from analysis.scenarios.trade.token_calls import approve_call, balance_call
from analysis.scenarios.trade.trade_setup import TradeSetup, wallet_gas
from analysis.simulation.simulate_v1 import CALL_GAS, READ_GAS, CallHandle, SimCall
from analysis.simulation.simulation_builder import CallWriter
from core.evm.abi import call_data
from core.evm.primitives import Address, RawAmount


class BuySteps(msgspec.Struct, frozen=True, kw_only=True):
    """One buy, with the reads that its tax is computed from."""

    amount_in: RawAmount
    router_check: CallHandle | None
    """The router's quote, which reverts if it does not know the pool. None: not needed."""
    quote_balance: CallHandle | None
    """The trader's quote balance, after the payment was prepared. None: paid in native coins."""
    before: CallHandle
    """The trader's token balance, as the next two."""
    buy: CallHandle
    after: CallHandle
    at_sale: CallHandle | None = None
    """Balance when a sale would be. None: not read."""


class ApprovalSteps(msgspec.Struct, frozen=True, kw_only=True):
    """The router's approval, after a read that shows whether the approval itself takes tokens."""

    before: CallHandle
    """The seller's token balance."""
    approve: CallHandle


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """One attempt to sell. A reverted one does not change the next."""

    label: str
    """Name of the attempt in the evidence."""
    amount: RawAmount
    gas: int | None = None
    """None: plenty, as many wallets send."""
    share: Literal["all", "nearly all", "three quarters", "half", "tenth"] = "all"
    """Share of the amount for sale."""


class SaleSteps(msgspec.Struct, frozen=True, kw_only=True):
    """One attempt to sell, with the reads that its tax is computed from."""

    order: Order
    before: CallHandle
    """The seller's token balance, as `after`."""
    quote_before: CallHandle | None
    """The seller's quote balance, as `quote_after`. None: it is paid in native coins."""
    expected: CallHandle | None
    """The pool's quoted output. None: the venue has no quote call."""
    sell: CallHandle
    after: CallHandle
    quote_after: CallHandle | None
    approval: ApprovalSteps | None
    """The approval whose loss of tokens counts as tax of this sale. None: none counts."""
    pool_before: CallHandle | None
    """The pool's token balance, as `pool_after`. None: the pool's event has the received amount."""
    pool_after: CallHandle | None
    first: "SaleSteps | None"
    """The first attempt, which this one repeats with more gas or less of the token; its approval
    counts. None: this is a first attempt."""


def write_buy(
    calls: CallWriter,
    setup: TradeSetup,
    trader: Address,
    amount_in: RawAmount,
    *,
    gas: int | None = None,
) -> BuySteps:
    """Write a payment, a buy, and their reads. `gas` None: plenty, as many wallets send."""
    token, swap = setup.candidate.token, _buy(setup, trader, amount_in)
    router_check = (
        _write_quote(calls, setup, swap, "router knows pool") if setup.route.must_quote else None
    )
    write_payment(calls, setup, trader, amount_in)
    quote_balance = _write_quote_balance(calls, setup, trader, "quote balance")
    before = calls.add(balance_call(token, trader, "balance before buy"))
    buy = calls.add(_buy_call(setup, swap, gas=gas))
    after = calls.add(balance_call(token, trader, "balance after buy"))
    return BuySteps(
        amount_in=amount_in,
        router_check=router_check,
        quote_balance=quote_balance,
        before=before,
        buy=buy,
        after=after,
    )


def write_unread_buy(
    calls: CallWriter, setup: TradeSetup, trader: Address, amount_in: RawAmount
) -> CallHandle:
    """Write a payment and a buy, without reads; return the buy."""
    write_payment(calls, setup, trader, amount_in)
    return calls.add(_buy_call(setup, _buy(setup, trader, amount_in)))


def write_approval(
    calls: CallWriter,
    setup: TradeSetup,
    trader: Address,
    label: str,
    amount: int,
    *,
    gas: int | None = None,
) -> ApprovalSteps:
    """Write the router's approval of `amount`. `gas` None: CALL_GAS."""
    token, router = setup.candidate.token, setup.route.router
    before = calls.add(balance_call(token, trader, f"balance before approval {label}"))
    approve = approve_call(token, trader, router, f"approve {label}", amount=amount, gas=gas)
    return ApprovalSteps(before=before, approve=calls.add(approve))


def write_sale(
    calls: CallWriter,
    setup: TradeSetup,
    trader: Address,
    order: Order,
    *,
    approval: ApprovalSteps | None = None,
    first: SaleSteps | None = None,
) -> SaleSteps:
    """Write one attempt to sell. `approval` and `first` as in SaleSteps."""
    token, label = setup.candidate.token, order.label
    swap = _sale(setup, trader, order.amount)
    before = calls.add(balance_call(token, trader, f"balance before sale {label}"))
    quote_before = _write_quote_balance(calls, setup, trader, f"quote before sale {label}")
    expected = _write_quote(calls, setup, swap, f"expected {label}")
    pool_before = _write_pool_balance(calls, setup, trader, f"pool before sale {label}")
    sell = calls.add(_trade(setup, swap, f"sell {label}", gas=order.gas or wallet_gas(setup)))
    pool_after = _write_pool_balance(calls, setup, trader, f"pool after sale {label}")
    after = calls.add(balance_call(token, trader, f"balance after sale {label}"))
    quote_after = _write_quote_balance(calls, setup, trader, f"quote after sale {label}")
    return SaleSteps(
        order=order,
        before=before,
        quote_before=quote_before,
        expected=expected,
        sell=sell,
        after=after,
        quote_after=quote_after,
        approval=approval,
        pool_before=pool_before,
        pool_after=pool_after,
        first=first,
    )


def write_payment(
    calls: CallWriter, setup: TradeSetup, trader: Address, amount_in: RawAmount
) -> None:
    """Write the calls that obtain the quote token and approve the router: none for native coins."""
    if setup.pays_coins:
        return
    quote = setup.candidate.quote
    if setup.quote_slot_index is None:
        data = call_data("deposit()")
        calls.add(SimCall(label="deposit", sender=trader, to=quote, data=data, value=amount_in))
    calls.add(approve_call(quote, trader, setup.route.router, "approve quote"))


def _write_quote_balance(
    calls: CallWriter, setup: TradeSetup, trader: Address, label: str
) -> CallHandle | None:
    """Write a read of the trader's quote balance. None: native coins have no balanceOf."""
    if setup.pays_coins:
        return None
    return calls.add(balance_call(setup.candidate.quote, trader, label))


def _write_pool_balance(
    calls: CallWriter, setup: TradeSetup, trader: Address, label: str
) -> CallHandle | None:
    """Write a read of the pool's token balance. None: not needed."""
    if not setup.route.books_orders:
        return None
    token, holder = setup.candidate.token, setup.candidate.holder
    return calls.add(balance_call(token, holder, label, reader=trader))


def _write_quote(calls: CallWriter, setup: TradeSetup, swap: Swap, label: str) -> CallHandle | None:
    """Write a read of the pool's quoted output. None: the venue has no quote call."""
    if setup.route.quote_data is None:
        return None
    data = setup.route.quote_data(swap)
    return calls.add(
        SimCall(label=label, sender=swap.trader, to=swap.router, data=data, gas=READ_GAS)
    )


def _buy(setup: TradeSetup, trader: Address, amount_in: RawAmount) -> Swap:
    return Swap(
        candidate=setup.candidate,
        router=setup.route.router,
        trader=trader,
        token_in=setup.candidate.quote,
        token_out=setup.candidate.token,
        amount_in=amount_in,
    )


def _sale(setup: TradeSetup, trader: Address, amount: RawAmount) -> Swap:
    bought = _buy(setup, trader, amount)
    return msgspec.structs.replace(bought, token_in=bought.token_out, token_out=bought.token_in)


def _buy_call(setup: TradeSetup, swap: Swap, *, gas: int | None = None) -> SimCall:
    value = swap.amount_in if setup.pays_coins else 0
    return _trade(setup, swap, "buy", value=value, gas=gas or wallet_gas(setup))


def _trade(
    setup: TradeSetup, swap: Swap, label: str, *, value: int = 0, gas: int = CALL_GAS
) -> SimCall:
    route = setup.route
    data_of = route.coin_sell_data if swap.is_sale else route.coin_buy_data
    data = route.swap_data(swap) if not setup.in_coin or data_of is None else data_of(swap)
    return SimCall(
        label=label,
        sender=swap.trader,
        to=swap.router,
        data=data,
        value=value,
        gas=gas,
        is_trade=True,
    )
