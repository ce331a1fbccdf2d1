"""Several acts of several people in one play, each read as if it had been played alone. Pure."""

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
from config.primitives import Address, Hash32, RawAmount

ACT_GAS = 4_000_000
"""Gas of one trade or transfer where there are many in a play: above what the dearest honest token
asks for, one that mints an item for each unit. What it does not use counts for nothing."""


class Scene(msgspec.Struct, frozen=True, kw_only=True):
    """The acts of one what-if block."""

    number: int
    time_s: int
    calls: tuple[SimCall, ...]


def buying(
    ground: TradeSetup, who: str, amount_in: RawAmount, *, is_read: bool = False, prefix: str = ""
) -> tuple[SimCall, ...]:
    """A fresh account buys. `is_read`: beside the reads that `trade_outcome.read_buy` wants;
    `prefix` tells a second buy from the first."""
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
    """The router may take so much of the token; `is_unlimited`: and then everything, where the
    token lets people. `seller` None: the account that `buying` named so."""
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
    """Sell, once approved; `when` tells several tries apart."""
    order = Order(when=f"{when}at sale", amount=amount)
    return _named(who, sale_calls(ground, seller or ground.trader(who), order))


def sending(
    ground: TradeSetup, who: str, amount: RawAmount, *, friend: str | None = None
) -> tuple[SimCall, ...]:
    """Send some on, to another member or to somebody new."""
    to = None if friend is None else ground.trader(friend)
    return _named(who, sending_calls(ground, ground.trader(who), amount, friend=to))


def together(plays: Mapping[str, Simulation]) -> Simulation:
    """Plays of the same blocks, the second's acts after the first's in each. `part` tells them
    apart by their names again. Of an account that is in both, the first says what it has."""
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
    """What came of one person's acts."""
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
    """The play. `buyers`: what each pays in; `others` only need coins for gas."""
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
