"""Market data services on this machine, and the pairs that they list."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp

from analysis.external.connect import ExternalServices
from analysis.external.market_data import MarketData
from analysis.external.verified_sources import Sources
from assay.demo.layout import NATIVE_USD
from config.settings import MarketDataSettings, SourceSettings
from core.evm.primitives import Address
from tests.harness.external.outside_service import Service, running_service


@asynccontextmanager
async def running_market_data() -> AsyncIterator[tuple[Service, ExternalServices]]:
    async with running_service() as service, aiohttp.ClientSession() as session:
        url = service.url
        data = MarketDataSettings(dexscreener_url=url, geckoterminal_url=url, defillama_url=url)
        sources = SourceSettings(sourcify_url="", etherscan_url="")
        yield (
            service,
            ExternalServices(
                market_data=MarketData(session, data), sources=Sources(session, sources, None)
            ),
        )


def dexscreener_pair(
    key: str, base: Address, quote: Address, *, depth: float, usd: str
) -> dict[str, object]:
    """Pair of DexScreener whose token side has a worth of its issuer's choice."""
    return {
        "chainId": "ethereum",
        "pairAddress": key,
        "baseToken": {"address": base},
        "quoteToken": {"address": quote},
        "priceUsd": usd,
        "priceNative": str(float(usd) / NATIVE_USD),
        "liquidity": {"usd": 9e12, "base": 9e12, "quote": depth},
    }
