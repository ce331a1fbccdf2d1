"""Prologue of a theft simulation: a victim that buys the token before it is attacked.

It buys in the deepest pool that can be bought from. Sends no request.
"""

from collections.abc import Sequence

import msgspec

from analysis.scenarios.trade.account_calls import ACT_GAS
from analysis.scenarios.trade.buy import Bought
from analysis.scenarios.trade.token_calls import approve_call
from analysis.scenarios.trade.trade_setup import TradeSetup, build_simulation
from analysis.scenarios.trade.trade_steps import write_buy
from analysis.scenarios.trade.transfer import Wallet
from analysis.simulation.disguise import Disguise
from analysis.simulation.simulate_v1 import SimCall, Simulation
from analysis.simulation.simulation_builder import CallWriter
from core.evm.primitives import Address, RawAmount


class VictimPurchase(msgspec.Struct, frozen=True, kw_only=True):
    """Transactions of a victim before it is attacked: it buys, then approves the venue's router."""

    wallet: Wallet
    buying: tuple[SimCall, ...]
    """Calls of the first block."""
    approving: SimCall
    """First call of the second block."""
    overrides: Simulation
    """Coins, slots and code that the buy needs; it has no blocks."""
    spender: Address
    """The approved router."""


_PARTS = 4
"""Divisor of the amount bought: attackers try to take one part."""


def find_buyer(
    bought: Sequence[tuple[TradeSetup, Bought]], disguise: Disguise
) -> VictimPurchase | None:
    """Return a purchase like the one that passed, by another account, with an approval of the
    router.

    `bought`: the deepest pool first. None: nothing could be bought.
    """
    for setup, settled in bought:
        largest = settled.largest
        if largest is not None and largest.balances_raw and largest.balances_raw[0] > 0:
            return _prologue(setup, largest.amount_in, largest.balances_raw[0], disguise)
    return None


def _prologue(
    setup: TradeSetup, amount_in: RawAmount, bought_raw: RawAmount, disguise: Disguise
) -> VictimPurchase:
    token, router = setup.candidate.token, setup.route.router
    victim = disguise.account(f"{token}:buyer")
    buying: list[SimCall] = []
    write_buy(CallWriter(0, buying, prefix="buyer ", gas=ACT_GAS), setup, victim, amount_in)
    return VictimPurchase(
        wallet=Wallet(
            address=victim,
            balance_raw=bought_raw,
            amount_raw=RawAmount(max(1, bought_raw // _PARTS)),
            slot_index=None,
        ),
        buying=tuple(buying),
        approving=approve_call(
            token, victim, router, "buyer approves", amount=bought_raw, gas=ACT_GAS
        ),
        spender=router,
        overrides=build_simulation(setup, (), payers={victim: amount_in}),
    )
