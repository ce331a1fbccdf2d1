"""Protects watches over HTTP: each key sees its own, within its plan, and streams lose nothing."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner

from api.watches import event_feed
from api.watches.watch_refusals import TooManyStreamsError
from assay import cli
from config.settings import WatchSettings
from sql.engine.store import Store
from sql.watches.watch_messages import delete_old_messages
from tests.harness.api.open_port import on_network
from tests.harness.api.routes import STREAMS
from tests.harness.api.sample_reports import TOKEN, TOKEN_SHOWN
from tests.harness.api.sign_in import PUBLIC, Street, read
from tests.harness.api.world import World
from tests.harness.watches.changing_reports import tell

ONE = {"chain": "eth", "addresses": [TOKEN]}
HOOK = "https://bot.example.com/hook?key=secret"


@pytest.fixture
def client(world: World, world_store: Store) -> httpx.AsyncClient:
    return world.client(store=world_store)


async def make(client: httpx.AsyncClient, key: str, **definition: Any) -> dict[str, Any]:
    response = await client.post(
        "/watches", json={"name": "w", "tokens": [ONE], **definition}, headers={"X-API-Key": key}
    )
    assert response.status_code == 201, response.text
    made: dict[str, Any] = response.json()
    return made


async def test_a_watch_from_its_making_to_its_end(
    world: World, client: httpx.AsyncClient, world_store: Store
) -> None:
    key = {"X-API-Key": world.new_key("pro")}
    made = await make(client, key["X-API-Key"], webhook_url=HOOK, kinds=["owner", "tax"])
    assert made["secret"].startswith("whsec_")
    path = f"/watches/{made['watch']['id']}"
    shown = (await client.get(path, headers=key)).json()
    assert shown == made["watch"]
    assert (shown["state"], shown["tokens"], shown["kinds"]) == ("active", 1, ["owner", "tax"])
    assert made["secret"] not in (await client.get("/watches", headers=key)).text

    more = {"chain": 1, "addresses": [f"0x{9:040x}", TOKEN]}
    added = await client.post(f"{path}/tokens", json=more, headers=key)
    assert (added.status_code, added.json()["tokens"]) == (200, 2)
    removed = await client.post(f"{path}/tokens/remove", json=more, headers=key)
    assert removed.json() == {"removed": 2}
    await client.post(f"{path}/tokens", json=ONE, headers=key)
    listed = (await client.get(f"{path}/tokens", headers=key)).json()
    assert listed == {
        "tokens": [{"chain": "ethereum", "contract_address": TOKEN_SHOWN, "is_awaiting": True}],
        "next_after": None,
    }

    for number in (1, 2):
        tell(world_store, number, token=TOKEN)
    tested = await client.post(f"{path}/test", headers=key)
    assert tested.json()["pending"] == 2
    test, change = (await client.get(f"{path}/deliveries", headers=key)).json()["deliveries"]
    assert (test["body"]["type"], test["state"]) == ("watch.test", "pending")
    change_data = change["body"]["data"]
    assert (change_data["chain"], change_data["contract_address"]) == ("ethereum", TOKEN_SHOWN)
    assert [one["what"] for one in change_data["changes"]] == ["owner_address"]

    assert (await client.post(f"{path}/pause", headers=key)).json()["state"] == "paused"
    tell(world_store, 3, token=TOKEN)
    assert (await client.post(f"{path}/resume", headers=key)).json()["pending"] == 2
    assert (await client.delete(path, headers=key)).status_code == 204
    gone = await client.get(path, headers=key)
    assert (gone.status_code, gone.json()) == (404, {"detail": "This key has no such watch."})


@pytest.mark.parametrize(
    ("method", "rest"),
    [
        ("GET", ""),
        ("DELETE", ""),
        ("POST", "/pause"),
        ("POST", "/resume"),
        ("POST", "/test"),
        ("GET", "/tokens"),
        ("POST", "/tokens"),
        ("POST", "/tokens/remove"),
        ("GET", "/deliveries"),
        ("GET", "/events"),
    ],
)
async def test_a_key_sees_its_own_watches_alone(
    world: World, client: httpx.AsyncClient, method: str, rest: str
) -> None:
    made = await make(client, world.new_key("pro"))
    other = {"X-API-Key": world.new_key("admin")}
    options: dict[str, Any] = {"json": ONE} if "tokens" in rest and method == "POST" else {}
    for number in (made["watch"]["id"], 999, 2**63, 10**30):
        response = await client.request(
            method, f"/watches/{number}{rest}", headers=other, **options
        )
        assert response.status_code == 404, number
    without = await client.request(method, f"/watches/1{rest}", **options)
    assert without.status_code == 401
    assert (await client.get("/watches", headers=other)).json() == {"watches": []}


@pytest.mark.parametrize(
    ("definition", "name"),
    [
        ({"name": ""}, "name"),
        ({"name": " "}, "name"),
        ({"name": "\u202ew"}, "name"),
        ({"name": "w" * 101}, "name"),
        ({"kinds": []}, "kinds"),
        ({"kinds": ["price"]}, "kinds"),
        ({"webhook_url": "http://bot.example.com"}, "webhook_url"),
        ({"webhook_url": "https://169.254.169.254/latest"}, "webhook_url"),
        ({"webhook_url": "https://a@bot.example.com"}, "webhook_url"),
        ({"tokens": [{"chain": "eth", "addresses": ["0x12"]}]}, "addresses"),
        ({"tokens": [{"chain": "nowhere", "addresses": [TOKEN]}]}, "chain"),
        ({"tokens": [ONE] * 21}, "tokens"),
        ({"feed": {"chain": "eth"}}, "feed"),  # without a webhook
        ({"webhook_url": HOOK, "feed": {"chain": "nowhere"}}, "chain"),
        ({"webhook_url": HOOK, "feed": {"chain": "eth", "after": -1}}, "after"),
        ({"more": 1}, ""),
    ],
)
async def test_what_is_asked_wrongly_is_refused_and_nothing_is_made(
    world: World, client: httpx.AsyncClient, definition: dict[str, Any], name: str
) -> None:
    key = {"X-API-Key": world.new_key("pro")}
    response = await client.post("/watches", json={"name": "w", **definition}, headers=key)
    assert response.status_code == 422
    assert name in response.text
    assert (await client.get("/watches", headers=key)).json() == {"watches": []}


@pytest.mark.parametrize("path", STREAMS)
async def test_head_of_a_stream_ends(world: World, client: httpx.AsyncClient, path: str) -> None:
    head_response = await client.head(path, headers={"X-API-Key": world.new_key()})
    assert (head_response.status_code, head_response.content) == (200, b"")
    assert head_response.headers["content-type"].startswith("text/event-stream")


async def test_an_operator_may_allow_http_and_private_addresses(
    world: World, world_store: Store
) -> None:
    client = world.client(
        store=world_store, watches=WatchSettings(allow_http=True, allow_private=True)
    )
    made = await make(client, world.new_key(), webhook_url="http://127.0.0.1:9/hook")
    assert made["watch"]["webhook_url"] == "http://127.0.0.1:9/hook"


async def test_plans_limit_watches_and_tokens(world: World, client: httpx.AsyncClient) -> None:
    key = {"X-API-Key": world.new_key("trial")}
    made = await make(client, key["X-API-Key"])
    second = await client.post("/watches", json={"name": "w"}, headers=key)
    assert (second.status_code, second.json()["error_code"]) == (403, "watch_limit_reached")
    path = f"/watches/{made['watch']['id']}"
    five = {"chain": "eth", "addresses": [f"0x{at:040x}" for at in range(1, 6)]}
    many = await client.post(f"{path}/tokens", json=five, headers=key)
    assert (many.status_code, many.json()["error_code"]) == (403, "watch_limit_reached")
    assert (await client.get(path, headers=key)).json()["tokens"] == 1
    assert world.ledger.usage(1, world.clock.now_s).lifetime == 4


async def test_a_deployment_without_a_store_says_so(world: World) -> None:
    client, key = world.client(), {"X-API-Key": world.new_key()}
    for path in ("/watches", "/watches/1", "/watches/events"):
        assert (await client.get(path, headers=key)).status_code == 503


async def test_a_store_out_of_reach_is_no_fault_of_ours(
    world: World, client: httpx.AsyncClient, world_store: Store
) -> None:
    key = {"X-API-Key": world.new_key()}
    world_store.close()
    response = await client.get("/watches", headers=key)
    assert (response.status_code, "cannot be read" in response.text) == (503, True)


# --- event streams ----------------------------------------------------------------------------


class Events:
    """The events of an open stream, as they come."""

    def __init__(self, response: httpx.Response) -> None:
        self.response = response
        self._lines = response.aiter_lines()

    async def next(self) -> dict[str, str]:
        """The fields of the next event or comment; {} at the end."""
        fields: dict[str, str] = {}
        async for line in self._lines:
            if not line and fields:
                return fields
            name, _, value = line.partition(": ")
            if line:
                fields[name or "comment"] = value
        return {}

    async def next_event(self) -> dict[str, Any]:
        """The next event that is no comment."""
        while True:
            event = await asyncio.wait_for(self.next(), 10)
            if "event" in event:
                return {**event, "data": json.loads(event["data"])}


@asynccontextmanager
async def listening(
    base: str, key: str, path: str = "/watches/events", **headers: str
) -> AsyncIterator[Events]:
    async with (
        httpx.AsyncClient(base_url=base, timeout=20) as client,
        client.stream("GET", path, headers={"X-API-Key": key, **headers}) as response,
    ):
        assert response.status_code == 200, await response.aread()
        assert response.headers["content-type"].startswith("text/event-stream")
        events = Events(response)
        assert await events.next() == {"comment": "nothing new", "retry": "2000"}
        yield events


def owner_of(event: dict[str, Any]) -> int:
    (change,) = event["data"]["data"]["changes"]
    return int(change["after"], 16) - 1


async def test_a_stream_tells_as_it_comes_and_goes_on_where_it_was(
    world: World, world_store: Store
) -> None:
    key, other = world.new_key("pro"), world.new_key("pro")
    async with on_network(world, store=world_store) as base:
        async with httpx.AsyncClient(base_url=base) as client:
            made = await make(client, key)
            await make(client, other)
        path = f"/watches/{made['watch']['id']}/events"
        tell(world_store, 1, token=TOKEN)
        last = ""
        async with listening(base, key) as all_of_key, listening(base, key, path) as one:
            for number in (2, 3):
                await asyncio.to_thread(tell, world_store, number, token=TOKEN)
                for events in (all_of_key, one):
                    event = await events.next_event()
                    assert (event["event"], owner_of(event)) == ("token.changed", number)
                    last = event["id"]
        for number in (4, 5):
            tell(world_store, number, token=TOKEN)
        async with listening(base, key, **{"Last-Event-ID": last}) as events:
            assert [owner_of(await events.next_event()) for _ in range(2)] == [4, 5]
        async with listening(base, key, f"{path}?after=0") as events:
            assert [owner_of(await events.next_event()) for _ in range(4)] == [2, 3, 4, 5]


async def test_what_is_forgotten_is_said_as_a_gap(world: World, world_store: Store) -> None:
    key = world.new_key("pro")
    async with on_network(world, store=world_store) as base:
        async with httpx.AsyncClient(base_url=base) as client:
            await make(client, key)
        for number in (1, 2, 3):
            tell(world_store, number, token=TOKEN)
        delete_old_messages(world_store, before_s=2**40)
        tell(world_store, 4, token=TOKEN)
        async with listening(base, key, "/watches/events?after=0") as events:
            gap = await events.next_event()
            assert (gap["event"], gap["data"]) == ("gap", {"forgotten_up_to": 2})
            assert owner_of(await events.next_event()) == 4


async def test_a_stream_ends_with_its_watch_its_key_and_the_service(
    world: World, world_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_feed, "HEARTBEAT_S", 0.1)
    key, revoked = world.new_key("pro"), world.new_key("pro")
    stop = asyncio.Event()
    async with on_network(world, store=world_store, stop=stop) as base:
        client = httpx.AsyncClient(base_url=base)
        async with client:
            made = await make(client, key)
            path = f"/watches/{made['watch']['id']}"
            async with (
                listening(base, key, f"{path}/events") as of_watch,
                listening(base, revoked) as of_key,
                listening(base, key) as of_service,
            ):
                assert await of_key.next() == {"comment": "nothing new"}
                await client.delete(path, headers={"X-API-Key": key})
                world.ledger.revoke(2, now_s=world.clock.now_s)
                stop.set()
                for events in (of_watch, of_key, of_service):
                    while await asyncio.wait_for(events.next(), 10):
                        pass


async def test_a_key_may_open_so_many_streams(
    world: World, world_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_feed, "MOST_STREAMS_OF_KEY", 1)
    key = world.new_key("pro")
    async with on_network(world, store=world_store) as base, listening(base, key):
        async with httpx.AsyncClient(base_url=base) as client:
            refused = await client.get("/watches/events", headers={"X-API-Key": key})
        assert (refused.status_code, refused.headers["Retry-After"]) == (429, "60")
        async with listening(base, world.new_key("pro")):
            pass


async def test_streams_that_open_at_once_are_counted_at_once() -> None:
    places = event_feed.StreamPlaces()

    def take(key_id: int, network: str) -> bool:
        try:
            places.take(key_id, network).begin()
        except TooManyStreamsError:
            return False
        return True

    assert sum(take(1, "a") for _ in range(20)) == event_feed.MOST_STREAMS_OF_KEY
    others = sum(take(2 + at // 10, "a") for at in range(100))
    assert others == event_feed.MOST_STREAMS_OF_NETWORK - event_feed.MOST_STREAMS_OF_KEY
    place = places.take(99, "b")
    for _ in range(2):
        place.free()
    assert sum(take(99, "b") for _ in range(20)) == event_feed.MOST_STREAMS_OF_KEY


@pytest.mark.parametrize("last", ["x", "-1", "1.5", str(2**63)])
async def test_what_is_no_id_of_an_event_is_refused(
    world: World, client: httpx.AsyncClient, last: str
) -> None:
    headers = {"X-API-Key": world.new_key(), "Last-Event-ID": last}
    assert (await client.get("/watches/events", headers=headers)).status_code == 422


# --- people and the command line --------------------------------------------------------------


async def test_the_dashboard_lists_and_changes_watches_of_ones_own_keys(
    street: Street, world_store: Store
) -> None:
    browser, stranger = street.browser_of(store=world_store), street.browser_of(store=world_store)
    await browser.sign_in("alice")
    await stranger.sign_in("bob")
    await stranger.create_key()
    key = await browser.create_key()
    made = await browser.client.post(
        f"{PUBLIC}/watches",
        json={"name": "<b>mine</b>", "tokens": [ONE], "webhook_url": HOOK},
        headers={"X-API-Key": key},
    )
    assert made.status_code == 201
    page = (await browser.client.get(f"{PUBLIC}/dashboard")).text
    assert "&lt;b&gt;mine&lt;/b&gt;" in page
    assert "Resume" not in page
    await browser.send("/dashboard/watches/1/pause")
    assert "paused" in read(await browser.client.get(f"{PUBLIC}/dashboard")).text
    for change in ("resume", "remove", "nothing"):
        assert (await stranger.send(f"/dashboard/watches/1/{change}")).status_code == 404
    assert "mine" not in (await stranger.client.get(f"{PUBLIC}/dashboard")).text
    await browser.send("/dashboard/watches/1/remove")
    assert "no watches" in read(await browser.client.get(f"{PUBLIC}/dashboard")).text


def test_the_command_line_makes_shows_and_ends_watches(tmp_path: Path) -> None:
    def run(*arguments: str, code: int = 0) -> list[dict[str, Any]]:
        env = {"ASSAY_STORE": str(tmp_path / "assay.duckdb")}
        ended = CliRunner().invoke(cli.cli, ["watch", *arguments], env=env)
        assert ended.exit_code == code, ended.output
        lines = ended.output.splitlines()
        return [json.loads(line) for line in lines if line.startswith("{")]

    (made,) = run("add", "mine", "eth", TOKEN, "--webhook", HOOK, "--kind", "tax")
    assert made["secret"].startswith("whsec_")
    assert (made["watch"]["id"], made["watch"]["kinds"]) == (1, ["tax"])
    (more,) = run("add", "mine", "eth", f"0x{9:040x}", "--to", "1")
    assert more["tokens"] == 2
    assert run("pause", "1")[0]["state"] == "paused"
    assert run("resume", "1")[0]["state"] == "active"
    assert run("test", "1")[0]["pending"] == 1
    watch, *tokens, message = run("show", "1")
    assert [watch] == run("list")
    assert [token["is_awaiting"] for token in tokens] == [True, True]
    assert (message["body"]["type"], message["state"]) == ("watch.test", "pending")
    run("remove", "1")
    assert run("list") == []
    (feed,) = run("feed", "all", "eth", "--webhook", HOOK, "--after", "7")
    assert feed["secret"].startswith("whsec_")
    assert feed["watch"]["feed"] == {"chain": "ethereum", "cursor": 7}
    run("remove", str(feed["watch"]["id"]))
    for wrong in (
        ("show", "1"),
        ("add", "mine", "nowhere", TOKEN),
        ("feed", "all", "nowhere", "--webhook", HOOK),
        ("feed", "all", "eth"),
        ("feed", "all", "eth", "--webhook", "https://10.0.0.1/"),
        ("add", "mine", "eth", "0x12"),
        ("add", "mine", "eth", TOKEN, "--webhook", "https://10.0.0.1/"),
        ("add", "mine", "eth", TOKEN, "--key", "7"),
    ):
        run(*wrong, code=2)
