"""Several acts of several people in one play, each read as if it had been played alone. Pure."""

from collections.abc import Mapping, Sequence

import msgspec

from analysis.scenarios.ground import Ground, buy_calls, sale_calls, sending_calls, staged
from analysis.stage import Play, Played, SimBlock, SimCall
from config.primitives import Address, RawAmount

ACT_GAS = 1_500_000
"""Gas of one trade or transfer where there are many in a play: Geth gives all of a simulation 50
million. Above what the dearest honest token asks for."""


class Scene(msgspec.Struct, frozen=True, kw_only=True):
    """The acts of one what-if block."""

    number: int
    time_s: int
    calls: tuple[SimCall, ...]


def buying(ground: Ground, who: str, amount_in: RawAmount) -> tuple[SimCall, ...]:
    """A fresh account buys. Read by `trade.read_buy`, beside `holding`."""
    return _named(who, buy_calls(ground, ground.trader(who), amount_in))


def selling(
    ground: Ground, who: str, amount: RawAmount, *, seller: Address | None = None
) -> tuple[SimCall, ...]:
    """Approve and sell. `seller` None: the account that `buying` named so."""
    calls = sale_calls(ground, seller or ground.trader(who), amount, "at sale", allowed=amount)
    return _named(who, calls)


def sending(ground: Ground, who: str, amount: RawAmount) -> tuple[SimCall, ...]:
    """Send some on."""
    return _named(who, sending_calls(ground, ground.trader(who), amount))


def part(played: Played, who: str) -> Played:
    """What came of one person's acts."""
    start = _prefix(who)
    own = {
        label.removeprefix(start): result
        for label, result in played.by_label.items()
        if label.startswith(start)
    }
    return Played(own, played.by)


def stage(
    ground: Ground,
    scenes: Sequence[Scene],
    *,
    buyers: Mapping[str, RawAmount],
    others: Sequence[Address] = (),
) -> Play:
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
