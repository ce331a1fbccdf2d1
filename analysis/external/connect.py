"""Construction of the clients of all external services, over one HTTP session."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import msgspec

from analysis.external.market_data import MarketData
from analysis.external.verified_sources import Sources
from config.settings import Settings


class ExternalServices(msgspec.Struct, frozen=True, kw_only=True):
    """Clients of the services outside the chain."""

    market_data: MarketData
    sources: Sources


@asynccontextmanager
async def connect_services(settings: Settings) -> AsyncIterator[ExternalServices]:
    """Yield clients of all services that the settings name. Sends no request."""
    async with aiohttp.ClientSession() as session:
        yield ExternalServices(
            market_data=MarketData(session, settings.market_data),
            sources=Sources(session, settings.sources, settings.etherscan_key),
        )
