"""One deployment of the API for each test."""

import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx
import pytest

from harness.api.world import Get, World
from sql.store import Store
from tests.api.people import Browser, Provider, Street
from tests.sql.empty_files import new_ledger, new_store


@pytest.fixture
async def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[World]:
    ledger = new_ledger(tmp_path / "ledger.sqlite")
    opened = World(ledger)
    monkeypatch.setattr(time, "time", opened.clock)  # the windows of `limits` read it
    yield opened
    await opened.aclose()
    ledger.close()


@pytest.fixture
def client(world: World) -> httpx.AsyncClient:
    return world.client()


@pytest.fixture
def get(world: World, client: httpx.AsyncClient) -> Get:
    """GET below /token/1 with an admin's key, unless told otherwise."""
    admin = world.new_key()

    async def ask(rest: str, *, key: str = admin) -> httpx.Response:
        return await client.get(f"/token/1/{rest}", headers={"X-API-Key": key})

    return ask


@pytest.fixture
def store(tmp_path: Path, world: World) -> Iterator[Store]:
    """The store that searches read, and the analysis recalls from."""
    opened = new_store(tmp_path / "assay")
    world.analysis.store = opened
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def running_provider() -> Iterator[Provider]:
    provider = Provider()
    yield provider
    provider.stop()


@pytest.fixture
def provider(running_provider: Provider) -> Iterator[Provider]:
    """One that tells the truth until the test has it lie."""
    yield running_provider
    running_provider.lie(None)


@pytest.fixture
async def street(world: World, provider: Provider) -> AsyncIterator[Street]:
    opened = Street(world, provider)
    yield opened
    await opened.aclose()


@pytest.fixture
def browser(street: Street) -> Browser:
    return street.browser()
