"""Protects the evidence route: every proof, under the rules of the token route."""

import gzip
import json

import httpx
import msgspec
import pytest

from core.errors import InternalError, TokenRefusedError
from core.report.report import EvidenceRow
from tests.harness.api.sample_reports import BLOCK_HASH, MINED_AT_S, TOKEN, TOKEN_SHOWN, make_report
from tests.harness.api.world import PLANS, Get, World, headers_of

CODE = {"version": 3, "hits": [{"selector": "0xa9059cbb", "pc": 412, "slot": "0x05"}]}
SOLD = {"block": BLOCK_HASH, "calls": [{"to": TOKEN, "data": "0x" + "ab" * 100_000}]}
PROVEN = msgspec.structs.replace(
    make_report(),
    evidence=(
        EvidenceRow(key="trading_cooldown", body=json.dumps(CODE)),
        EvidenceRow(key="sell:0xpool", body=json.dumps(SOLD)),
    ),
)


@pytest.fixture(autouse=True)
def _proven(world: World) -> None:
    world.analysis.outcome = PROVEN


async def test_every_proof_is_there_as_it_was_stored(get: Get) -> None:
    response = await get(f"{TOKEN}/evidence")
    assert response.status_code == 200
    body = response.json()
    assert body.pop("unknown")["owner_address"] == "no owner getter answered"
    assert body == {
        "chain": "ethereum",
        "contract_address": TOKEN_SHOWN,
        "block_number": 20_000_000,
        "block_hash": BLOCK_HASH,
        "evidence": {"trading_cooldown": CODE, "sell:0xpool": SOLD},
    }
    assert headers_of(response) == {}


async def test_it_shares_the_analysis_and_the_cache(world: World, get: Get) -> None:
    first = await get(f"{TOKEN}/evidence")
    world.analysis.outcome = make_report()
    assert (await get(f"{TOKEN}/evidence")).content == first.content
    world.clock.now_s += 120
    assert (await get(f"{TOKEN}/evidence")).json()["evidence"] == {}
    assert len(world.analysis.requests) == 2


async def test_a_refresh_of_the_token_renews_it(world: World, get: Get) -> None:
    await get(f"{TOKEN}/evidence")
    world.analysis.outcome = make_report()
    await get(f"{TOKEN}?refresh=true")
    assert (await get(f"{TOKEN}/evidence")).json()["evidence"] == {}


async def test_it_is_sent_small_and_not_twice(world: World, client: httpx.AsyncClient) -> None:
    key = {"X-API-Key": world.new_key(), "Accept-Encoding": "gzip"}
    path = f"/token/1/{TOKEN}/evidence"
    async with client.stream("GET", path, headers=key) as response:
        raw = b"".join([part async for part in response.aiter_raw()])
    assert len(raw) < 5_000
    assert len(gzip.decompress(raw)) > 200_000
    again = await client.get(path, headers={**key, "If-None-Match": response.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize(
    ("failure", "status", "code"),
    [
        (TokenRefusedError(code="not_a_token", reason="because"), 422, "not_a_token"),
        (InternalError("secret"), 500, "analysis_failed"),
    ],
)
async def test_a_refusal_has_the_body_of_the_token_route(
    world: World, get: Get, failure: Exception, status: int, code: str
) -> None:
    world.analysis.outcome = failure
    response = await get(f"{TOKEN}/evidence")
    assert (response.status_code, response.json()["error_code"]) == (status, code)
    assert response.json() == (await get(TOKEN)).json()


async def test_refusals_come_in_the_order_of_the_token_route(
    world: World, client: httpx.AsyncClient
) -> None:
    spent = world.ledger.create_key(PLANS["trial"], "test", MINED_AT_S)
    world.count(spent.row.key_id, 100, at_s=MINED_AT_S)
    for chain, key in [
        ("9", ""),
        ("9", "unknown"),
        ("9", spent.plaintext),
        ("56", spent.plaintext),
        ("1", spent.plaintext),
        ("1", world.new_key()),
    ]:
        headers = {"X-API-Key": key}
        of_token = await client.get(f"/token/{chain}/0x12", headers=headers)
        of_proofs = await client.get(f"/token/{chain}/0x12/evidence", headers=headers)
        assert of_token.status_code != 200
        assert (of_proofs.status_code, of_proofs.json()) == (of_token.status_code, of_token.json())


async def test_it_counts_as_a_call(world: World, client: httpx.AsyncClient) -> None:
    headers = {"X-API-Key": world.new_key("trial")}
    for _ in range(5):
        assert (await client.get(f"/token/1/{TOKEN}/evidence", headers=headers)).is_success
    response = await client.get(f"/token/1/{TOKEN}/evidence", headers=headers)
    assert (response.status_code, response.headers["X-RateLimit-Burst-Limit"]) == (429, "5")
