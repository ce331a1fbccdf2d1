"""Likeness of a token's symbol to that of a well-known token of its chain. Pure."""

from typing import Literal

import msgspec

from config.facts.chain import Chain
from core.evm.primitives import Address
from core.text.look_alikes import skeleton
from sql.tokens.token_search import FoundToken, folded

_TIMES_RICHER = 10
_KNOWN_ABOVE_USD = 10_000.0
"""Minimum USD in a namesake's pools for it to count as known."""


class Likeness(msgspec.Struct, frozen=True, kw_only=True):
    """The known token or coin with the same symbol."""

    kind: Literal["quoted", "like_quoted", "like_coin", "like_richer"]
    """quoted: it is this token, one of those that the chain's exchanges quote others in.
    like_quoted: another token is. like_coin: the chain's own coin, which is no token.
    like_richer: another token of that symbol has ten times as much in its pools."""
    symbol: str
    """Symbol of the known token or coin."""
    is_same_text: bool
    """False: the symbol is written with other characters that look the same."""
    address: Address | None = None
    """None: a coin has none."""


def find_likeness(
    *, address: Address, symbol: str, usd: float, chain: Chain, richest: FoundToken | None
) -> Likeness | None:
    """Find the known token or coin that a symbol resembles. None: there is none.

    `usd`: value in the token's pools apart from the token itself. `richest`: the token of the chain
    with the highest such value among those of that symbol; None: not known.
    """
    key = skeleton(symbol)
    if not key:
        return None
    for anchor in chain.anchors:
        if skeleton(anchor.symbol) == key:
            is_it = anchor.address == address
            return Likeness(
                kind="quoted" if is_it else "like_quoted",
                symbol=anchor.symbol,
                is_same_text=folded(anchor.symbol) == folded(symbol),
                address=anchor.address,
            )
    if skeleton(chain.native_symbol) == key:
        return Likeness(
            kind="like_coin",
            symbol=chain.native_symbol,
            is_same_text=folded(chain.native_symbol) == folded(symbol),
        )
    if richest is None or richest.address == address or not _is_richer(richest, usd):
        return None
    return Likeness(
        kind="like_richer",
        symbol=richest.symbol,
        is_same_text=folded(richest.symbol) == folded(symbol),
        address=richest.address,
    )


def _is_richer(richest: FoundToken, usd: float) -> bool:
    return richest.usd >= max(_KNOWN_ABOVE_USD, _TIMES_RICHER * usd)
