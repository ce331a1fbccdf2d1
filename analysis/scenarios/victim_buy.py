"""Victim purchase: a victim that buys for real, in the deepest pool that can be bought from.

Sends no request.
"""

from collections.abc import Sequence

import msgspec

from analysis.scenarios.buy import Bought
from analysis.scenarios.combined_plays import ACT_GAS
from analysis.scenarios.trade_setup import TradeSetup, buy_calls, staged
from analysis.scenarios.transfer import Wallet
from analysis.scenarios.victim_purchase import Prologue
from analysis.simulation.disguise import Disguise
from analysis.simulation.simulate_v1 import SimCall
from core.abi import call_data
from core.primitives import RawAmount

_PARTS = 4
"""Divisor of the amount bought: attackers try to take one part."""


def find_buyer(bought: Sequence[tuple[TradeSetup, Bought]], disguise: Disguise) -> Prologue | None:
    """Return a purchase like the one that passed, from an account of its own, with an approval of
    the router.

    `bought`: the deepest pool first. None: nothing could be bought.
    """
    for ground, settled in bought:
        largest = settled.largest
        if largest is not None and largest.held and largest.held[0] > 0:
            return _prologue(ground, largest.amount_in, largest.held[0], disguise)
    return None


def _prologue(
    ground: TradeSetup, amount_in: RawAmount, held: RawAmount, disguise: Disguise
) -> Prologue:
    token = ground.candidate.token
    victim = disguise.account(f"{token}:buyer")
    approve = SimCall(
        label="buyer approves",
        sender=victim,
        to=token,
        data=call_data("approve(address,uint256)", ground.way.router, held),
        gas=ACT_GAS,
    )
    buying = tuple(
        msgspec.structs.replace(
            call, label=f"buyer {call.label}", gas=call.gas if call.is_read else ACT_GAS
        )
        for call in buy_calls(ground, victim, amount_in)
    )
    return Prologue(
        wallet=Wallet(
            address=victim,
            balance_raw=held,
            amount_raw=RawAmount(max(1, held // _PARTS)),
            slot_index=None,
        ),
        buying=buying,
        approving=(approve,),
        spender=ground.way.router,
        play=staged(ground, (), payers={victim: amount_in}),
    )
