"""Whether a token's symbol is one that people know from another token of its chain. Pure."""

from typing import Literal

import msgspec

from config.chains import Chain
from core.look_alikes import skeleton
from core.primitives import Address
from sql.token_search import FoundToken, folded

_TIMES_RICHER = 10
_KNOWN_ABOVE_USD = 10_000.0
"""A namesake with less in its pools is known to nobody."""


class Likeness(msgspec.Struct, frozen=True, kw_only=True):
    """The token or coin that a symbol is known from."""

    kind: Literal["quoted", "like_quoted", "like_coin", "like_richer"]
    """quoted: it is this token, one of those that the chain's exchanges quote others in.
    like_quoted: another token is. like_coin: the chain's own coin, which is no token.
    like_richer: another token of that symbol has ten times as much in its pools."""
    symbol: str
    """Of what it is known from."""
    is_same_text: bool
    """False: the symbol is written with other characters that look the same."""
    address: Address | None = None
    """None: a coin has none."""


def find_likeness(token: FoundToken, chain: Chain, richest: FoundToken | None) -> Likeness | None:
    """Return what a token's symbol is known from; None if from nothing else.

    `richest`: the token of the chain with the most money among those of that symbol; None: not
    known.
    """
    key = skeleton(token.symbol)
    if not key:
        return None
    for anchor in chain.anchors:
        if skeleton(anchor.symbol) == key:
            is_it = anchor.address == token.address
            return Likeness(
                kind="quoted" if is_it else "like_quoted",
                symbol=anchor.symbol,
                is_same_text=folded(anchor.symbol) == folded(token.symbol),
                address=anchor.address,
            )
    if skeleton(chain.native_symbol) == key:
        return Likeness(
            kind="like_coin",
            symbol=chain.native_symbol,
            is_same_text=folded(chain.native_symbol) == folded(token.symbol),
        )
    if richest is None or richest.address == token.address or not _is_richer(richest, token):
        return None
    return Likeness(
        kind="like_richer",
        symbol=richest.symbol,
        is_same_text=folded(richest.symbol) == folded(token.symbol),
        address=richest.address,
    )


def _is_richer(richest: FoundToken, token: FoundToken) -> bool:
    return richest.usd >= max(_KNOWN_ABOVE_USD, _TIMES_RICHER * token.usd)
