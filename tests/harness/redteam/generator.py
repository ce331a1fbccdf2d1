"""Composes traps at random from a seed: condition x effect x entry point x moment x surface."""

import random
from typing import get_args

from tests.harness.redteam.comparison_forms import SURFACES
from tests.harness.redteam.conditions_environment import ENVIRONMENT
from tests.harness.redteam.conditions_moved import MOVED
from tests.harness.redteam.conditions_owned import OWNED, Maker
from tests.harness.redteam.conditions_world import WORLD
from tests.harness.redteam.false_tokens import LIES
from tests.harness.redteam.thefts import THEFTS
from tests.harness.redteam.trap_model import (
    Composition,
    Condition,
    Effect,
    EntryPoint,
    Harmless,
    Moment,
    Sight,
    Trap,
)
from tests.harness.redteam.trap_source import write

CONDITIONS = (*OWNED, *MOVED, *WORLD, *ENVIRONMENT)

EFFECTS: dict[EntryPoint, tuple[Effect, ...]] = {
    "sell": ("revert", "no_op", "zeroed", "tax", "tax", "price_ruin", "taken", "third_allowance"),
    "buy": ("zeroed", "tax", "taken", "no_op", "third_allowance"),
    "transfer": ("revert", "no_op", "zeroed", "tax", "third_allowance"),
    "transferFrom": ("revert", "no_op", "zeroed", "tax", "third_allowance"),
    "approve": ("revert", "no_op", "third_allowance"),
    "hook": ("revert", "tax", "tax"),
    "proxy": ("revert", "no_op", "zeroed", "tax"),
}
"""Effects of an entry point. A buy that is refused is no trap but a token nobody can buy."""

_GROWING: dict[EntryPoint, tuple[Effect, ...]] = {
    "sell": ("growing",),
    "transfer": ("growing",),
    "transferFrom": ("growing",),
}
_SIGHTS: tuple[Sight, ...] = get_args(Sight)
_HARMLESS: tuple[Harmless, ...] = get_args(Harmless)
_HONEST_SHARE = 0.25
_OTHERS_SHARE = 0.22
"""Share of thefts and lies, which are entry points with separate keys."""
_PAIRED_SHARE = 0.12
"""Share of traps that need two conditions together."""
_PERCENTS = (60, 75, 90, 99)


def compose(seed: int, count: int) -> list[Trap]:
    """Compose traps and honest doubles, the same for the same seed; every axis comes in turn."""
    dice = random.Random(seed)  # noqa: S311 - a seed makes a run repeatable
    axes = _by_axis()
    order: list[str] = []
    traps: list[Trap] = []
    while len(traps) < count:
        if not order:
            order = sorted(axes)
            dice.shuffle(order)
        name = f"R{seed}x{len(traps)}"
        honest = dice.random() < _HONEST_SHARE
        if dice.random() < _OTHERS_SHARE:
            traps.append(dice.choice((*THEFTS, *LIES))(name, honest, dice))
            continue
        condition = dice.choice(axes[order.pop()])(dice)
        second = dice.choice(CONDITIONS)(dice) if dice.random() < _PAIRED_SHARE else None
        traps.append(write(_draw(name, condition, second, honest, dice), dice))
    return traps


def _by_axis() -> dict[str, list[Maker]]:
    axes: dict[str, list[Maker]] = {}
    for make in CONDITIONS:
        drawn = make(random.Random(0))  # noqa: S311
        axes.setdefault(drawn.axis, []).append(make)
    return axes


def _draw(
    name: str, condition: Condition, second: Condition | None, honest: bool, dice: random.Random
) -> Composition:
    entry_points = condition.entry_points
    if second is not None and _fit(condition, second):
        entry_points = tuple(
            entry_point for entry_point in entry_points if entry_point in second.entry_points
        )
    else:
        second = None
    entry_point = dice.choice(entry_points)
    moment: Moment = "now" if second else _moment(condition, entry_point, dice)
    effects = EFFECTS[entry_point]
    if condition.op == ">" and moment == "now" and not second:
        effects = (*effects, *_GROWING.get(entry_point, ()))
    return Composition(
        name=name,
        condition=condition,
        entry_point=entry_point,
        effect=dice.choice(effects),
        moment=moment,
        surface=dice.choice(
            [key for key in SURFACES if key != "self_call" or entry_point != "proxy"]
        ),
        percent=dice.choice(_PERCENTS),
        form=dice.randrange(60),
        harmless=dice.choice(_HARMLESS) if honest else None,
        second=second,
        sight=dice.choice(_SIGHTS) if entry_point == "sell" and dice.random() < 0.4 else "pair",
    )


def _fit(first: Condition, second: Condition) -> bool:
    """True if both fit one contract and one entry point."""
    kinds = {first.axis, second.axis}
    both_owned = kinds <= {"owner_list", "owner_switch", "disguised_list"}
    return (
        len(kinds) == 2 and not both_owned and bool({*first.entry_points} & {*second.entry_points})
    )


def _moment(condition: Condition, entry_point: EntryPoint, dice: random.Random) -> Moment:
    """An earlier moment only where a mark can be left before the entry point is passed."""
    if entry_point in ("buy", "approve", "proxy"):
        return "now"
    moments = [one for one in condition.moments if entry_point != "hook" or one != "at_approval"]
    return dice.choice(moments)
