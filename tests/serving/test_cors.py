"""Protects who may call from a browser: nobody's site, or those that the operator named."""

import httpx
import pytest

from config.settings import ApiSettings
from tests.harness.api.sample_reports import TOKEN
from tests.harness.api.world import World

PATH = f"/token/1/{TOKEN}"
WALLET, OTHER = "https://wallet.test", "https://other.test"
PREFLIGHT = {
    "Access-Control-Request-Method": "GET",
    "Access-Control-Request-Headers": "x-api-key",
}


def client_of(world: World, *origins: str) -> httpx.AsyncClient:
    return world.client(settings=ApiSettings(cors_origins=origins))


def opened(response: httpx.Response) -> dict[str, str]:
    """Return the headers by which a browser decides on access."""
    return {
        name.removeprefix("access-control-"): value
        for name, value in response.headers.items()
        if name.startswith("access-control-")
    }


@pytest.mark.parametrize("path", [PATH, "/agent-keys", "/nowhere"])
async def test_no_site_may_call_unless_it_is_named(world: World, path: str) -> None:
    for client in (client_of(world), client_of(world, WALLET)):
        preflight = await client.options(path, headers={"Origin": OTHER, **PREFLIGHT})
        assert opened(preflight) == {}
        assert opened(await client.get(path, headers={"Origin": OTHER})) == {}


@pytest.mark.parametrize(
    ("origins", "allowed"), [((WALLET,), WALLET), ((OTHER, WALLET), WALLET), (("*",), "*")]
)
async def test_a_named_site_may_send_its_key(
    world: World, origins: tuple[str, ...], allowed: str
) -> None:
    """Checked before the call, without the key; on each answer, from memory and refusals too."""
    client = client_of(world, *origins)
    preflight = await client.options(PATH, headers={"Origin": WALLET, **PREFLIGHT})
    assert (preflight.status_code, preflight.content) == (204, b"")
    assert opened(preflight)["allow-origin"] == allowed
    assert {"x-api-key", "content-type"} <= set(opened(preflight)["allow-headers"].split(", "))
    assert opened(preflight)["allow-methods"] == "GET, HEAD, POST, DELETE"
    key = {"X-API-Key": world.new_key("trial")}
    for call in range(6):
        response = await client.get(PATH, headers={"Origin": WALLET, **key})
        assert response.status_code == (429 if call == 5 else 200)
        assert opened(response)["allow-origin"] == allowed
        assert {"Retry-After", "X-RateLimit-Burst-Limit", "X-API-Key-Expires-At"} <= set(
            opened(response)["expose-headers"].split(", ")
        )
        assert ("origin" in response.headers.get_list("vary", split_commas=True)) is (
            allowed != "*"
        )
    refused = await client.get(PATH, headers={"Origin": WALLET})
    assert (refused.status_code, opened(refused)["allow-origin"]) == (401, allowed)


async def test_cookies_are_never_for_other_sites(world: World) -> None:
    client = client_of(world, "*")
    for response in (
        await client.options("/dashboard", headers={"Origin": WALLET, **PREFLIGHT}),
        await client.get("/dashboard", headers={"Origin": WALLET}),
    ):
        assert "allow-credentials" not in opened(response)


async def test_options_without_an_origin_names_methods(world: World) -> None:
    response = await client_of(world, "*").options(PATH)
    assert (response.status_code, response.headers["allow"]) == (204, "GET, HEAD, OPTIONS")
