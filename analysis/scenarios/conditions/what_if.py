"""Simulated what-ifs: one buy, approval and late sale with one input set to an unusual value.

The input holds in all blocks (as for traders at that time), or from the sale on (as for earlier
buyers); stored inputs also from the approval on, which may depend on them. A value written into the
token's own storage need not be reachable by transactions, so such a simulation can warn but not
condemn.

After a change of price several accounts sell in turn: a token that collects a fee sells all of it
in the first sale, and that seller gets less, once. Sends no request.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal

import msgspec

from analysis.conditions.condition_inputs import WhatIf
from analysis.scenarios.trade.account_calls import account_calls
from analysis.scenarios.trade.buy import BuyTry
from analysis.scenarios.trade.token_calls import UNLIMITED, transfer_call
from analysis.scenarios.trade.trade_outcome import (
    BROUGHT_NOTHING,
    HEAVY_TAX_PCT,
    is_taken_by_approval,
    proceeds,
    read_buy,
    read_sale,
)
from analysis.scenarios.trade.trade_setup import TradeSetup, build_simulation
from analysis.scenarios.trade.trade_steps import (
    BuySteps,
    Order,
    SaleSteps,
    write_approval,
    write_buy,
    write_payment,
    write_sale,
    write_unread_buy,
)
from analysis.simulation.balance_slot import balance_override
from analysis.simulation.simulate_v1 import (
    CallHandle,
    NotSimulated,
    Outcome,
    Passed,
    Refused,
    SimBlock,
    Simulation,
    SimulationResult,
)
from analysis.simulation.simulation_builder import SimulationBuilder
from core.evm.primitives import Address, Hash32, RawAmount, to_hash32

VERSION: Final = 1

Extent = Literal["all", "approval", "sale"]
"""Transaction from which the input holds."""

_FROM_SALE_ONLY: Final = frozenset({"amount", "price", "gift", "dust"})
_STORED: Final = frozenset({"slot", "mark"})
_MOVED_ON: Final = frozenset({"time", "block"})
_GAS_LADDER: Final = (160_000, 240_000, 340_000, 480_000, 680_000, 1_000_000, 2_500_000)
"""Gas limits that a sale is tried with, least first."""

_GIVER: Final = "giver"
_DELEGATION: Final = "0xef0100"
"""Code of an account that delegates to an address, which follows. Source: EIP-7702."""
_STOP: Final = "0x00"
"""Code of a wallet that accepts coins, for pools in which the trader is paid in coins: nodes before
EIP-7702 cannot run a delegation."""

_WHALE: Final = "large trader"
_OTHER_SELLERS: Final = ("second seller", "third seller")
"""Accounts that sell after the trader where the price has changed, each in a separate block."""

_WHOLE_PCT: Final = 100
_OTHERS_PCT: Final = 75
"""Percent of an ordinary purchase that the other sellers sell, as they buy later and get less."""

_GAS_OF_OTHERS: Final = 1_500_000


class InputSimulation(msgspec.Struct, frozen=True, kw_only=True):
    """One simulation of one input."""

    what_if: WhatIf
    extent: Extent
    simulation: Simulation
    setup: TradeSetup
    """With the means of payment."""
    buy: BuySteps
    sales: tuple[SaleSteps, ...]
    """Attempts to sell."""
    others: tuple[SaleSteps, ...] = ()
    """Sales of other accounts after them, where the price has changed; for a size, attempts of an
    account that sells exactly as much."""


class WhatIfOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """Outcome of one what-if simulation."""

    what_if: WhatIf
    extent: Extent
    buy: Outcome
    sale: Outcome

    @property
    def is_harmful(self) -> bool:
        """True if the sale reverts, the buy brings nothing, or either loses half or more. A buy
        that reverts costs no trader anything."""
        if self.buy == Refused(reason=BROUGHT_NOTHING):
            return True
        is_taxed = isinstance(self.buy, Passed) and _is_hit(self.buy)
        return is_taxed or _is_hit(self.sale)


def _is_hit(outcome: Outcome) -> bool:
    """True if the trade reverts, or loses half or more."""
    if isinstance(outcome, Passed):
        return outcome.tax is not None and outcome.tax >= HEAVY_TAX_PCT
    return isinstance(outcome, Refused)


def write_simulations(
    setup: TradeSetup,
    buyer: BuyTry,
    what_ifs: Sequence[WhatIf],
    *,
    block_time_s: float,
) -> tuple[InputSimulation, ...]:
    """Return one simulation for each input and extent. Empty: the buyer's holding is not known."""
    if buyer.balances_raw is None or not buyer.balances_raw[0]:
        return ()
    return tuple(
        _Writer(setup, buyer, what_if, extent, block_time_s).write(buyer.balances_raw[0])
        for what_if in what_ifs
        for extent in _extents(what_if)
    )


def _extents(what_if: WhatIf) -> tuple[Extent, ...]:
    if what_if.is_standing or what_if.input == "wallet":
        return ("all",)
    if what_if.input in _FROM_SALE_ONLY or what_if.also:
        return ("sale",)
    if what_if.input == "name":
        return ("all", "sale")
    return ("all", "approval", "sale") if what_if.input in _STORED else ("all", "sale")


def read_result(directed: InputSimulation, result: SimulationResult) -> WhatIfOutcome:
    """Return the outcome of the first sale that passes. An attempt to sell more than the balance is
    left out."""
    sale = _sale_of(directed, result, directed.sales)
    if directed.what_if.input == "size":
        exact = _sale_of(directed, result, directed.others)
        sale = exact if _is_hit(exact) and not _is_hit(sale) else sale
    elif _is_hit(sale) and directed.others:
        sale = _after_first_sale(directed, result, sale)
    return WhatIfOutcome(
        what_if=directed.what_if,
        extent=directed.extent,
        buy=read_buy(directed.setup, result, directed.buy),
        sale=sale,
    )


def _sale_of(
    directed: InputSimulation, result: SimulationResult, attempts: Sequence[SaleSteps]
) -> Outcome:
    """Return the outcome of the first attempt that passes, else of the first that reverts."""
    outcomes: list[Outcome] = []
    for steps in attempts:
        before = result.word(steps.before)
        is_held = before is not None and before >= steps.order.amount
        if not is_held and not is_taken_by_approval(result, steps):
            continue
        outcomes.append(read_sale(directed.setup, result, steps))
    passed = [outcome for outcome in outcomes if isinstance(outcome, Passed)]
    refused = [outcome for outcome in outcomes if isinstance(outcome, Refused)]
    nothing = NotSimulated(missing="FUNDS", reason="nothing could be bought to be sold")
    return next(iter((*passed, *refused, *outcomes)), nothing)


def _after_first_sale(
    directed: InputSimulation, result: SimulationResult, first: Outcome
) -> Outcome:
    """Return the outcome of another seller that loses little, else the first seller's.

    A later seller that gets less than half of its payment does not count: then the first sale did
    not only sell collected fees, which at most reverses the change of price.
    """
    for steps in directed.others:
        outcome = read_sale(directed.setup, result, steps)
        if not isinstance(outcome, Passed) or _is_hit(outcome):
            continue
        got = proceeds(directed.setup, result, steps)
        if got is None or got * 2 * _WHOLE_PCT >= directed.buy.amount_in * _OTHERS_PCT:
            return outcome
    return first


def _gas_orders(bought_raw: RawAmount, gas: int) -> Iterator[Order]:
    """Yield sales with increasing gas: nodes estimate the least that suffices, and wallets send
    it."""
    highest = (gas,) if gas > _GAS_LADDER[-1] else ()
    for each in (*_GAS_LADDER, *highest):
        yield Order(label=f"with {each} gas at sale", amount=bought_raw, gas=each)


def _share_orders(bought_raw: RawAmount) -> tuple[Order, Order, Order]:
    """Return sales of several shares of an ordinary purchase, as a buy with the input may bring
    less."""
    return (
        Order(label="at sale", amount=bought_raw),
        Order(
            label="most at sale",
            amount=RawAmount(max(1, bought_raw * 3 // 4)),
            share="three quarters",
        ),
        Order(label="tenth at sale", amount=RawAmount(max(1, bought_raw // 10)), share="tenth"),
    )


class _Writer:
    def __init__(
        self,
        setup: TradeSetup,
        buyer: BuyTry,
        what_if: WhatIf,
        extent: Extent,
        block_time_s: float,
    ) -> None:
        in_coin = buyer.in_coin and what_if.input != "wallet"
        self._setup = setup.with_coin(is_wanted=in_coin)
        self._buyer = buyer
        self._what_if = what_if
        self._extent = extent
        self._block_time_s = block_time_s
        self._trader = setup.buyer(buyer.amount_in)

    def write(self, bought_raw: RawAmount) -> InputSimulation:
        """Return the simulation. `bought_raw`: tokens of an ordinary purchase."""
        setup, trader, amount_in = self._setup, self._trader, self._buyer.amount_in
        builder = SimulationBuilder(self._times())
        buy = write_buy(builder[0], setup, trader, amount_in, gas=self._buyer.gas)
        sales = self._write_sales(builder, bought_raw)
        payers = {trader: amount_in}
        others: tuple[SaleSteps, ...] = ()
        given: dict[Address, dict[Hash32, Hash32]] = {}
        if self._what_if.input == "price" and self._what_if.value > _WHOLE_PCT:
            whale, whale_pays = setup.trader(_WHALE), self._whale_pays()
            payers[whale] = whale_pays
            others = tuple(self._write_others(builder, bought_raw))
            payers |= {setup.trader(name): amount_in for name in _OTHER_SELLERS}
            write_unread_buy(account_calls(builder[1], _WHALE), setup, whale, whale_pays)
        elif self._what_if.input == "price":
            given = self._write_large_sale(builder, bought_raw)
            payers[setup.trader(_WHALE)] = RawAmount(0)
        payers |= self._write_giving(builder)
        blocks = tuple(
            self._changed(block, at, buy.buy) if at >= _FIRST[self._extent] else block
            for at, block in enumerate(builder.blocks())
        )
        simulation = build_simulation(setup, blocks, payers=payers, given=given)
        if self._what_if.input == "wallet":
            simulation = self._with_wallet_code(simulation)
        return InputSimulation(
            what_if=self._what_if,
            extent=self._extent,
            simulation=simulation,
            setup=setup,
            buy=buy,
            sales=sales,
            others=others,
        )

    def _write_others(
        self, builder: SimulationBuilder, bought_raw: RawAmount
    ) -> Iterator[SaleSteps]:
        """Write the purchase, the approval and the sale of each other seller; yield the sales."""
        setup = self._setup
        order = Order(
            label="at sale", amount=RawAmount(max(1, bought_raw * _OTHERS_PCT // _WHOLE_PCT))
        )
        for at, name in enumerate(_OTHER_SELLERS, start=3):
            first, second, last = (account_calls(builder[block], name) for block in (0, 1, at))
            seller = setup.trader(name)
            write_unread_buy(first, setup, seller, self._buyer.amount_in)
            approval = write_approval(second, setup, seller, "at sale", UNLIMITED)
            yield write_sale(last, setup, seller, order, approval=approval)

    def _write_giving(self, builder: SimulationBuilder) -> dict[Address, RawAmount]:
        """Write the transfer of tokens or dust by another account; return what it needs."""
        setup, what_if = self._setup, self._what_if
        if what_if.input not in ("gift", "dust"):
            return {}
        giver, token = setup.trader(_GIVER), setup.candidate.token
        first, second = (account_calls(builder[block], _GIVER) for block in (0, 1))
        if what_if.input == "gift" and what_if.account is not None:
            write_unread_buy(first, setup, giver, self._buyer.amount_in)
            second.add(transfer_call(token, giver, what_if.account, what_if.value))
            return {giver: self._buyer.amount_in}
        dust = RawAmount(max(1, self._buyer.amount_in * what_if.value // _WHOLE_PCT))
        in_quote = setup.with_coin(is_wanted=False)
        write_payment(first, in_quote, giver, dust)
        second.add(transfer_call(setup.candidate.quote, giver, token, dust))
        return {giver: dust}

    def _with_wallet_code(self, simulation: Simulation) -> Simulation:
        setup = self._setup
        if setup.pays_coins:
            code = {**simulation.code, self._trader: _STOP}
            return msgspec.structs.replace(simulation, code=code, is_validated=False)
        delegate = setup.trader("delegate")
        code = {**simulation.code, self._trader: _DELEGATION + delegate[2:]}
        return msgspec.structs.replace(simulation, code=code)

    def _write_sales(
        self, builder: SimulationBuilder, bought_raw: RawAmount
    ) -> tuple[SaleSteps, ...]:
        setup, trader, what_if = self._setup, self._trader, self._what_if
        approval = write_approval(builder[1], setup, trader, "at sale", bought_raw)
        if what_if.input == "gas":
            orders = tuple(_gas_orders(bought_raw, what_if.value))
        elif what_if.input == "amount":
            orders = (Order(label="asked", amount=RawAmount(min(bought_raw, what_if.value))),)
        else:
            whole, *less = _share_orders(bought_raw)
            return (
                write_sale(builder[2], setup, trader, whole, approval=approval),
                *(write_sale(builder[2], setup, trader, order) for order in less),
            )
        return tuple(write_sale(builder[2], setup, trader, order) for order in orders)

    def _write_large_sale(
        self, builder: SimulationBuilder, bought_raw: RawAmount
    ) -> dict[Address, dict[Hash32, Hash32]]:
        """Write a sale that lowers the price; return the slots that give the tokens for it. Empty:
        it is not known where they are kept, so that the sale fails."""
        setup, whale = self._setup, self._setup.trader(_WHALE)
        reserve_raw = setup.quote_reserve_raw * bought_raw // max(1, self._buyer.amount_in)
        amount = RawAmount(
            max(1, reserve_raw * (_WHOLE_PCT - self._what_if.value) // self._what_if.value)
        )
        calls = account_calls(builder[1], _WHALE)
        approval = write_approval(calls, setup, whale, _WHALE, UNLIMITED)
        order = Order(label=_WHALE, amount=amount)
        write_sale(calls, setup, whale, order, approval=approval)
        if setup.token_slot_index is None:
            return {}
        token = setup.candidate.token
        return {token: balance_override(whale, amount, index=setup.token_slot_index)}

    def _whale_pays(self) -> RawAmount:
        more = self._what_if.value - _WHOLE_PCT
        return RawAmount(max(1, self._setup.quote_reserve_raw * more // _WHOLE_PCT))

    def _times(self) -> Iterator[tuple[int, int]]:
        """Yield number and time of the buy, the approval and the sale, and of sales of others."""
        first, second, _, patient = self._setup.blocks
        if self._what_if.input not in _MOVED_ON:
            yield from (first, second, patient)
            if self._what_if.input == "price":
                number, time_s = patient
                step_s = max(1, round(self._block_time_s))
                yield from ((number + at, time_s + at * step_s) for at in (1, 2))
            return
        number, time_s = self._moved(patient)
        if self._extent == "sale":
            yield from (first, second, (number, time_s))
            return
        for later in (first, second, patient):
            yield number + later[0] - first[0], time_s + later[1] - first[1]

    def _moved(self, block: tuple[int, int]) -> tuple[int, int]:
        """Return number and time with one at the required value.

        The other follows the chain's pace, as far as nodes allow blocks to be skipped.
        """
        number, time_s = block
        if self._what_if.value < (time_s if self._what_if.input == "time" else number):
            # Earlier than the patient sale, after the first that there can be.
            number, time_s = self._setup.blocks[2]
        if self._what_if.input == "time":
            target = max(time_s, self._what_if.value)
            skipped = min(_MOST_SKIPPED, int((target - time_s) / self._block_time_s))
            return number + skipped, target
        target = max(number, self._what_if.value)
        return target, time_s + round((target - number) * self._block_time_s)

    def _changed(self, block: SimBlock, at: int, buy: CallHandle) -> SimBlock:
        """Return the block with index `at`, with the input set."""
        what_if, change = self._what_if, msgspec.structs.replace
        value = what_if.value
        match what_if.input:
            case "gas_price":
                calls = tuple(change(call, gas_price_wei=value) for call in block.calls)
                return change(block, calls=calls)
            case "base_fee":
                calls = tuple(
                    change(call, gas_price_wei=value + self._setup.disguise.tips_wei[0])
                    for call in block.calls
                )
                return change(block, calls=calls, overrides={"baseFeePerGas": hex(value)})
            case "proposer":
                return change(block, overrides={"feeRecipient": f"0x{value:040x}"})
            case "randomness":
                return change(block, overrides={"prevRandao": f"0x{value:064x}"})
            case "gas" if at == buy.block:
                calls = tuple(
                    change(call, gas=max(value, _GAS_LADDER[1])) if index == buy.index else call
                    for index, call in enumerate(block.calls)
                )
                return change(block, calls=calls)
        return self._overridden(block) if at == _FIRST[self._extent] else block

    def _overridden(self, block: SimBlock) -> SimBlock:
        """Return the block with state overrides for all inputs."""
        purses = dict(block.purses)
        storage = {contract: dict(slots) for contract, slots in block.storage.items()}
        for what_if in (self._what_if, *self._what_if.also):
            match what_if.input:
                case "coins":
                    purses |= self._purse(what_if)
                case "slot" | "mark" | "name" | "balance" if what_if.slot is not None:
                    contract = what_if.contract or self._setup.candidate.token
                    storage.setdefault(contract, {})[what_if.slot] = to_hash32(what_if.value)
                case "balance":
                    token = self._setup.candidate.token
                    storage.setdefault(token, {}).update(self._own_balance(what_if.value))
        return msgspec.structs.replace(block, purses=purses, storage=storage)

    def _purse(self, what_if: WhatIf) -> dict[Address, int]:
        if what_if.account is not None:
            return {what_if.account: what_if.value}
        setup = self._setup
        gas = setup.disguise.highest_fee_wei * _GAS_OF_OTHERS
        coins = 0 if setup.quote_slot_index is not None else self._buyer.amount_in
        return {self._trader: what_if.value + gas + coins}

    def _own_balance(self, amount_raw: int) -> Mapping[Hash32, Hash32]:
        setup = self._setup
        if setup.token_slot_index is None:
            return {}
        token, amount = setup.candidate.token, RawAmount(amount_raw)
        return balance_override(token, amount, index=setup.token_slot_index)


_FIRST: Final[dict[Extent, int]] = {"all": 0, "approval": 1, "sale": 2}
"""Index of the first block in which an input holds."""

_MOST_SKIPPED: Final = 230
