"""Partial sales: simulates the sale of a large holding in eight parts.

Used where the sale of all of it may revert for its size. The largest buyer sells an eighth at a
time, at first minutes, then an hour and a day apart. So neither a limit on one sale nor a waiting
time between two is taken for a trap, and a first part that sells is no proof that the rest does.
Sends no request.
"""

from collections.abc import Sequence
from typing import Final

from analysis.scenarios.buy import Bought, BuyTry
from analysis.scenarios.trade_outcome import read_sale
from analysis.scenarios.trade_setup import (
    Order,
    TradeSetup,
    approval_calls,
    buy_calls,
    in_blocks,
    sale_calls,
    staged,
)
from analysis.simulation.simulate_v1 import Passed, SimCall, Simulation, SimulationResult
from core.primitives import RawAmount

VERSION: Final = 1

PARTS: Final = 8
WAITS_S: Final = (0, 0, 300, 300, 600, 3_600, 3_600, 86_400, 86_400)
"""Seconds to wait before the approval, and before each part."""

_MOST_REFUSED: Final = 2
"""Number of parts that may revert, as those that follow soonest after another: a waiting time."""


def write_play(
    ground: TradeSetup, bought: Bought, blocks: Sequence[tuple[int, int]]
) -> Simulation | None:
    """Return the simulation. `blocks`: number and time of the buy, the approval, and each part.
    None: nothing to sell."""
    buyer = bought.largest
    if buyer is None or buyer.held is None or buyer.held[0] < PARTS:
        return None
    ground = ground.with_coin(is_wanted=buyer.in_coin)
    trader = ground.buyer(buyer.amount_in)
    calls: list[tuple[SimCall, ...]] = [
        buy_calls(ground, trader, buyer.amount_in, gas=buyer.gas),
        approval_calls(ground, trader, "parts", buyer.held[0]),
        *(sale_calls(ground, trader, order) for order in _orders(buyer)),
    ]
    return staged(ground, in_blocks(blocks, calls), payers={trader: buyer.amount_in})


def read_play(ground: TradeSetup, bought: Bought, played: SimulationResult) -> bool:
    """True if the parts could be sold, except for a few that came too soon."""
    buyer = bought.largest
    if buyer is None:
        return False
    ground = ground.with_coin(is_wanted=buyer.in_coin)
    outcomes = [
        read_sale(ground, played, order.when, asked=order.amount) for order in _orders(buyer)
    ]
    refused = [at for at, outcome in enumerate(outcomes) if not isinstance(outcome, Passed)]
    return len(refused) <= _MOST_REFUSED and PARTS - 1 not in refused


def _orders(buyer: BuyTry) -> tuple[Order, ...]:
    held = buyer.held[0] if buyer.held is not None else 0
    return tuple(
        Order(when=f"part {number}", amount=RawAmount(held // PARTS))
        for number in range(1, PARTS + 1)
    )
