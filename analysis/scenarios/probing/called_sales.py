"""Sales after calls: an ordinary sale, once a stranger has called every open function.

Determines whether anybody can make sales fail, where the code reads variables that anybody may
write. A sale that fails is confirmed by one that passes without the calls. Sends no request.
"""

from collections.abc import Sequence
from typing import Final

import msgspec

from analysis.scenarios.probing.probe_calls import (
    ProbeInputs,
    count_turns,
    plan_calls_on_victim,
)
from analysis.scenarios.probing.probe_simulations import (
    LATE_BLOCKS,
    LATE_S,
    ProbeInquiry,
    act_call,
)
from analysis.scenarios.theft.victim_purchase import VictimPurchase
from analysis.scenarios.trade.token_calls import approve_call
from analysis.scenarios.trade.trade_outcome import HEAVY_TAX_PCT, read_sale
from analysis.scenarios.trade.trade_setup import TradeSetup, build_simulation
from analysis.scenarios.trade.trade_steps import (
    Order,
    SaleSteps,
    write_approval,
    write_sale,
    write_unread_buy,
)
from analysis.simulation.evidence import simulation_evidence
from analysis.simulation.simulate_v1 import (
    CallHandle,
    NotSimulated,
    Passed,
    Simulation,
    SimulationResult,
)
from analysis.simulation.simulation_builder import SimulationBuilder
from analysis.static.custody.open_functions import OpenFunction
from analysis.static.evm.path_state import HOLDER_FUNCTIONS
from core.evm.primitives import RawAmount
from core.report.report import EvidenceRow

VERSION: Final = 1

_MOST_SINGLE: Final = 8
"""Functions whose calls are simulated alone, if those of all make the sale fail."""
_APPROVAL_GAS: Final = 600_000
_STEP_S: Final = 12
_WAIT_S: Final = 601


class CalledSale(msgspec.Struct, frozen=True, kw_only=True):
    """A purchase, the calls of a stranger, and the sale a day later."""

    turn: int
    """Numbers that setters are called with last: as for `plan_calls_on_victim`."""
    setup: TradeSetup
    simulation: Simulation
    acts: tuple[tuple[OpenFunction, CallHandle], ...]
    sale: SaleSteps


class BlockedSale(msgspec.Struct, frozen=True, kw_only=True):
    """Outcome of a sale that the calls made fail, in the evidence."""

    selectors: tuple[int | None, ...]
    """Functions that the stranger called with success. None: the fallback."""
    outcome: object


def write_called_sales(inquiry: ProbeInquiry) -> list[CalledSale]:
    """Return the simulations of all open functions.

    Empty: nothing can be bought, or only the functions that every holder calls are open.
    """
    functions, setup, buyer = inquiry.functions.functions, inquiry.sale, inquiry.buyer
    is_plain = HOLDER_FUNCTIONS.issuperset(each.selector for each in functions)
    if is_plain or setup is None or buyer is None:
        return []
    return [
        _write(inquiry, setup, buyer, functions, turn=turn)
        for turn in range(count_turns(functions))
    ]


def _write(
    inquiry: ProbeInquiry,
    setup: TradeSetup,
    buyer: VictimPurchase,
    functions: Sequence[OpenFunction],
    *,
    turn: int,
) -> CalledSale:
    setup, attack = setup.with_coin(is_wanted=False), inquiry.attack
    seller, stranger = setup.trader("seller after calls"), setup.trader("stranger")
    inputs = ProbeInputs(
        caller=stranger,
        friend=setup.trader("friend of the stranger"),
        victim=seller,
        pool=attack.giver or attack.token,
        token=attack.token,
        balance_raw=buyer.wallet.balance_raw,
        supply_raw=attack.supply_raw,
        price_wei=inquiry.price_wei,
    )
    builder = SimulationBuilder(_times(inquiry))
    for trader in (seller, stranger):
        write_unread_buy(builder[0].named(f"{trader} "), setup, trader, inquiry.buy_raw)
    amount = RawAmount(max(1, buyer.wallet.balance_raw // 2))
    for spender in (stranger, inputs.friend):
        builder[1].add(approve_call(attack.token, stranger, spender, "allows", gas=_APPROVAL_GAS))
    planned = [
        (function, call)
        for function in functions
        for call in plan_calls_on_victim(function, inputs, turn=turn)
    ]
    acts = [(function, builder[1].add(act_call(inputs, call))) for function, call in planned]
    order = Order(label="after calls", amount=amount)
    approval = write_approval(builder[2], setup, seller, order.label, amount)
    sale = write_sale(builder[2], setup, seller, order, approval=approval)
    simulation = build_simulation(
        setup,
        builder.blocks(),
        payers=dict.fromkeys((seller, stranger), inquiry.buy_raw),
        others=[inputs.friend],
    )
    spent = sum(call.value_wei for _, call in planned)
    purses = {**simulation.purses, stranger: simulation.purses[stranger] + spent}
    return CalledSale(
        turn=turn,
        setup=setup,
        simulation=msgspec.structs.replace(simulation, purses=purses),
        acts=tuple(acts),
        sale=sale,
    )


def write_confirmations(
    inquiry: ProbeInquiry,
    called: Sequence[CalledSale],
    results: Sequence[SimulationResult | NotSimulated],
) -> list[CalledSale]:
    """Return the sales that confirm the first one that fails: one without calls first, it last.

    Between them is one after the calls of each function that succeeded. Empty: every sale passes,
    or was not simulated.
    """
    setup, buyer = inquiry.sale, inquiry.buyer
    if setup is None or buyer is None:
        return []
    for each, result in zip(called, results, strict=True):
        if isinstance(result, NotSimulated) or not _is_harmed(each, result):
            continue
        passed = dict.fromkeys(function for function, act in each.acts if result[act].ok)
        singles = [(function,) for function in [*passed][:_MOST_SINGLE]]
        return [
            *(
                _write(inquiry, setup, buyer, functions, turn=each.turn)
                for functions in ((), *singles)
            ),
            each,
        ]
    return []


def find_blocked_sale(
    called: Sequence[CalledSale], results: Sequence[SimulationResult | NotSimulated]
) -> EvidenceRow | None:
    """Return the evidence that calls make a sale fail: of one function alone if one suffices.

    `called`: as from `write_confirmations`. None: it fails without calls as well, or was not
    simulated.
    """
    without_calls = results[0]
    if isinstance(without_calls, NotSimulated) or _is_harmed(called[0], without_calls):
        return None
    for each, result in zip(called[1:], results[1:], strict=True):
        if not isinstance(result, NotSimulated) and _is_harmed(each, result):
            selectors = dict.fromkeys(
                function.selector for function, act in each.acts if result[act].ok
            )
            outcome = BlockedSale(
                selectors=tuple(selectors), outcome=read_sale(each.setup, result, each.sale)
            )
            key = f"sell_after_others:{each.setup.candidate.key}"
            return simulation_evidence(key, VERSION, each.simulation, result, outcome)
    return None


def _is_harmed(called: CalledSale, result: SimulationResult) -> bool:
    """True if the seller holds tokens, and a sale of half of them fails or loses half and more."""
    outcome = read_sale(called.setup, result, called.sale)
    if isinstance(outcome, NotSimulated):
        return False
    if isinstance(outcome, Passed):
        return outcome.tax is not None and outcome.tax >= HEAVY_TAX_PCT
    return True


def _times(inquiry: ProbeInquiry) -> list[tuple[int, int]]:
    """Return number and time of the blocks of purchase, calls and sale."""
    number, time_s = inquiry.attack.block
    called_s = time_s + (_WAIT_S if inquiry.functions.reads_clock else _STEP_S)
    return [
        (number, time_s),
        (number + 1, called_s),
        (number + 1 + LATE_BLOCKS, called_s + LATE_S),
    ]
