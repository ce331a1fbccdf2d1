"""Limit probes: single transfers of chosen amounts, as buys, sales and transfers make them.

Each is run in a separate block, between fresh accounts, whose balances are set before the block.
A buy is a transfer by the pool, a sale one by the router after an approval: so the token decides
about any amount, whatever a pool can pay. Sends no request.
"""

from collections.abc import Sequence
from typing import Final, Literal

import msgspec

from analysis.scenarios.trade.token_calls import approve_call, balance_call
from analysis.scenarios.trade.trade_setup import TradeSetup, build_simulation
from analysis.simulation.balance_slot import balance_override
from analysis.simulation.simulate_v1 import (
    CallHandle,
    NotSimulated,
    SimBlock,
    SimCall,
    Simulation,
    SimulationResult,
)
from analysis.simulation.simulation_builder import SimulationBuilder
from core.evm.abi import call_data
from core.evm.primitives import Address, RawAmount

LimitKind = Literal["buy", "sale", "transfer", "holding"]
LIMIT_KINDS: Final[tuple[LimitKind, ...]] = ("buy", "sale", "transfer", "holding")

_LITTLE: Final = 1_000_000
"""Divisor of an amount that is added to a holding."""


class LimitTry(msgspec.Struct, frozen=True, kw_only=True):
    """One amount to try."""

    kind: LimitKind
    amount_raw: int
    """Amount that is moved; of a holding, the balance that results."""
    sender_raw: int | None = None
    """Balance of a seller. None: the amount."""


class _Probe(msgspec.Struct, frozen=True, kw_only=True):
    """The calls of one try."""

    tried: LimitTry
    before: CallHandle
    move: CallHandle
    after: CallHandle


class LimitSimulation(msgspec.Struct, frozen=True, kw_only=True):
    """One simulation of several tries."""

    simulation: Simulation
    probes: tuple[_Probe, ...]


def write_tries(
    setup: TradeSetup,
    tries: Sequence[LimitTry],
    blocks: Sequence[tuple[int, int]],
    *,
    slot_index: int,
    pool_raw: RawAmount,
) -> LimitSimulation:
    """Return the simulation. `blocks`: number and time, one for each try. `slot_index`: of the
    token's balance slot. `pool_raw`: balance of the pool before each try."""
    builder, token = SimulationBuilder(blocks), setup.candidate.token
    pool, router = setup.candidate.holder, setup.route.router
    probes, balances, accounts = [], [], {pool, router}
    for at, tried in enumerate(tries):
        calls = builder[at].named(f"{tried.kind} {tried.amount_raw}: ")
        sender, receiver = setup.trader(f"limit {at} from"), setup.trader(f"limit {at} to")
        amount, own = tried.amount_raw, {pool: int(pool_raw)}
        if tried.kind == "sale":
            own[sender] = tried.sender_raw or amount
            calls.add(approve_call(token, sender, router, "approve"))
            mover, receiver = router, pool
            data = call_data("transferFrom(address,address,uint256)", sender, pool, amount)
        else:
            if tried.kind == "holding":
                amount = max(1, amount // _LITTLE)
                own[receiver] = tried.amount_raw - amount
            if tried.kind == "transfer":
                own[sender] = amount
            mover = sender if tried.kind == "transfer" else pool
            data = call_data("transfer(address,uint256)", receiver, amount)
        accounts |= {sender, receiver}
        before = calls.add(balance_call(token, receiver, "balance before", reader=mover))
        move = calls.add(SimCall(label="move", sender=mover, to=token, data=data, is_trade=True))
        after = calls.add(balance_call(token, receiver, "balance after", reader=mover))
        probes.append(_Probe(tried=tried, before=before, move=move, after=after))
        balances.append(own)
    return LimitSimulation(
        simulation=_simulation(setup, builder.blocks(), balances, accounts, slot_index),
        probes=tuple(probes),
    )


def read_tries(
    written: LimitSimulation, result: SimulationResult | NotSimulated
) -> dict[LimitTry, bool | None]:
    """Return for each try whether the tokens were moved. None: not simulated."""
    if isinstance(result, NotSimulated):
        return dict.fromkeys((probe.tried for probe in written.probes), None)
    found: dict[LimitTry, bool | None] = {}
    for probe in written.probes:
        before, after = result.word(probe.before), result.word(probe.after)
        if before is None or after is None:
            found[probe.tried] = None
        else:
            found[probe.tried] = result[probe.move].ok and after > before
    return found


def _simulation(
    setup: TradeSetup,
    blocks: Sequence[SimBlock],
    balances: Sequence[dict[Address, int]],
    accounts: set[Address],
    slot_index: int,
) -> Simulation:
    token = setup.candidate.token
    funded = [
        msgspec.structs.replace(
            block,
            storage={
                token: {
                    slot: word
                    for account, amount in own.items()
                    for slot, word in balance_override(
                        account, RawAmount(amount), index=slot_index
                    ).items()
                }
            },
        )
        for block, own in zip(blocks, balances, strict=True)
    ]
    simulation = build_simulation(setup, tuple(funded), others=tuple(accounts))
    # A node that validates rejects transactions sent by the pool and the router, which have code.
    return msgspec.structs.replace(simulation, is_validated=False)
