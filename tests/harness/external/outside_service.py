"""Outside services on this machine that answer well or badly, and their listed pairs."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import aiohttp
from aiohttp import web

from analysis.external.connect import ExternalServices
from analysis.external.market_data import MarketData
from analysis.external.verified_sources import Sources
from assay.demo.layout import NATIVE_USD
from config.settings import MarketDataSettings, SourceSettings
from core.evm.primitives import Address

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Service:
    """One server with scripted answers, which records its requests."""

    def __init__(self) -> None:
        self.requests: list[str] = []
        self.answer: Handler = self._nothing
        self.url = ""

    async def _nothing(self, _: web.Request) -> web.StreamResponse:
        return web.json_response({}, status=404)

    def says(self, body: object, *, status: int = 200) -> None:
        """Answer everything with this JSON."""

        async def answer(_: web.Request) -> web.StreamResponse:
            return web.json_response(body, status=status)

        self.answer = answer

    def says_text(self, body: str, *, status: int = 200) -> None:
        """Answer everything with this text."""

        async def answer(_: web.Request) -> web.StreamResponse:
            return web.Response(text=body, status=status)

        self.answer = answer

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.requests.append(request.path_qs)
        return await self.answer(request)


@asynccontextmanager
async def running_service() -> AsyncIterator[Service]:
    service = Service()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", service.handle)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    service.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield service
    finally:
        await runner.cleanup()


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
