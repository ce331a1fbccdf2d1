"""An outside service on this machine, and a session for it."""

from collections.abc import AsyncIterator

import aiohttp
import pytest

from tests.harness.external.outside_service import Service, running_service


@pytest.fixture
async def service() -> AsyncIterator[Service]:
    async with running_service() as running:
        yield running


@pytest.fixture
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as opened:
        yield opened
