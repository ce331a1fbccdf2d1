"""Protects watches for agents: each key has its own, and a notification comes for every message."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp.client import Client
from mcp.shared.exceptions import MCPError

from sql.engine.store import Store
from tests.harness.api.mcp_client import MODES, agent, call
from tests.harness.api.open_port import on_network
from tests.harness.api.sample_reports import TOKEN, TOKEN_SHOWN
from tests.harness.api.world import World
from tests.harness.watches.changing_reports import tell

ASKED = {"name": "mine", "tokens": [{"chain": "eth", "addresses": [TOKEN]}]}


@asynccontextmanager
async def two_agents(
    world: World, store: Store, mode: str = "auto", **changes: Any
) -> AsyncIterator[tuple[Client, Client]]:
    """Clients of two keys."""
    async with (
        on_network(world, store=store, **changes) as base,
        agent(base, {"X-API-Key": world.new_key("pro")}, mode) as one,
        agent(base, {"X-API-Key": world.new_key("pro")}, mode) as other,
    ):
        yield one, other


@pytest.mark.parametrize("mode", MODES)
async def test_an_agent_watches_reads_and_removes(
    world: World, world_store: Store, mode: str
) -> None:
    async with two_agents(world, world_store, mode) as (one, other):
        is_error, made = await call(one, "watch_tokens", **ASKED)
        assert (is_error, made["watch"]["id"], made["secret"]) == (False, 1, None)
        for number in (1, 2):
            await asyncio.to_thread(tell, world_store, number, token=TOKEN)
        _, answer = await call(one, "watch_messages", watch_id=1)
        (delivery,) = answer["deliveries"]
        assert delivery["body"]["data"]["contract_address"] == TOKEN_SHOWN
        (resource,) = (await one.list_resources()).resources
        assert (str(resource.uri), resource.name) == ("assay://watches/1", "mine")
        (content,) = (await one.read_resource("assay://watches/1")).contents
        assert json.loads(content.text) == answer  # type: ignore[union-attr]  # a text

        assert (await other.list_resources()).resources == []
        for tool in ("watch_messages", "remove_watch"):
            is_error, refused = await call(other, tool, watch_id=1)
            assert (is_error, refused["status"]) == (True, 404)
        for uri in ("assay://watches/1", "assay://watches/x", "file:///etc/passwd"):
            with pytest.raises(MCPError):
                await other.read_resource(uri)
        assert await call(one, "remove_watch", watch_id=1) == (False, {"removed": 1})
        assert (await call(one, "list_watches")) == (False, {"watches": []})


async def test_a_notification_comes_for_every_message_of_ones_own_watches(
    world: World, world_store: Store
) -> None:
    stop = asyncio.Event()
    uris = ["assay://watches/1", "assay://watches/2", "assay://watches/3"]
    async with two_agents(world, world_store, stop=stop) as (one, other):
        for client in (one, other, one):
            await call(client, "watch_tokens", **ASKED)
        await asyncio.to_thread(tell, world_store, 1, token=TOKEN)
        async with one.listen(resource_subscriptions=uris[:2]) as listened:
            assert list(listened.honored.resource_subscriptions or ()) == uris[:1]
            events = aiter(listened)
            for number in (2, 3):
                await asyncio.to_thread(tell, world_store, number, token=TOKEN)
                event = await asyncio.wait_for(anext(events), 10)
                assert str(event.uri) == uris[0]  # type: ignore[union-attr]  # of a resource
            stop.set()
            with pytest.raises(StopAsyncIteration):  # a good end, not a lost connection
                await asyncio.wait_for(anext(events), 10)


async def test_a_deployment_without_a_store_refuses(world: World) -> None:
    async with (
        on_network(world) as base,
        agent(base, {"X-API-Key": world.new_key()}) as client,
    ):
        is_error, answer = await call(client, "list_watches")
        assert (is_error, answer["status"]) == (True, 503)
        with pytest.raises(MCPError):
            await client.list_resources()
