"""What-if simulations: one buy, approval and late sale with one input set to an unusual value.

The input holds in all blocks (as for those who trade then), or from the sale on (as for those who
bought before); stored inputs also from the approval on, which may depend on them. A value written
into the token's own storage need not be reachable by transactions, so such a simulation can warn
but not condemn. Sends no request.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal

import msgspec

from analysis.conditions.condition_inputs import WhatIf
from analysis.scenarios import combined_plays
from analysis.scenarios.buy import BuyTry
from analysis.scenarios.trade_outcome import BROUGHT_NOTHING, HEAVY_TAX_PCT, read_buy, read_sale
from analysis.scenarios.trade_setup import (
    Order,
    TradeSetup,
    approval_calls,
    buy_calls,
    sale_calls,
    staged,
)
from analysis.simulation.balance_slot import balance_override
from analysis.simulation.simulate_v1 import (
    NotSimulated,
    Outcome,
    Passed,
    Refused,
    SimBlock,
    SimCall,
    Simulation,
    SimulationResult,
)
from core.primitives import Address, Hash32, RawAmount, to_hash32

VERSION: Final = 1

Extent = Literal["all", "approval", "sale"]
"""Transaction from which the input holds."""

_FROM_SALE_ONLY: Final = frozenset({"amount", "price"})
_STORED: Final = frozenset({"slot", "mark"})
_MOVED_ON: Final = frozenset({"time", "block"})
_SHARES: Final = (("", 1, 1), ("most ", 3, 4), ("tenth ", 1, 10))
"""Shares of an ordinary purchase that are tried to be sold: a buy under the input may bring
less."""

_GAS_LADDER: Final = (160_000, 240_000, 340_000, 480_000, 680_000, 1_000_000, 2_500_000)
"""Gas limits that a sale is tried with, least first."""

_WHALE: Final = "large buyer"
_WHOLE_PCT: Final = 100
_GAS_OF_OTHERS: Final = 1_500_000


class Directed(msgspec.Struct, frozen=True, kw_only=True):
    """One simulation of one input."""

    what_if: WhatIf
    extent: Extent
    play: Simulation


class WhatIfOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """Outcome of one what-if simulation."""

    what_if: WhatIf
    extent: Extent
    buy: Outcome
    sale: Outcome

    @property
    def is_harmful(self) -> bool:
        """True if the sale reverts, the buy brings nothing, or either loses half or more. A buy
        that reverts costs nobody anything."""
        if self.buy == Refused(reason=BROUGHT_NOTHING):
            return True
        taxes = [
            outcome.tax
            for outcome in (self.buy, self.sale)
            if isinstance(outcome, Passed) and outcome.tax is not None
        ]
        return isinstance(self.sale, Refused) or any(tax >= HEAVY_TAX_PCT for tax in taxes)


def write_plays(
    ground: TradeSetup,
    buyer: BuyTry,
    what_ifs: Sequence[WhatIf],
    *,
    block_time_s: float,
) -> tuple[Directed, ...]:
    """Return one simulation for each input and extent. Empty: the buyer's holding is not known."""
    if buyer.held is None or not buyer.held[0]:
        return ()
    return tuple(
        Directed(
            what_if=what_if,
            extent=extent,
            play=_Writer(ground, buyer, what_if, extent, block_time_s).play(),
        )
        for what_if in what_ifs
        for extent in _extents(what_if)
    )


def _extents(what_if: WhatIf) -> tuple[Extent, ...]:
    if what_if.is_standing:
        return ("all",)
    if what_if.input in _FROM_SALE_ONLY:
        return ("sale",)
    return ("all", "approval", "sale") if what_if.input in _STORED else ("all", "sale")


def read_play(
    ground: TradeSetup, buyer: BuyTry, directed: Directed, played: SimulationResult
) -> WhatIfOutcome:
    """Return the outcome of the first sale that passes. An attempt to sell more than was held is
    left out."""
    ground = ground.with_coin(is_wanted=buyer.in_coin)
    outcomes: list[Outcome] = []
    for order in _orders(buyer, directed.what_if):
        before = played[f"balance before sale {order.when}"].word
        if before is None or before < order.amount:
            continue
        outcomes.append(read_sale(ground, played, order.when, asked=order.amount))
    passed = [outcome for outcome in outcomes if isinstance(outcome, Passed)]
    refused = [outcome for outcome in outcomes if isinstance(outcome, Refused)]
    nothing = NotSimulated(missing="FUNDS", reason="nothing could be bought to be sold")
    sale = next(iter((*passed, *refused, *outcomes)), nothing)
    return WhatIfOutcome(
        what_if=directed.what_if,
        extent=directed.extent,
        buy=read_buy(ground, played, buyer.amount_in),
        sale=sale,
    )


def _held(buyer: BuyTry) -> RawAmount:
    return buyer.held[0] if buyer.held is not None else RawAmount(0)


def _orders(buyer: BuyTry, what_if: WhatIf) -> tuple[Order, ...]:
    held = _held(buyer)
    if what_if.input == "gas":
        # The least gas that suffices is what a node estimates and wallets send.
        return tuple(
            Order(when=f"with {gas} gas at sale", amount=RawAmount(held), gas=gas)
            for gas in (
                *_GAS_LADDER,
                *((what_if.value,) if what_if.value > _GAS_LADDER[-1] else ()),
            )
        )
    if what_if.input == "amount":
        return (Order(when="asked", amount=RawAmount(min(held, what_if.value))),)
    return tuple(
        Order(when=f"{words}at sale", amount=RawAmount(max(1, held * part // whole)))
        for words, part, whole in _SHARES
    )


class _Writer:
    def __init__(
        self,
        ground: TradeSetup,
        buyer: BuyTry,
        what_if: WhatIf,
        extent: Extent,
        block_time_s: float,
    ) -> None:
        self._ground = ground.with_coin(is_wanted=buyer.in_coin)
        self._buyer = buyer
        self._what_if = what_if
        self._extent = extent
        self._block_time_s = block_time_s
        self._trader = ground.buyer(buyer.amount_in)

    def play(self) -> Simulation:
        ground, trader, buyer = self._ground, self._trader, self._buyer
        calls: list[tuple[SimCall, ...]] = [
            buy_calls(ground, trader, buyer.amount_in, gas=buyer.gas),
            approval_calls(ground, trader, "at sale", _held(buyer)),
            tuple(
                call
                for order in _orders(buyer, self._what_if)
                for call in sale_calls(ground, trader, order)
            ),
        ]
        payers = {trader: buyer.amount_in}
        if self._what_if.input == "price":
            payers[ground.trader(_WHALE)] = self._whale_pays()
            calls[1] = (
                *calls[1],
                *combined_plays.buying(ground, _WHALE, self._whale_pays()),
            )
        blocks = tuple(
            self._block(at, number, time_s, block_calls)
            for at, ((number, time_s), block_calls) in enumerate(
                zip(self._times(), calls, strict=True)
            )
        )
        return staged(ground, blocks, payers=payers)

    def _whale_pays(self) -> RawAmount:
        more = self._what_if.value - _WHOLE_PCT
        return RawAmount(max(1, self._ground.quote_reserve_raw * more // _WHOLE_PCT))

    def _times(self) -> Iterator[tuple[int, int]]:
        """Yield number and time of the buy, the approval and the sale."""
        first, second, _, patient = self._ground.blocks
        if self._what_if.input not in _MOVED_ON:
            yield from (first, second, patient)
            return
        number, time_s = self._moved(patient)
        if self._extent == "sale":
            yield from (first, second, (number, time_s))
            return
        for later in (first, second, patient):
            yield number + later[0] - first[0], time_s + later[1] - first[1]

    def _moved(self, block: tuple[int, int]) -> tuple[int, int]:
        """Return number and time with one at the wanted value; the other keeps the chain's pace, as
        far as nodes allow blocks to be skipped."""
        number, time_s = block
        if self._what_if.input == "time":
            wanted = max(time_s, self._what_if.value)
            skipped = min(_MOST_SKIPPED, int((wanted - time_s) / self._block_time_s))
            return number + skipped, wanted
        wanted = max(number, self._what_if.value)
        return wanted, time_s + round((wanted - number) * self._block_time_s)

    def _block(self, at: int, number: int, time_s: int, calls: tuple[SimCall, ...]) -> SimBlock:
        block = SimBlock(number=number, time_s=time_s, calls=calls)
        first = _FIRST[self._extent]
        return block if at < first else self._changed(block, is_first=at == first)

    def _changed(self, block: SimBlock, *, is_first: bool) -> SimBlock:
        """Return the block with the input set. `is_first`: it is the first in which the input
        holds."""
        what_if, change = self._what_if, msgspec.structs.replace
        value = what_if.value
        match what_if.input:
            case "gas_price":
                calls = tuple(change(call, gas_price_wei=value) for call in block.calls)
                return change(block, calls=calls)
            case "base_fee":
                calls = tuple(
                    change(call, gas_price_wei=value + self._ground.disguise.tips_wei[0])
                    for call in block.calls
                )
                return change(block, calls=calls, overrides={"baseFeePerGas": hex(value)})
            case "proposer":
                return change(block, overrides={"feeRecipient": f"0x{value:040x}"})
            case "randomness":
                return change(block, overrides={"prevRandao": f"0x{value:064x}"})
            case "gas" if any(call.label == "buy" for call in block.calls):
                calls = tuple(
                    change(call, gas=max(value, _GAS_LADDER[1])) if call.label == "buy" else call
                    for call in block.calls
                )
                return change(block, calls=calls)
        return self._overridden(block) if is_first else block

    def _overridden(self, block: SimBlock) -> SimBlock:
        """Return the block with state overrides for all inputs."""
        purses = dict(block.purses)
        storage = {contract: dict(slots) for contract, slots in block.storage.items()}
        for what_if in (self._what_if, *self._what_if.also):
            match what_if.input:
                case "coins":
                    purses |= self._purse(what_if)
                case "slot" | "mark" if what_if.slot is not None:
                    contract = what_if.contract or self._ground.candidate.token
                    storage.setdefault(contract, {})[what_if.slot] = to_hash32(what_if.value)
                case "balance":
                    token = self._ground.candidate.token
                    storage.setdefault(token, {}).update(self._own_balance(what_if.value))
        return msgspec.structs.replace(block, purses=purses, storage=storage)

    def _purse(self, what_if: WhatIf) -> dict[Address, int]:
        if what_if.account is not None:
            return {what_if.account: what_if.value}
        ground = self._ground
        gas = ground.disguise.highest_fee_wei * _GAS_OF_OTHERS
        coins = 0 if ground.quote_slot_index is not None else self._buyer.amount_in
        return {self._trader: what_if.value + gas + coins}

    def _own_balance(self, amount_raw: int) -> Mapping[Hash32, Hash32]:
        ground = self._ground
        if ground.token_slot_index is None:
            return {}
        token, amount = ground.candidate.token, RawAmount(amount_raw)
        return balance_override(token, amount, index=ground.token_slot_index)


_FIRST: Final[dict[Extent, int]] = {"all": 0, "approval": 1, "sale": 2}
"""Index of the first block in which an input holds."""

_MOST_SKIPPED: Final = 230
