"""Random faults of the store, drawn so that rare statements meet as many as frequent ones."""

from random import Random

from tests.harness.fault_simulation.store_faults import FaultKind, StoreFaults

_KINDS: tuple[FaultKind, ...] = (
    *("end before", "end before", "end after", "full disk", "full disk"),
    "told failed",
)
_WORDS = (
    *("balance", "block", "checkpoint", "coverage", "final_", "filled_span", "history", "launch"),
    *("largest", "pool", "pool_side", "recent_trade", "task", "token", "trade", "transfer"),
    *("undecoded", "window_floor", "commit", "select", "delete"),
)
"""In the statements of the serving state."""


def arm_by_chance(faults: StoreFaults, dice: Random) -> str:
    """Arm a random fault at a random place. Returns both, in short."""
    kind, about = dice.choice(_KINDS), ""
    if kind == "told failed":
        statements = dice.randint(1, dice.choice((1, 2, 6)))
    elif dice.random() < 0.5:
        statements = dice.randint(1, dice.choice((1, 5, 20, 60, 150)))
    else:
        statements, about = dice.randint(1, dice.choice((1, 2, 6))), dice.choice(_WORDS)
    full_for = dice.choice((1, 1, 1, 3, 40))
    faults.arm(kind, statements, full_for=full_for, about=about)
    where = f"{kind} at {statements} {about}".rstrip()
    return where + f" for {full_for}" * (kind == "full disk")


def faults_of_compaction(dice: Random) -> StoreFaults:
    """Those that one round may meet."""
    faults = StoreFaults()
    if dice.random() < 0.6:
        kinds: tuple[FaultKind, ...] = ("end before", "end after", "full disk")
        faults.arm(dice.choice(kinds), dice.randint(1, 70))
    return faults
