"""Protects the guide for AI agents: it describes the service, and cannot fall behind it."""

import re

import httpx
import msgspec
import pytest

from tests.harness.api.world import PLANS, World


async def text_of(client: httpx.AsyncClient) -> str:
    response = await client.get("/llms.txt")
    assert response.status_code == 200
    assert response.headers["content-type"].startswith("text/plain")
    return response.text


def section(text: str, title: str) -> list[str]:
    return text.split(f"\n## {title}\n")[1].split("\n## ", maxsplit=1)[0].strip().splitlines()


async def test_it_has_the_form_of_an_llms_txt(client: httpx.AsyncClient) -> None:
    lines = (await text_of(client)).splitlines()
    assert lines[0] == "# Assay"
    assert lines[2].startswith("> ")
    assert "](/schema)" in "\n".join(lines)


async def test_it_lists_every_route_of_the_schema_and_no_other(client: httpx.AsyncClient) -> None:
    listed = re.findall(r"`([A-Z]+) (/[^`]*)`", "\n".join(section(await text_of(client), "Routes")))
    paths = (await client.get("/schema")).json()["paths"]
    documented = [(method.upper(), path) for path, item in paths.items() for method in item]
    assert sorted(listed) == sorted(documented)
    assert ("POST", "/mcp") in listed


async def test_every_number_of_a_plan_is_that_of_the_plan(world: World) -> None:
    odd = msgspec.structs.replace(
        PLANS["trial"],
        burst_limit=3,
        burst_window_s=7,
        per_minute=13,
        per_day=17,
        lifetime=19,
        expires_after_days=23,
    )
    client = world.client(plans={"trial": odd, "admin": PLANS["admin"]})
    assert section(await text_of(client), "Plans") == [
        "- trial: 3 calls in 7 seconds, 13 a minute, 17 a day, 19 in all, ends after 23 days",
        "- admin: no limits",
    ]


async def test_it_names_the_chains_and_which_are_served(world: World) -> None:
    client = world.client(served=frozenset({"chain_56"}))
    assert section(await text_of(client), "Chains") == [
        "- ethereum (1, eth): ethereum, not here",
        "- chain_56 (56, bsc, bnb): chain_56",
    ]


@pytest.mark.parametrize("word", ["null", "pending", "unknown", "X-API-Key", "402", "Retry-After"])
async def test_it_warns_of_what_agents_get_wrong(client: httpx.AsyncClient, word: str) -> None:
    assert word in await text_of(client)
