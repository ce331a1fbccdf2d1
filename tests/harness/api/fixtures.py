"""One deployment of the API for each test: in this process, and for some tests once more as a fleet
of real processes (`tests/harness/api/fleet_selection.py`)."""

import time
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from sql.engine.store import Store
from tests.harness.api.fleet_selection import marks_on_a_fleet
from tests.harness.api.sample_reports import MINED_AT_S
from tests.harness.api.sign_in import Browser, Provider, Street
from tests.harness.api.world import Get, World
from tests.harness.fleet.api_fleet import ApiFleet, running_api_fleet
from tests.harness.fleet.fleet_world import FleetWorld, opened_fleet_world
from tests.harness.parts.empty_databases import EmptyDatabases, connect_store
from tests.harness.store.empty_files import new_ledger, new_store


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run tests that may run on a fleet on both."""
    path = metafunc.definition.path.relative_to(metafunc.config.rootpath / "tests")
    module = path.with_suffix("").as_posix()
    marks = marks_on_a_fleet(module, metafunc.function.__name__)
    if "world" in metafunc.fixturenames and marks is not None:
        places = ["here", pytest.param("fleet", marks=marks)]
        metafunc.parametrize("world", places, indirect=True)


@pytest.fixture(scope="session")
def api_fleet(
    empty_databases: EmptyDatabases, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ApiFleet]:
    with running_api_fleet(empty_databases, tmp_path_factory.mktemp("fleet"), MINED_AT_S) as fleet:
        yield fleet


@pytest.fixture
async def world(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> AsyncIterator[World]:
    if getattr(request, "param", "here") == "fleet":
        fleet: ApiFleet = request.getfixturevalue("api_fleet")
        with closing(connect_store(fleet.address.url.value, path=tmp_path / "files")) as kept:
            async with opened_fleet_world(fleet, kept, MINED_AT_S) as found:
                monkeypatch.setattr(time, "time", found.clock)
                yield found
        return
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
    """Return a GET below /token/1, with an admin's key by default."""
    admin = world.new_key()

    async def ask(rest: str, *, key: str = admin) -> httpx.Response:
        return await client.get(f"/token/1/{rest}", headers={"X-API-Key": key})

    return ask


@pytest.fixture
def world_store(tmp_path: Path, world: World) -> Iterator[Store]:
    """The store that searches read, and the analysis recalls from."""
    if isinstance(world, FleetWorld):
        yield world.store
        return
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
    """Provider that gives true answers until the test sets a lie."""
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
