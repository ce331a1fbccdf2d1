"""Protects GET /usage: it states the counts that the limits use, and costs nothing."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from api.auth import rate_windows as module
from api.auth import usage_counters
from core.process.secret import Secret
from tests.harness.api.redis_server import RedisServer
from tests.harness.api.sample_reports import MINED_AT_S, TOKEN
from tests.harness.api.world import PLANS, World, headers_of

pytestmark = pytest.mark.process

DAY_S = 86_400


async def usage(client: httpx.AsyncClient, key: str) -> dict[str, Any]:
    response = await client.get("/usage", headers={"X-API-Key": key})
    assert response.status_code == 200
    body: dict[str, Any] = response.json()
    return body


async def test_a_trial_key_sees_its_plan_and_what_is_left(
    world: World, client: httpx.AsyncClient
) -> None:
    new = world.ledger.create_key(PLANS["trial"], "test", MINED_AT_S)
    world.count(new.row.key_id, 7, at_s=MINED_AT_S - DAY_S)
    for _ in range(2):
        await client.get(f"/token/1/{TOKEN}", headers={"X-API-Key": new.plaintext})
    response = await client.get("/usage", headers={"X-API-Key": new.plaintext})
    assert response.json() == {
        "plan": "trial",
        "may_refresh": False,
        "expires_at": "2026-10-05T14:13:20Z",
        "burst": {"limit": 5, "window_s": 10, "used": 2, "remaining": 3, "frees_in_s": 11},
        "minute": {"limit": 20, "window_s": 60, "used": 2, "remaining": 18, "frees_in_s": 61},
        "day": {"limit": 25, "used": 2, "remaining": 23, "resets_at": "2026-09-22T00:00:00Z"},
        "month": {
            "limit": None,
            "used": 9,
            "remaining": None,
            "resets_at": "2026-10-01T00:00:00Z",
        },
        "lifetime": {"limit": 100, "used": 9, "remaining": 91, "resets_at": None},
    }
    assert headers_of(response) == {
        "cache-control": "no-store",
        "x-api-key-expires-at": "2026-10-05T14:13:20Z",
    }


async def test_looking_costs_nothing(world: World, client: httpx.AsyncClient) -> None:
    key = world.new_key("trial")
    first = await usage(client, key)
    for _ in range(30):
        assert await usage(client, key) == first
    assert (first["day"]["used"], first["burst"]["frees_in_s"]) == (0, None)


async def test_a_plan_without_limits_says_so(world: World, client: httpx.AsyncClient) -> None:
    seen = await usage(client, world.new_key("admin"))
    assert (seen["burst"], seen["minute"], seen["expires_at"]) == (None, None, None)
    assert {seen[name]["limit"] for name in ("day", "month", "lifetime")} == {None}
    assert seen["may_refresh"] is True


async def test_a_spent_key_still_sees_why(world: World, client: httpx.AsyncClient) -> None:
    new = world.ledger.create_key(PLANS["trial"], "test", MINED_AT_S)
    world.count(new.row.key_id, 100, at_s=MINED_AT_S)
    seen = await usage(client, new.plaintext)
    assert (seen["lifetime"]["remaining"], seen["day"]["remaining"]) == (0, 0)


async def test_windows_and_days_move_on(world: World, client: httpx.AsyncClient) -> None:
    key = world.new_key("developer")
    for _ in range(3):
        await client.get(f"/token/1/{TOKEN}", headers={"X-API-Key": key})
    world.clock.now_s += 30
    seen = await usage(client, key)
    assert (seen["burst"]["used"], seen["minute"]["used"]) == (0, 3)
    assert seen["minute"]["frees_in_s"] == 31
    world.clock.now_s += DAY_S
    seen = await usage(client, key)
    assert (seen["day"]["used"], seen["month"]["used"]) == (0, 3)
    assert seen["day"]["resets_at"] == "2026-09-23T00:00:00Z"


async def test_what_another_process_has_counted_is_seen(
    world: World, client: httpx.AsyncClient
) -> None:
    new = world.ledger.create_key(PLANS["pro"], "test", MINED_AT_S)
    await usage(client, new.plaintext)  # in memory from here on
    world.count(new.row.key_id, 40, at_s=MINED_AT_S)
    await client.get(f"/token/1/{TOKEN}", headers={"X-API-Key": new.plaintext})
    assert (await usage(client, new.plaintext))["day"]["used"] >= 40


@pytest.mark.parametrize(
    ("headers", "shown"),
    [({}, "api_key_required"), ({"X-API-Key": "tsk_live_made_up"}, "Unknown API key.")],
)
async def test_a_stranger_sees_nothing(
    client: httpx.AsyncClient, headers: dict[str, str], shown: str
) -> None:
    response = await client.get("/usage", headers=headers)
    assert response.status_code == 401
    assert shown in response.text


async def test_an_expired_key_is_told_so(world: World, client: httpx.AsyncClient) -> None:
    key = world.new_key("trial")
    world.clock.now_s += 14 * DAY_S
    response = await client.get("/usage", headers={"X-API-Key": key})
    assert (response.status_code, response.json()["error_code"]) == (401, "api_key_expired")


async def test_a_ledger_out_of_reach_is_a_503(world: World, client: httpx.AsyncClient) -> None:
    key = world.new_key("pro")
    await usage(client, key)
    world.ledger.close()
    response = await client.get("/usage", headers={"X-API-Key": key})
    assert (response.status_code, response.json()) == (
        503,
        {"detail": "API keys cannot be checked right now. Try again later."},
    )


async def test_windows_that_are_shared_are_told_as_shared(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "REDIS_PATIENCE_S", 20.0)
    server = RedisServer(tmp_path)
    server.start()
    nodes = [world.client(redis_url=Secret(server.url)) for _ in range(2)]
    key = world.new_key("developer")
    for node in (nodes[0], nodes[1], nodes[0]):
        await node.get(f"/token/1/{TOKEN}", headers={"X-API-Key": key})
    for node in nodes:
        seen = await usage(node, key)
        assert (seen["burst"]["used"], seen["minute"]["remaining"]) == (3, 117)
    server.stop()  # each node goes by what it has let through itself
    assert [(await usage(node, key))["burst"]["used"] for node in nodes] == [2, 1]


async def test_calls_that_are_not_yet_in_the_ledger_are_seen(
    world: World, client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(usage_counters, "VISIT_EVERY_S", 3600.0)
    new = world.ledger.create_key(PLANS["pro"], "test", MINED_AT_S)
    for _ in range(2):
        await client.get(f"/token/1/{TOKEN}", headers={"X-API-Key": new.plaintext})
    assert world.ledger.usage(new.row.key_id, MINED_AT_S).day == 0
    seen = await usage(client, new.plaintext)
    assert [seen[name]["used"] for name in ("day", "month", "lifetime")] == [2, 2, 2]
