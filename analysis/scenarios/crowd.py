"""Crowd of buyers: the opening that the simulations of later sales share.

Twelve accounts buy different sizes in three blocks, one of them twice. The opening is first
simulated by itself, because a sale's calldata needs the amount that each buy brought. The
simulations that build on it repeat it, so each account holds exactly what was seen. Sends no
request.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from analysis.scenarios import combined_plays
from analysis.scenarios.buy import part_of_reserve
from analysis.scenarios.trade_setup import TradeSetup, balance_call
from analysis.simulation.block_schedule import SimulatedBlock
from analysis.simulation.simulate_v1 import NotSimulated, SimCall, Simulation, SimulationResult
from core.primitives import RawAmount

MOMENTS: Final = ("next block", "+5 minutes", "+1 hour", "+1 day", "+30 days")
"""Moments of sales. Each has two sellers, an ordinary and a small one."""

ORDINARY: Final = "seller"
SMALL: Final = "small seller"
TWICE: Final = "second buyer"
SENDER: Final = "sender"

_SHARES: Final = {ORDINARY: 170, SMALL: 2_700, TWICE: 450, SENDER: 310}
"""Divisors of the pool's quote reserve. None of the drawn amounts is a round share."""

BLOCKS: Final = 4
"""Number of blocks of the opening, with the one in which balances are read."""


class Crowd(msgspec.Struct, frozen=True, kw_only=True):
    """The opening, and what each account holds after it."""

    opening: Simulation
    held: Mapping[str, RawAmount]
    """Nearly all of the balance, by name; only of accounts that hold something."""


def seller(moment: str, size: str) -> str:
    """Return the name of the seller of that moment and size."""
    return f"{size} {moment}"


def members() -> tuple[str, ...]:
    """Return the names of all accounts."""
    return (
        *(seller(moment, size) for moment in MOMENTS for size in (ORDINARY, SMALL)),
        TWICE,
        SENDER,
    )


def paid(ground: TradeSetup, who: str) -> RawAmount:
    """Return the amount that an account pays in for one buy."""
    size = next(size for size in (SMALL, ORDINARY, TWICE, SENDER) if who.startswith(size))
    return part_of_reserve(ground, _SHARES[size])


def payments(ground: TradeSetup) -> dict[str, RawAmount]:
    """Return the amount that each account needs for all its buys."""
    return {who: RawAmount(paid(ground, who) * (2 if who == TWICE else 1)) for who in members()}


def opening(ground: TradeSetup, blocks: Sequence[SimulatedBlock]) -> list[combined_plays.Scene]:
    """Return the buys, in the first three blocks."""
    names = members()
    groups = (names[:4], names[4:8], names[8:])
    scenes = []
    for block, group in zip(blocks, groups, strict=False):
        calls = [call for who in group for call in _buying(ground, who)]
        scenes.append(scene(block, calls))
    return scenes


def scene(block: SimulatedBlock, calls: Sequence[SimCall]) -> combined_plays.Scene:
    """Return one simulated block with its calls."""
    return combined_plays.Scene(number=block.number, time_s=block.time_s, calls=tuple(calls))


def write_opening(ground: TradeSetup, blocks: Sequence[SimulatedBlock]) -> Simulation:
    """Return a simulation of the buys, and in the next block the second buy and a read of every
    balance."""
    token = ground.candidate.token
    reads = [
        msgspec.structs.replace(
            balance_call(token, ground.trader(who), "held"), label=_held_label(who)
        )
        for who in members()
    ]
    last = scene(blocks[BLOCKS - 1], [*second_buy(ground), *reads])
    return combined_plays.stage(ground, [*opening(ground, blocks), last], buyers=payments(ground))


def second_buy(ground: TradeSetup) -> tuple[SimCall, ...]:
    """Return the second buy of one account."""
    return combined_plays.buying(ground, TWICE, paid(ground, TWICE), prefix="again ")


def read_opening(play: Simulation, played: SimulationResult | NotSimulated) -> Crowd | None:
    """Return what each account holds. None: the node did not simulate, or nobody could buy."""
    if isinstance(played, NotSimulated):
        return None
    words = {who: played[_held_label(who)].word for who in members()}
    held = {who: nearly_all(word) for who, word in words.items() if word}
    return Crowd(opening=play, held=held) if held else None


def nearly_all(held: int) -> RawAmount:
    """Return the amount sold of a holding: some wallets may not be emptied."""
    return RawAmount(max(1, held - held // 33))


def _buying(ground: TradeSetup, who: str) -> tuple[SimCall, ...]:
    return combined_plays.buying(ground, who, paid(ground, who))


def _held_label(who: str) -> str:
    return f"{who}: held"
