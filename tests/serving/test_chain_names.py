"""Protects the names people type: every one reaches the chain, and nothing is kept by the name."""

import httpx
import pytest

from tests.harness.api.sample_reports import MINED_AT_S, TOKEN
from tests.harness.api.world import PLANS, World

NAMES = ("ethereum", "eth", "ETH", "Eth", "1")
"""Names of the one served chain."""

GOPLUS = f"/goplus/api/v1/token_security/{{}}?contract_addresses={TOKEN}"
SINGLE = ("", "?response_format=compat", "/summary", "/evidence")


async def test_every_name_gives_the_same_bytes(world: World, client: httpx.AsyncClient) -> None:
    key = {"X-API-Key": world.new_key()}
    paths = [f"/token/{{}}/{TOKEN}{rest}" for rest in SINGLE]
    for path in (*paths, GOPLUS):
        answers = [await client.get(path.format(name), headers=key) for name in NAMES]
        assert {answer.status_code for answer in answers} == {200}, path
        assert len({answer.content for answer in answers}) == 1, path
    batches = [
        await client.post(f"/tokens/{name}", headers=key, json={"addresses": [TOKEN]})
        for name in NAMES
    ]
    assert {batch.json()["chain"] for batch in batches} == {"ethereum"}
    assert len({batch.content for batch in batches}) == 1


async def test_the_names_share_one_cache(world: World, client: httpx.AsyncClient) -> None:
    key = {"X-API-Key": world.new_key()}
    for name in NAMES:
        assert (await client.get(f"/token/{name}/{TOKEN}", headers=key)).status_code == 200
    assert len(world.analysis.requests) == 1


async def test_another_name_is_no_way_past_a_limit(world: World, client: httpx.AsyncClient) -> None:
    new = world.ledger.create_key(PLANS["trial"], "test", MINED_AT_S)
    key = {"X-API-Key": new.plaintext}
    allowed = PLANS["trial"].burst_limit
    assert allowed is not None
    statuses = [
        (await client.get(f"/token/{NAMES[at % 5]}/{TOKEN}", headers=key)).status_code
        for at in range(allowed + 1)
    ]
    assert statuses == [200] * allowed + [429]


@pytest.mark.parametrize("name", NAMES)
async def test_a_page_is_reached_by_every_name(client: httpx.AsyncClient, name: str) -> None:
    assert (await client.get(f"/t/{name}/{TOKEN}")).status_code == 200
    form = await client.get("/t", params={"chain": name, "address": TOKEN})
    assert form.headers["location"] == f"/t/{name}/{TOKEN}"
