"""Parts of a composed trap: condition, effect, entry point and the way it is computed."""

from typing import Literal

import msgspec

Op = Literal[">", "<", "==", "!="]
EntryPoint = Literal["sell", "buy", "transfer", "transferFrom", "approve", "hook", "proxy"]
Effect = Literal[
    "revert",
    "no_op",
    "zeroed",
    "tax",
    "growing",
    "price_ruin",
    "taken",
    "third_allowance",
    "mark",
]
"""Effects where the condition holds.

`growing` is a tax that rises with the distance from the boundary, without a branch at it. `mark` is
an honest double's: something is noted.
"""
Moment = Literal["now", "at_buy", "at_approval"]
"""Time of the check: in the act itself, or before it, leaving a mark."""
Sight = Literal["pair", "code", "table", "hash", "spender", "asks"]
"""Way in which a sale is recognised."""
Who = Literal["maker", "keeper", "stranger", "victim"]
Liquidity = Literal["kept", "keepers", "burnt"]
"""Owner of the LP tokens of a pair: the maker, a second account of theirs, or a burn address."""
Harmless = Literal["small_fee", "giant_only", "team_only", "noted"]


class Act(msgspec.Struct, frozen=True, kw_only=True):
    """Transaction that an account with powers sends.

    `$buyer`, `$victim`, `$amount` and the like among the arguments stand for people and figures of
    the run.
    """

    by: Who
    signature: str
    given: tuple[object, ...] = ()
    to: str = "$home"
    """`$home`: where the condition stands, the token or the hook."""
    tail: str = ""
    """Calldata behind the arguments: hex, or one of the names for people that `given` knows."""
    through_courier: bool = False
    """Sent by a contract that passes calls on."""
    wait_s: int = 0
    """Before it."""
    sign: str = ""
    """View function of the token whose answer the keeper signs first, as a wallet signs a message.

    `$v`, `$r`, `$s` then stand for the signature.
    """
    sign_given: tuple[object, ...] = ()


class Condition(msgspec.Struct, frozen=True, kw_only=True):
    """Holds where the trap shuts. Expressions are Solidity over `who` (the trader), `v` (the
    amount) and the members of `Floor`, each of type uint256."""

    key: str
    axis: str
    """The class of the taxonomy."""
    lhs: str
    op: Op
    rhs: str
    state: str = ""
    start: str = ""
    """Statements of the constructor."""
    functions: str = ""
    on_buy: str = ""
    """Statements at each buy, before the effect."""
    on_sell: str = ""
    """Statements at each sale, after the check of the condition."""
    on_approve: str = ""
    acts: tuple[Act, ...] = ()
    """Transactions of the people behind the trap after ordinary buys."""
    crowd: int = 0
    """Number of strangers that have to buy before it holds."""
    blocks: int = 0
    """Number of blocks in each of the long waits before it holds."""
    entry_points: tuple[EntryPoint, ...] = ("sell", "transfer", "transferFrom")
    moments: tuple[Moment, ...] = ("now",)
    views: bool = True
    """True if reading changes nothing."""
    cause: tuple[str, ...] = ()
    """Flags and reasons that name this cause, besides the general ones."""


class Composition(msgspec.Struct, frozen=True, kw_only=True):
    """One contract to write, place, trade and analyse."""

    name: str
    condition: Condition
    entry_point: EntryPoint
    effect: Effect
    moment: Moment
    surface: str
    percent: int
    """Percentage of a tax."""
    form: int
    """Number of the effect's form."""
    harmless: Harmless | None = None
    """None: a trap. Else the honest double."""
    second: Condition | None = None
    """Second condition that has to hold at the same moment."""
    sight: Sight = "pair"

    @property
    def is_honest(self) -> bool:
        """True if it is a double that hurts nobody."""
        return self.harmless is not None

    @property
    def label(self) -> str:
        """Describe the trap in one line."""
        kind = f"honest {self.harmless}" if self.harmless else self.effect
        when = "" if self.moment == "now" else f" {self.moment}"
        what = self.condition.key + (f" and {self.second.key}" if self.second else "")
        how = self.surface if self.sight == "pair" else f"{self.surface}, by {self.sight}"
        return f"{self.name}: {what}{when} x {kind} x {self.entry_point} ({how})"


class Trap(msgspec.Struct, frozen=True, kw_only=True):
    """Text of a contract, and the steps of its test."""

    name: str
    axis: str
    label: str
    source: str
    """Solidity behind `Floor.sol`; holds a contract of this name."""
    is_honest: bool
    venue: Literal["v2", "v4"] = "v2"
    liquidity: Liquidity = "kept"
    hook_flags: int = 0
    """v4 only: permissions in the hook's address. 0: no hook."""
    dynamic_fee: bool = False
    decoy: Literal["", "v3", "v4", "solid"] = ""
    """Venue of a second, small pool, in which everybody trades as usual."""
    acts: tuple[Act, ...] = ()
    thefts: tuple[Act, ...] = ()
    """Tried after the acts; the victim is a holder who bought and approved the router."""
    crowd: int = 0
    blocks: int = 0
    cause: tuple[str, ...] = ()
    bypasses: bool = False
    """The theft moves tokens by transferFrom without the holder's allowance."""
    mints: bool = False
    """The theft makes tokens."""
