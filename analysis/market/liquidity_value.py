"""Pool value in USD, from its priced side. Pure: no I/O.

Anchors are the priced tokens: the stables at 1 USD, the wrapped native coin by the oracle. With one
priced side the pool counts as twice that side: an unpriced token is worth what it trades for, not
what its issuer claims. A token that is no anchor has a price where a market with an anchor shows
one, and counts for no more than that market can pay. Source: the specification, "Liquidity notes".
"""

import math
from collections.abc import Mapping

import msgspec

from core.evm.primitives import Address, RawAmount


class Price(msgspec.Struct, frozen=True, kw_only=True):
    """Price of one token."""

    usd: float
    """USD of one whole token."""
    decimals: int
    most_usd: float = math.inf
    """Upper bound of any amount's value: what the market behind the price pays for all of it."""

    def value_usd(self, amount_raw: RawAmount) -> float:
        """Return the USD value of an amount in smallest units."""
        return min(float(amount_raw / 10**self.decimals) * self.usd, self.most_usd)


class PoolValue(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Value of a pool."""

    liquidity_usd: float
    """Value of the whole pool, both sides, by its priced tokens."""
    quote_side_usd: float


def value_pool(
    *,
    token: Address,
    quote: Address,
    token_reserve_raw: RawAmount,
    quote_reserve_raw: RawAmount,
    prices: Mapping[Address, Price],
) -> PoolValue | None:
    """Value one pool. None: neither side has a price, so the pool is left out, not shown as 0."""
    of_quote, of_token = prices.get(quote), prices.get(token)
    if of_quote is None:
        if of_token is None:
            return None
        token_side_usd = of_token.value_usd(token_reserve_raw)
        return PoolValue(liquidity_usd=2 * token_side_usd, quote_side_usd=token_side_usd)
    quote_side_usd = of_quote.value_usd(quote_reserve_raw)
    if of_token is None:
        return PoolValue(liquidity_usd=2 * quote_side_usd, quote_side_usd=quote_side_usd)
    both = quote_side_usd + of_token.value_usd(token_reserve_raw)
    return PoolValue(liquidity_usd=both, quote_side_usd=quote_side_usd)
