"""Combined simulations: transactions of several accounts in one simulation, each read as if alone.

Labels of calls are prefixed with the account's name. Sends no request.
"""

from collections.abc import Mapping, Sequence

import msgspec

from analysis.scenarios.trade_setup import (
    UNLIMITED,
    Order,
    TradeSetup,
    approval_calls,
    buy_calls,
    sale_calls,
    sending_calls,
    staged,
)
from analysis.simulation.simulate_v1 import SimBlock, SimCall, Simulation, SimulationResult
from core.primitives import Address, Hash32, RawAmount

ACT_GAS = 4_000_000
"""Gas of one trade or transfer where a simulation has many: above what the dearest honest token
needs, one that mints an item for each unit. Unused gas does not count."""


class Scene(msgspec.Struct, frozen=True, kw_only=True):
    """Calls of one simulated block."""

    number: int
    time_s: int
    calls: tuple[SimCall, ...]


def buying(
    ground: TradeSetup, who: str, amount_in: RawAmount, *, is_read: bool = False, prefix: str = ""
) -> tuple[SimCall, ...]:
    """Return the calls of a buy by a fresh account. `is_read`: with the reads that
    `trade_outcome.read_buy` needs; `prefix` distinguishes a second buy from the first."""
    calls = [
        msgspec.structs.replace(call, label=prefix + call.label)
        for call in buy_calls(ground, ground.trader(who), amount_in)
        if is_read or not call.is_read
    ]
    return _named(who, calls)


def approving(
    ground: TradeSetup,
    who: str,
    *,
    amount: int,
    seller: Address | None = None,
    is_unlimited: bool = False,
) -> tuple[SimCall, ...]:
    """Return the approval of `amount` for the router; `is_unlimited`: followed by an unlimited
    approval, where the token permits it. `seller` None: the account that `buying` used for this
    name."""
    approver = seller or ground.trader(who)
    calls = approval_calls(ground, approver, "at sale", amount)
    if is_unlimited:
        calls += approval_calls(ground, approver, "everything at sale", UNLIMITED)
    return _named(who, calls)


def selling(
    ground: TradeSetup,
    who: str,
    amount: RawAmount,
    *,
    seller: Address | None = None,
    when: str = "",
) -> tuple[SimCall, ...]:
    """Return the calls of a sale, once approved; `when` distinguishes several attempts."""
    order = Order(when=f"{when}at sale", amount=amount)
    return _named(who, sale_calls(ground, seller or ground.trader(who), order))


def sending(
    ground: TradeSetup, who: str, amount: RawAmount, *, friend: str | None = None
) -> tuple[SimCall, ...]:
    """Return the calls of a transfer, to another member or to a new account."""
    to = None if friend is None else ground.trader(friend)
    return _named(who, sending_calls(ground, ground.trader(who), amount, friend=to))


def together(plays: Mapping[str, Simulation]) -> Simulation:
    """Return one simulation of several with the same blocks, where in each block the calls of the
    second follow those of the first. `part` separates their results by name. For an account in
    several, the state overrides of the first hold."""
    first, later = next(iter(plays.values())), (*plays.values(),)[::-1]
    storage: dict[Address, dict[Hash32, Hash32]] = {}
    for play in later:
        for contract, slots in play.storage.items():
            storage.setdefault(contract, {}).update(slots)
    blocks = tuple(
        msgspec.structs.replace(
            block,
            calls=tuple(
                msgspec.structs.replace(call, label=_prefix(who) + call.label)
                for who, play in plays.items()
                for call in play.blocks[at].calls
            ),
        )
        for at, block in enumerate(first.blocks)
    )
    return msgspec.structs.replace(
        first,
        blocks=blocks,
        storage=storage,
        purses={who: wei for play in later for who, wei in play.purses.items()},
        nonces={who: nonce for play in later for who, nonce in play.nonces.items()},
    )


def part(played: SimulationResult, who: str) -> SimulationResult:
    """Return the results of one account's calls."""
    start = _prefix(who)
    own = {
        label.removeprefix(start): result
        for label, result in played.by_label.items()
        if label.startswith(start)
    }
    return SimulationResult(own, played.by)


def stage(
    ground: TradeSetup,
    scenes: Sequence[Scene],
    *,
    buyers: Mapping[str, RawAmount],
    others: Sequence[Address] = (),
) -> Simulation:
    """Return the simulation. `buyers`: amount that each pays in; `others` need coins for gas
    only."""
    blocks = tuple(
        SimBlock(number=scene.number, time_s=scene.time_s, calls=scene.calls) for scene in scenes
    )
    payers = {ground.trader(who): amount_in for who, amount_in in buyers.items()}
    return staged(ground, blocks, payers=payers, others=others)


def _named(who: str, calls: Sequence[SimCall]) -> tuple[SimCall, ...]:
    return tuple(
        msgspec.structs.replace(
            call, label=_prefix(who) + call.label, gas=call.gas if call.is_read else ACT_GAS
        )
        for call in calls
    )


def _prefix(who: str) -> str:
    return f"{who}: "
