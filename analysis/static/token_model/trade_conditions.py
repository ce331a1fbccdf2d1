"""The conditions on which code refuses a trade, taxes it otherwise, or moves balances otherwise.

The static analysis lists them once per code; `condition_plan` chooses, with what storage holds, the
inputs that take each of them both ways, and `scenarios.what_if` plays those. All *inferred*.
"""

from typing import Literal

import msgspec

from analysis.static.token_model.cap_rules import ComputationStep
from config.primitives import Hash32, Selector

ConditionEffect = Literal["refuses", "overruns", "leads", "writes", "marks", "value"]
"""`refuses`: one side surely fails; `overruns`: so does one of a compiler's own check; `hints`:
decides whether a refusing test is met; `writes`: other balances are written on either side;
`marks`: decides on a store to what one of the former reads; `value`: an amount that is written
depends on it."""

Source = Literal[
    "time",
    "block",
    "fees",
    "proposer",
    "randomness",
    "block_hash",
    "gas",
    "coins",
    "amount",
    "counter",
    "mark",
    "own",
    "unguarded",
    "balance",
    "code",
    "answer",
    "callee",
    "input",
    "hash",
    "unknown",
]
"""What a condition depends on, beside fixed and owner-set storage and who the parties are.

`fees`: gas price or base fee; `gas`: gas left; `coins`: somebody's native coins; `counter`: a
variable that trades write; `mark`: a mapping entry of a party that trades write; `own`: one that
only the party itself writes, by a call that is no trade; `unguarded`: a variable that a function
without a recognised owner check writes; `balance`: a token balance other than that of who pays;
`code`: size or hash of an account's code; `answer`, `callee`: what another contract answers, and
whether it fails; `input`: calldata beyond the function's arguments.
"""


class StoredValues(msgspec.Struct, frozen=True, kw_only=True):
    """What those who need no owner's leave can leave behind in one variable."""

    slot: Hash32
    """Where it is declared; a mapping's entries are under their keys."""
    bits: Hash32
    """Which of the slot's bits it is."""
    constants: tuple[Hash32, ...] = ()
    """Numbers that are stored, in place within the slot."""
    clocks: tuple[Literal["time", "block"], ...] = ()
    """The clock is stored, or a sum with it."""
    is_free: bool = False
    """It is counted up or down, or something else is stored: any value may be reached."""
    is_own: bool = False
    """Only the party whose entry it is writes it, by a call that is no trade."""


class TradeCondition(msgspec.Struct, frozen=True, kw_only=True):
    """One branch, or one written amount, and what it depends on."""

    selector: Selector
    """Of the function it is met in; 0x00000000 is the fallback."""
    pc: int
    effect: ConditionEffect
    sources: tuple[Source, ...]
    steps: tuple[ComputationStep, ...]
    """The condition as a computation; the last step is its result. Leaves beside those of
    `cap_rules`: `gas_price`, `base_fee`, `proposer`, `randomness`, `gas_limit`, `block_hash`,
    `gas`, `origin`, `from`, `to`, `spender`, `caller`, `this`; `coins` and `balance` of a step;
    `mark` (the entry of a variable declared at `word`: first the step of its slot, then those of
    its keys), `entry` (of a party, at a slot that cannot be computed), `answer` and `callee` of a
    step."""
    written: tuple[StoredValues, ...] = ()
    """Of the variables among the leaves that trades or anybody write."""
    fails_when: bool | None = None
    """The truth of the condition that refuses. None: either side may go on."""


class OwnedCondition(msgspec.Struct, frozen=True, kw_only=True):
    """A branch on storage that only the owner writes. It needs no play where a field tells it."""

    selector: Selector
    pc: int
    effect: ConditionEffect
    is_listed: bool
    """It is the entry of a party in a mapping, not one variable for all."""
    askers: tuple[tuple[Hash32, int], ...] | None = None
    """Slot, and bits to the right in it, of the addresses that may write it. None: a constant, a
    list or another contract tells who may."""


class TradeConditions(msgspec.Struct, frozen=True, kw_only=True):
    """Of one code."""

    conditions: tuple[TradeCondition, ...] = ()
    owned: tuple[OwnedCondition, ...] = ()
    is_complete: bool = False
    """Every path of transfers was followed, and no condition had to be left out."""
