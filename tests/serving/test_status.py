"""Protects the interfaces of operators and client authors: liveness, readiness, metrics, the
schema."""

import tomllib
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.deps import ChainState
from core.process.secret import Secret
from tests.harness.api.sample_reports import TOKEN
from tests.harness.api.specified_fields import TABLES
from tests.harness.api.world import Get, World

ROOT = Path(__file__).parents[2]
GOOD = {"Authorization": "Bearer s3cret"}


def make_state(chain: str, *, is_ready: bool, reason: str = "") -> ChainState:
    return ChainState(chain=chain, is_ready=is_ready, head=10, tip=9, reason=reason)


async def test_health_needs_no_key(client: httpx.AsyncClient) -> None:
    response = await client.get("/health")
    assert (response.status_code, response.json()) == (200, {"status": "ok"})


async def test_ready_when_every_chain_is(world: World, client: httpx.AsyncClient) -> None:
    world.states = (make_state("ethereum", is_ready=True),)
    response = await client.get("/ready")
    assert response.status_code == 200
    assert response.json() == {
        "ready": True,
        "chains": [
            {"chain": "ethereum", "is_ready": True, "head": 10, "tip": 9, "reason": ""},
        ],
        "store": {"is_ready": True, "reason": ""},
    }


async def test_not_ready_when_one_is_not(world: World, client: httpx.AsyncClient) -> None:
    world.states = (
        make_state("ethereum", is_ready=True),
        make_state("chain_56", is_ready=False, reason="no node answers"),
    )
    response = await client.get("/ready")
    assert (response.status_code, response.json()["ready"]) == (503, False)
    assert response.json()["chains"][1]["reason"] == "no node answers"


async def test_metrics_count_by_route_and_not_by_address(
    client: httpx.AsyncClient, get: Get
) -> None:
    await get(TOKEN)
    await get("0x12")
    await client.get("/nowhere/at/all")
    response = await client.get("/metrics")
    text = response.text
    assert response.headers["content-type"].startswith("text/plain")
    assert 'path="/token/{chain}/{address}",status_code="200"' in text
    assert 'path="/token/{chain}/{address}",status_code="422"' in text
    assert TOKEN not in text
    assert "nowhere" not in text


@pytest.mark.parametrize(
    ("given", "status"), [({}, 401), ({"Authorization": "Bearer x"}, 401), (GOOD, 200)]
)
async def test_metrics_behind_a_token(world: World, given: dict[str, str], status: int) -> None:
    client = world.client(metrics_token=Secret("s3cret"))
    response = await client.get("/metrics", headers=given)
    assert response.status_code == status
    assert ("python_info" in response.text) == (status == 200)


async def test_metrics_that_have_an_address_of_their_own_are_not_served_here(world: World) -> None:
    assert (await world.client(metrics=None).get("/metrics")).status_code == 404


async def schema_of(client: httpx.AsyncClient) -> dict[str, Any]:
    schema: dict[str, Any] = (await client.get("/schema")).json()
    return schema


async def test_the_schema_names_every_route(client: httpx.AsyncClient) -> None:
    schema = await schema_of(client)
    assert (await client.get("/schema/openapi.json")).json() == schema
    assert set(schema["paths"]) == {
        "/token/{chain}/{address}",
        "/token/{chain}/{address}/summary",
        "/token/{chain}/{address}/evidence",
        "/token/{chain}/{address}/exit",
        "/token/{chain}/{address}/liquidity",
        "/token/{chain}/{address}/hooks",
        "/token/{chain}/{address}/evidence-pack",
        "/token/{chain}/{address}/trade-check",
        "/tokens/{chain}",
        "/jobs",
        "/jobs/{name}",
        "/jobs/{name}/pause",
        "/jobs/{name}/resume",
        "/jobs/{name}/run",
        "/watches",
        "/watches/events",
        "/watches/{watch_id}",
        "/watches/{watch_id}/deliveries",
        "/watches/{watch_id}/events",
        "/watches/{watch_id}/pause",
        "/watches/{watch_id}/resume",
        "/watches/{watch_id}/test",
        "/watches/{watch_id}/tokens",
        "/watches/{watch_id}/tokens/remove",
        "/goplus/api/v1/token_security/{chain}",
        "/goplus/api/v1/token",
        "/mcp",
        "/token/{chain}/{address}/kin",
        "/token/{chain}/{address}/launch",
        "/token/{chain}/{address}/census",
        "/token/{chain}/{address}/limits",
        "/token/{chain}/{address}/opening",
        "/token/{chain}/{address}/disputes",
        "/token/{chain}/{address}/disputes/{number}/evidence-pack",
        "/feed/{chain}",
        "/feed/{chain}/lines",
        "/feed/{chain}/snapshot",
        "/accuracy",
        "/usage",
        "/llms.txt",
        "/agent-keys",
        "/health",
        "/ready",
    }


async def test_the_schema_names_the_key_and_the_errors(client: httpx.AsyncClient) -> None:
    schema = await schema_of(client)
    assert schema["components"]["securitySchemes"]["ApiKey"] == {
        "type": "apiKey",
        "name": "X-API-Key",
        "in": "header",
    }
    token = schema["paths"]["/token/{chain}/{address}"]["get"]
    assert token["security"] == [{"ApiKey": []}]
    assert set(token["responses"]) == {
        *("200", "304", "400", "401", "402", "403", "422", "429", "500", "503")
    }
    issue = schema["paths"]["/agent-keys"]["post"]
    assert issue["security"] == []
    assert set(issue["responses"]) == {"200", "400", "403", "409", "413", "422", "429", "503"}


async def test_the_schema_has_the_version_of_the_package(client: httpx.AsyncClient) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert (await schema_of(client))["info"]["version"] == project["version"]


async def test_the_schema_has_every_field_of_the_answers(client: httpx.AsyncClient) -> None:
    schemas = (await schema_of(client))["components"]["schemas"]
    for table, name in [
        ("native", "NativeFeatures"),
        ("compat", "CompatFeatures"),
        ("summary", "Summary"),
        ("pool", "Pool"),
        ("holder", "Holder"),
        ("deadline", "Deadline"),
        ("flag", "Flag"),
        ("trial_key", "TrialKey"),
    ]:
        assert list(schemas[name]["properties"]) == list(TABLES[table])
        optional = set(TABLES[table]) - set(schemas[name]["required"])
        assert optional == ({"owner_can_change_balance"} if table == "native" else set())


@pytest.mark.parametrize("name", ["NativeFeatures", "CompatFeatures", "GoPlusToken"])
async def test_the_schema_says_what_every_key_of_the_features_means(
    name: str, client: httpx.AsyncClient
) -> None:
    properties = (await schema_of(client))["components"]["schemas"][name]["properties"]
    assert [key for key, schema in properties.items() if not schema.get("description")] == []


async def test_every_example_of_a_status_is_documented(
    world: World, client: httpx.AsyncClient
) -> None:
    """Each answer of the API is in its schema."""
    paths = (await schema_of(client))["paths"]
    documented = set(paths["/token/{chain}/{address}"]["get"]["responses"])
    key = {"X-API-Key": world.new_key("trial")}
    for path, headers in [
        (f"/token/1/{TOKEN}", key),
        (f"/token/1/{TOKEN}", {}),
        (f"/token/1/{TOKEN}?refresh=true", key),
        ("/token/9/0x", key),
        ("/token/56/0x", key),
    ]:
        assert str((await client.get(path, headers=headers)).status_code) in documented
