"""Trade conditions: branches that make a trade revert, or change its tax or its balance stores.

The static analysis lists them once per code (`condition_finder`). `conditions.condition_plan`
chooses, from current storage, inputs that take each condition both ways, and `scenarios.what_if`
simulates those. All *inferred*.
"""

from typing import Literal

import msgspec

from analysis.static.token_model.caps.cap_rules import ComputationStep
from core.evm.primitives import Address, Hash32, Selector

ConditionEffect = Literal["refuses", "overruns", "leads", "writes", "marks", "value"]
"""`refuses`: one side surely reverts, or moves no balance; `overruns`: one side of a compiler check
reverts; `leads`: decides whether such a branch is reached; `writes`: the sides store different
balances; `marks`: decides on a store to a variable that one of the former reads; `value`: a stored
amount depends on it."""

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
    "wallet",
    "answer",
    "callee",
    "outside",
    "input",
    "hash",
    "unknown",
]
"""Inputs of a condition, in addition to fixed and owner-set storage and the identity of the
parties.

`fees`: gas price or base fee; `gas`: gas left; `coins`: an account's native balance; `counter`: a
variable that trades write; `mark`: a party's mapping entry that trades write; `own`: one that only
the party itself writes, by a call that is no trade; `unguarded`: a variable that a function without
a recognised owner check writes; `balance`: a token balance other than the payer's; `code`: size or
hash of an account's code, `wallet` if it is a party; `answer`, `callee`: return data of another
contract, and success of the call to it, `outside` if they depend on state that trades do not move;
`input`: calldata beyond the function's arguments.
"""


VariableKey = tuple[Hash32 | None, Hash32, bool]
"""Declared slot and mask of a variable, and True for the entries of a mapping."""


class StoredValues(msgspec.Struct, frozen=True, kw_only=True):
    """Values that stores without an owner check can leave in one variable."""

    slot: Hash32
    """Slot of its declaration; a mapping's entries are under their keys."""
    bits: Hash32
    """Mask of the variable's bits in the slot."""
    constants: tuple[Hash32, ...] = ()
    """Constants that are stored, at their position within the slot."""
    clocks: tuple[Literal["time", "block"], ...] = ()
    """The clock is stored, or a sum with it."""
    is_free: bool = False
    """Any value may be reached: it is counted up or down, or something else is stored."""
    step: int | None = None
    """Largest constant by which a store counts it up or down, if all others store constants or
    clocks. None: other amounts."""
    is_set: bool = False
    """Any number that a caller gives may be stored or added, not only computed amounts."""
    is_own: bool = False
    """Only the party of the entry writes it, by a call that is no trade."""


class TradeCondition(msgspec.Struct, frozen=True, kw_only=True):
    """A branch or a stored amount, with the inputs it depends on."""

    selector: Selector
    """Function that contains it; 0x00000000 is the fallback."""
    pc: int
    effect: ConditionEffect
    sources: tuple[Source, ...]
    steps: tuple[ComputationStep, ...]
    """The condition as a computation; the last step is its result.

    Leaves in addition to those of `cap_rules`: `gas_price`, `base_fee`, `proposer`, `randomness`,
    `gas_limit`, `block_hash`, `gas`, `origin`, `from`, `to`, `spender`, `caller`, `this`;
    `proceeds` (coins that the contract's own swap brought); `coins` and `balance` of a step; `mark`
    (the entry of a variable declared at `word`: first the step of its slot, then those of its
    keys), `entry` (of a party, at a slot that cannot be computed), `answer` (of the step of a
    contract and those of accounts whose balances are read from it), `callee` of a step. A `balance`
    of no party has the step of its slot too.
    """
    written: tuple[StoredValues, ...] = ()
    """Values stored in those variables among the leaves that trades or anybody write."""
    fails_when: bool | None = None
    """Truth of the condition on which it reverts. None: either side may go on."""


class OwnedCondition(msgspec.Struct, frozen=True, kw_only=True):
    """A branch on owner-written storage. It needs no simulation if another field reports it."""

    selector: Selector
    pc: int
    effect: ConditionEffect
    is_listed: bool
    """True for a party's mapping entry, False for one variable for all."""
    slot: Hash32 | None
    """Declared slot of the variable. None: not known."""
    bits: Hash32
    """Mask of the variable's bits."""
    rule: Literal["zero", "amount", "other"]
    """`zero`: a test against zero; `amount`: an order between an amount or balance and the rest."""
    is_returned: bool = False
    """It decides on what a transfer or `balanceOf` returns, as pools and routers read it."""

    @property
    def variable(self) -> VariableKey:
        """Return the variable that it depends on."""
        return self.slot, self.bits, self.is_listed


class EqualWait(msgspec.Struct, frozen=True, kw_only=True):
    """A constant wait after one's own trade, the same for all but these addresses."""

    constants: tuple[Address, ...] = ()
    """Addresses in the code that transfers compare a party with."""
    slots: tuple[tuple[Hash32, int], ...] = ()
    """Slot and bit offset of those in storage."""


class TradeConditions(msgspec.Struct, frozen=True, kw_only=True):
    """Trade conditions of one code."""

    conditions: tuple[TradeCondition, ...] = ()
    owned: tuple[OwnedCondition, ...] = ()
    named: tuple[VariableKey, ...] = ()
    """Owner-set addresses that trades compare with their parties."""
    compared: tuple[Hash32, ...] = ()
    """Constant addresses that those are compared with."""
    by_own_acts: tuple[TradeCondition, ...] = ()
    """Conditions on the clock that only a party meets that has called another function before."""
    fee_setters: tuple[Selector, ...] = ()
    """Functions of a hook that may set a fee of its pool which is not shown to be low."""
    wait: EqualWait | None = None
    """None: there is none, or it is not shown to be constant and equal."""
    is_complete: bool = False
    """Every path of transfers was followed, and no condition had to be left out."""
