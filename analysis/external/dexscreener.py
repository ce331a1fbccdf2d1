"""DexScreener client: the price of a token's deepest pair, and the liquidity of single pools.

Source: DexScreener API reference, token-pairs/v1 and latest/dex/pairs.
"""

from collections.abc import Collection, Sequence

import msgspec

from analysis.external.host import HttpService
from analysis.external.numbers import Figure, positive
from core.evm.primitives import ZERO_ADDRESS, Address, Hash32

MOST_POOLS_A_REQUEST = 30


class PoolFigures(msgspec.Struct, frozen=True, kw_only=True):
    """Figures of one pool by the service; amounts are in whole tokens."""

    liquidity_usd: float | None
    """USD of both sides, at the service's own prices. The side of a token itself is easily
    overstated."""
    base: str = ""
    """Lower-case address; for the native coin zero or its wrapper's. Empty: not known."""
    quote: str = ""
    base_amount: float | None = None
    quote_amount: float | None = None


class BackedPrice(msgspec.Struct, frozen=True, kw_only=True):
    """A price with the depth of its pair."""

    usd: float
    """USD of one whole token."""
    depth_usd: float
    """USD of the anchor in the pair that shows the price: nobody can be paid more than that."""


class _Token(msgspec.Struct, frozen=True):
    address: str = ""


class _Liquidity(msgspec.Struct, frozen=True):
    usd: Figure = None
    base: Figure = None
    quote: Figure = None


class _Pair(msgspec.Struct, frozen=True, rename="camel"):
    chain_id: str = ""
    pair_address: str = ""
    base_token: _Token = _Token()
    quote_token: _Token = _Token()
    price_usd: Figure = None
    price_native: Figure = None
    liquidity: _Liquidity | None = None


class _Pairs(msgspec.Struct, frozen=True):
    pairs: tuple[_Pair, ...] | None = None


async def token_price(
    host: HttpService, network: str, token: Address, anchors: Collection[Address]
) -> float | None:
    """Return USD of one whole token in its deepest pair. None: it has no priced pair there.

    The depth of a pair is that of its quote side: the value of a token's own side is up to its
    issuer. Pairs with an anchor of the chain count before all others, as anybody can create a quote
    token. Raises UpstreamError.
    """
    ranked = await _ranked(host, network, token, anchors)
    return ranked[2] if ranked else None


async def backed_price(
    host: HttpService, network: str, token: Address, anchors: Collection[Address]
) -> BackedPrice | None:
    """Return the price as `token_price`, by pairs with an anchor of the chain alone. Raises
    UpstreamError."""
    ranked = await _ranked(host, network, token, anchors)
    if ranked is None or not ranked[0]:
        return None
    return BackedPrice(usd=ranked[2], depth_usd=ranked[1])


async def _ranked(
    host: HttpService, network: str, token: Address, anchors: Collection[Address]
) -> tuple[bool, float, float] | None:
    """Return for the best pair: True if its quote is an anchor, USD of that side, and the price in
    USD."""
    pairs = await host.get(f"/token-pairs/v1/{network}/{token}", tuple[_Pair, ...]) or ()
    trusted = {*anchors, ZERO_ADDRESS}
    ranked = [
        (pair.quote_token.address.lower() in trusted, depth, price)
        for pair in pairs
        if pair.chain_id == network
        and pair.base_token.address.lower() == token
        and (price := positive(pair.price_usd)) is not None
        and (depth := _quote_depth_usd(pair)) is not None
    ]
    return max(ranked, default=None)


async def pool_figures(
    host: HttpService, network: str, pool_ids: Sequence[Hash32]
) -> dict[Hash32, PoolFigures]:
    """Return figures of V4 pools by pool id. Pools that the service does not know are left out.

    At most MOST_POOLS_A_REQUEST ids. Raises UpstreamError.
    """
    answer = await host.get(f"/latest/dex/pairs/{network}/{','.join(pool_ids)}", _Pairs)
    wanted = set(pool_ids)
    return {
        Hash32(key): PoolFigures(
            base=pair.base_token.address.lower(),
            quote=pair.quote_token.address.lower(),
            base_amount=positive(pair.liquidity.base),
            quote_amount=positive(pair.liquidity.quote),
            liquidity_usd=positive(pair.liquidity.usd),
        )
        for pair in (answer.pairs if answer else None) or ()
        if pair.chain_id == network
        and pair.liquidity is not None
        and (key := pair.pair_address.lower()) in wanted
    }


def _quote_depth_usd(pair: _Pair) -> float | None:
    usd, in_quote = positive(pair.price_usd), positive(pair.price_native)
    reserve = positive(pair.liquidity.quote) if pair.liquidity else None
    return None if usd is None or in_quote is None or reserve is None else reserve * usd / in_quote
