"""Inputs that the conditions of a trade may read, and their values in an ordinary trade."""

from collections.abc import Collection, Mapping
from typing import Final, Literal

import msgspec

from core.evm.primitives import Address, Hash32

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
    "name",
    "gift",
    "dust",
    "wallet",
    "price",
    "size",
]
"""`coins`: native coins of an account; `slot`: a storage variable of the token; `mark`: an entry
of a mapping; `name`: an address that the owner sets; `balance`: stored balance of an account, of
the token contract if it is None; `gift`: tokens that another buyer sends an account; `dust`: what
another account sends the token contract of the pool's quote, in percent of a purchase; `wallet`:
code of the trader's account; `price`: the pool's quote reserve, in percent of today's; `size`:
tokens that the pool gives in a buy, and gets in a sale."""

_REAL: Final = frozenset[Input](
    {
        *("time", "block", "gas_price", "base_fee", "proposer", "randomness", "gas", "coins"),
        *("amount", "gift", "dust", "wallet", "price", "size"),
    }
)


class WhatIf(msgspec.Struct, frozen=True, kw_only=True):
    """One input of a simulation, set to a value other than the ordinary one."""

    input: Input
    value: int
    slot: Hash32 | None = None
    """Storage slot, for inputs `slot` and `mark`."""
    contract: Address | None = None
    """The contract whose storage is set."""
    account: Address | None = None
    """The account whose coins are set, or whose tokens. None: the trader, or the token contract."""
    is_standing: bool = False
    """True if it is set before the first buy and not only later, as by the trader itself."""

    is_counted: bool = False
    """True if a count in storage is set to a value that trades alone lead to, and soon."""

    also: tuple["WhatIf", ...] = ()
    """Further inputs, all of stored state, that are set together with it."""

    @property
    def is_real(self) -> bool:
        """True if ordinary traders can encounter it: no state of the contract is overridden that
        trades do not reach."""
        if self.is_counted:
            return not self.also
        is_of_parties = self.account is None or self.input == "gift"
        return self.input in _REAL and is_of_parties and not self.also

    @property
    def is_stored(self) -> bool:
        """True if state of the contract is overridden: its storage or its coins."""
        is_set = self.account is not None and self.input != "gift"
        return self.input in ("slot", "mark", "name") or is_set


class OrdinaryTrade(msgspec.Struct, frozen=True, kw_only=True):
    """The values of all inputs in an ordinary trade."""

    time_s: int
    """Time of the sale, which is in `block`."""
    block: int
    bought_s: int
    """Time of the buy, in `bought_block`, for values that a trade stores and a sale reads."""
    bought_block: int
    first_sale_s: int
    """Earliest time of a sale, in `first_sale_block`."""
    first_sale_block: int
    base_fee_wei: int
    gas_price_wei: int
    gas: int
    coins_wei: int
    amount_raw: int
    supply_raw: int
    trader: Address
    token: Address
    contract: Address
    """The contract with the conditions and the storage: the token, or the pool's hook."""
    pool: Address
    quote: Address
    """The zero address: native coins."""
    router: Address
    proposer: Address
    pool_balance_raw: int
    is_plain: bool
    """Balances are stored as `balanceOf` returns them."""
    words: Mapping[Hash32, int]
    """Storage by slot."""
    known: Collection[Address]
    """Contracts that the simulations execute themselves: pools, routers, quote tokens."""
