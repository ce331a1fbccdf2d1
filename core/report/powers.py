"""Powers over a token: the accounts that can change what holders have or can do.

Written by the analysis for one block, rendered by the API, and the base of the severity of checks.
"""

from typing import Literal

import msgspec

from core.evm.primitives import Address, Selector

PowerKind = Literal[
    "stop",
    "block",
    "cap",
    "tax",
    "mint",
    "burn",
    "take",
    "condition",
    "disguise",
    "replace",
    "withdraw",
]
"""`stop`: refuse everybody's trades; `block`: refuse an address's; `cap`: limit amounts or
holdings; `condition`: change another condition of trades; `disguise`: change what balances are
shown or whether transfers return success; `replace`: replace the code; `withdraw`: take liquidity
out of pools."""

HolderKind = Literal[
    "nobody",
    "holders",
    "trades",
    "multisig",
    "timelock",
    "contract",
    "wallet",
    "list",
    "anybody",
    "unknown",
]
"""`nobody`: renounced, burnt or used up; `holders`: each over the own tokens; `trades`: changed by
every transfer, as simulated; `list`: accounts that a list in storage names; `contract`: another
contract, not known to bind its users; `unknown`: not read, or named by another contract."""

Bound = Literal["none", "low", "unreachable", "tight"]
"""`low`: the code keeps what it can do small; `unreachable`: it reaches neither trades nor
holdings; `tight`: a rule in force hurts as it stands."""


class Power(msgspec.Struct, frozen=True, kw_only=True):
    """One power over a token, by one kind of holder."""

    check: str
    """Key of the field that it explains."""
    what: PowerKind
    holder_kind: HolderKind
    holder: Address | None = None
    """The account, where it is one that storage or code names."""
    functions: tuple[Selector, ...] = ()
    """Functions that use it."""
    bound: Bound = "none"
    detail: str | None = None
    """Members and threshold of a multisig, delay of a timelock, or the bound, as text."""

    @property
    def is_harmless(self) -> bool:
        """True if it cannot hurt a holder: dead, over the own tokens, small, or out of reach."""
        if self.bound == "tight":
            return False
        return self.holder_kind in ("nobody", "holders", "trades") or self.bound != "none"

    @property
    def is_bound(self) -> bool:
        """True if its holder cannot act alone and at once."""
        return self.holder_kind in ("multisig", "timelock") and self.bound != "tight"
