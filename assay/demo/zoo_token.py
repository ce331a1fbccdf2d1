"""Specification of one token of the zoo."""

from typing import Literal

import msgspec

from assay.demo.layout import VenueKey

Quote = Literal["native", "usdc", "usdt"]
"""Wrapped native coin (v4: the native coin), strict stable, stable without return values."""

Extra = Literal["pair", "keeper"]
"""Constructor argument after name and symbol: the token's pair, or its privileged address."""

Form = Literal["plain", "bytes32", "proxy", "beacon", "clone"]
"""Deployment of the token. plain: a constructor with name, symbol and extras."""


Hook = Literal["fee", "trap", "input", "dynamic", "router"]
"""Hook of a V4 pool."""


class Animal(msgspec.Struct, frozen=True, kw_only=True):
    """Deployment and pool of one token."""

    key: str
    trait: str
    symbol: str
    contract: str = "HonestToken"
    form: Form = "plain"
    extra: Extra | None = None
    decimals: int = 18
    venue: VenueKey = "v2"
    quote: Quote = "native"
    hook: Hook | None = None
    """v4 only."""
    quote_usd: int = 15_000
    """Deposit of the owner on the pool's quote side."""
    pool_pct: int = 93
    """Percent of the supply on the pool's token side."""
    renounced: bool = False
    liquidity: Literal["burnt", "kept"] = "burnt"
    """Fate of the liquidity. On V4, kept liquidity is held by a contract."""
