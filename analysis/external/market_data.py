"""Facade of the market-data services. A failure of a service is a miss, never an error."""

from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import TypeVar

import aiohttp
import structlog

from analysis.external import defillama, dexscreener, geckoterminal
from analysis.external.dexscreener import BackedPrice, PoolFigures
from analysis.external.host import HttpService
from config.facts.chain import Chain
from config.settings import MarketDataSettings
from core.errors import UpstreamError
from core.evm.primitives import Address, Hash32

T = TypeVar("T")
_LOG = structlog.get_logger(__name__)


class MarketData:
    """Prices of tokens and liquidity of pools by external services."""

    def __init__(self, session: aiohttp.ClientSession, settings: MarketDataSettings) -> None:
        def host(name: str, url: str, per_minute: int) -> HttpService | None:
            if not url:
                return None
            return HttpService(
                session,
                name,
                url,
                per_minute=per_minute,
                timeout_s=settings.timeout_s,
                cache_s=settings.cache_s,
            )

        self._aggregator = settings.aggregator
        self._dexscreener = host(
            "DexScreener", settings.dexscreener_url, settings.dexscreener_per_minute
        )
        self._geckoterminal = host(
            "GeckoTerminal", settings.geckoterminal_url, settings.geckoterminal_per_minute
        )
        self._defillama = host("DefiLlama", settings.defillama_url, settings.defillama_per_minute)

    @property
    def aggregator_name(self) -> str:
        """Name of the service that `token_price` queries."""
        return "DefiLlama" if self._aggregator == "defillama" else "DexScreener"

    async def token_price(self, chain: Chain, token: Address) -> float | None:
        """Return USD of one whole token by the configured aggregator. None: a miss."""
        listing = chain.listing
        if self._aggregator == "defillama":
            if self._defillama is None or not listing.defillama:
                return None
            return await _or_none(defillama.token_price(self._defillama, listing.defillama, token))
        if self._dexscreener is None or not listing.dexscreener:
            return None
        anchors = [anchor.address for anchor in chain.anchors]
        return await _or_none(
            dexscreener.token_price(self._dexscreener, listing.dexscreener, token, anchors)
        )

    async def backed_price(self, chain: Chain, token: Address) -> BackedPrice | None:
        """Return the price of a token that others are quoted in, with the depth of its pair. None:
        a miss.

        Only DexScreener returns the depth, so no other service is queried.
        """
        name = chain.listing.dexscreener
        if self._dexscreener is None or not name:
            return None
        anchors = [anchor.address for anchor in chain.anchors]
        return await _or_none(dexscreener.backed_price(self._dexscreener, name, token, anchors))

    async def pool_figures(
        self,
        chain: Chain,
        pool_ids: Sequence[Hash32],
        *,
        totals_of: Collection[Hash32] | None = None,
    ) -> dict[Hash32, PoolFigures]:
        """Return figures of V4 pools: by DexScreener, and in USD alone by GeckoTerminal for the
        rest.

        `totals_of`: the pools of the rest for which such a total is useful. None: all of them.
        Pools that no service knows are left out.
        """
        found: dict[Hash32, PoolFigures] = {}
        if self._dexscreener is not None and chain.listing.dexscreener:
            host, network = self._dexscreener, chain.listing.dexscreener
            found |= await _by_parts(
                pool_ids,
                dexscreener.MOST_POOLS_A_REQUEST,
                lambda part: dexscreener.pool_figures(host, network, part),
            )
        wanted = pool_ids if totals_of is None else totals_of
        rest = [pool_id for pool_id in wanted if pool_id not in found]
        if rest and self._geckoterminal is not None and chain.listing.geckoterminal:
            other, name = self._geckoterminal, chain.listing.geckoterminal
            in_usd = await _by_parts(
                rest,
                geckoterminal.MOST_POOLS_A_REQUEST,
                lambda part: geckoterminal.pool_liquidity(other, name, part),
            )
            found |= {key: PoolFigures(liquidity_usd=usd) for key, usd in in_usd.items()}
        return found


async def _by_parts(
    pool_ids: Sequence[Hash32],
    size: int,
    fetch: Callable[[Sequence[Hash32]], Awaitable[dict[Hash32, T]]],
) -> dict[Hash32, T]:
    """Query in chunks. After a failure the rest is skipped, as it would likely fail too."""
    found: dict[Hash32, T] = {}
    for start in range(0, len(pool_ids), size):
        answer = await _or_none(fetch(pool_ids[start : start + size]))
        if answer is None:
            break
        found |= answer
    return found


async def _or_none(question: Awaitable[T]) -> T | None:
    try:
        return await question
    except UpstreamError as error:
        _LOG.info("market data missed", service=error.service, why=error.reason)
        return None
