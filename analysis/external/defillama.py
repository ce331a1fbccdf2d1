"""DefiLlama client: aggregated prices.

Source: DefiLlama API documentation, prices/current.
"""

import msgspec

from analysis.external.host import HttpService
from analysis.external.numbers import Figure, positive
from core.evm.primitives import Address

_LEAST_CONFIDENCE = 0.5
"""Least confidence, 0 to 1, of a price that is used."""


class _Coin(msgspec.Struct, frozen=True):
    price: Figure = None
    confidence: float = 1.0


class _Coins(msgspec.Struct, frozen=True):
    coins: dict[str, _Coin] = {}


async def token_price(host: HttpService, network: str, token: Address) -> float | None:
    """Return USD of one whole token. None: not known there, or with too low confidence. Raises
    UpstreamError."""
    answer = await host.get(f"/prices/current/{network}:{token}", _Coins)
    coins = answer.coins if answer else {}
    coin = next(
        (coin for name, coin in coins.items() if name.lower() == f"{network}:{token}"), None
    )
    if coin is None or coin.confidence < _LEAST_CONFIDENCE:
        return None
    return positive(coin.price)
