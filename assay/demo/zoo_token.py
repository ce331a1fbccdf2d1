"""What a token of the zoo can be."""

from typing import Literal

import msgspec

from assay.demo.layout import VenueKey

Quote = Literal["native", "usdc", "usdt"]
"""Wrapped native coin (v4: the native coin), strict stable, stable that answers nothing."""

Extra = Literal["pair", "keeper"]
"""Constructor arguments behind name and symbol: the token's pair, or its privileged address."""

Form = Literal["plain", "bytes32", "proxy", "beacon", "clone"]
"""How the token comes into being. plain: name, symbol and extras into the constructor."""


Hook = Literal["fee", "trap", "input", "dynamic", "router"]
"""Which hook a V4 pool has."""


class Animal(msgspec.Struct, frozen=True, kw_only=True):
    """What to deploy for one token and where it trades."""

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
    """What the owner puts on the pool's quote side."""
    pool_pct: int = 93
    """Percent of the supply put on the pool's token side."""
    renounced: bool = False
    liquidity: Literal["burnt", "kept"] = "burnt"
    """What becomes of it in the demo's world; see Sides.liquidity_to for venues where it cannot be
    burnt."""
