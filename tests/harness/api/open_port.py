"""Applications on a free port of this machine."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from api.serving.cached_answer_app import CachedAnswerApp
from api.serving.serve import serve
from tests.harness.api.world import World
from tests.harness.fleet.fleet_world import FleetWorld


@asynccontextmanager
async def listening(app: CachedAnswerApp) -> AsyncIterator[int]:
    """The application on a free port, which is the value."""
    stop = asyncio.Event()
    ready: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    serving = asyncio.create_task(serve(app, host="127.0.0.1", port=0, stop=stop, listening=ready))
    try:
        yield await ready
    finally:
        stop.set()
        await serving


HOST = "127.0.0.1"


@asynccontextmanager
async def on_network(world: World, **changes: Any) -> AsyncIterator[str]:
    """Its address, without a slash at the end; of a fleet, that of one process."""
    if isinstance(world, FleetWorld):
        world.change(**changes)
        await world.settle()
        yield world.next_url()
        return
    stop = asyncio.Event()
    port: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    app = world.make_app(**changes)
    world.keep(app)
    server = asyncio.create_task(serve(app, host=HOST, port=0, stop=stop, listening=port))
    try:
        yield f"http://{HOST}:{await asyncio.wait_for(port, 10)}"
    finally:
        stop.set()
        await server
