"""Inputs of a trade that its conditions may ask for, and what an ordinary trade brings of each."""

from collections.abc import Collection, Mapping
from typing import Final, Literal

import msgspec

from config.primitives import Address, Hash32

Input = Literal[
    "time",
    "block",
    "gas_price",
    "base_fee",
    "proposer",
    "randomness",
    "gas",
    "coins",
    "amount",
    "slot",
    "mark",
    "balance",
    "price",
]
"""`coins`: somebody's native coins; `slot`: a variable of the token; `mark`: a mapping's entry;
`balance`: the token's own; `price`: what the pool holds, as a multiple of today's in percent."""

_REAL: Final = frozenset[Input](
    {
        *("time", "block", "gas_price", "base_fee", "proposer", "randomness", "gas", "coins"),
        *("amount", "price"),
    }
)


class WhatIf(msgspec.Struct, frozen=True, kw_only=True):
    """One input, set to a value that is not the ordinary one."""

    input: Input
    value: int
    slot: Hash32 | None = None
    """Of `slot` and `mark`."""
    contract: Address | None = None
    """Whose variable."""
    account: Address | None = None
    """Whose coins. None: the trader's."""
    is_standing: bool = False
    """It holds from before the first buy on, not from later: the trader's own doing."""

    also: tuple["WhatIf", ...] = ()
    """Inputs that are set beside it, all of them of what is stored."""

    @property
    def is_real(self) -> bool:
        """Whether ordinary people can meet it: nothing of the token's is overridden."""
        return self.input in _REAL and self.account is None and not self.also

    @property
    def is_stored(self) -> bool:
        """Whether the contract's own state is overridden."""
        return self.input in ("slot", "mark") or self.account is not None


class OrdinaryTrade(msgspec.Struct, frozen=True, kw_only=True):
    """What an ordinary trade brings."""

    time_s: int
    block: int
    base_fee_wei: int
    gas_price_wei: int
    gas: int
    coins_wei: int
    amount_raw: int
    supply_raw: int
    trader: Address
    token: Address
    contract: Address
    """Whose conditions and storage: the token, or the pool's hook."""
    pool: Address
    router: Address
    proposer: Address
    pool_balance_raw: int
    words: Mapping[Hash32, int]
    """Storage by slot."""
    known: Collection[Address]
    """Contracts whose answers the plays themselves show: pools, routers, quote tokens."""
