"""Protects POST /tokens/{chain}: results, costs, and that no token waits for all."""

import asyncio
from typing import Any

import httpx
import pytest

from api.serving.batch_service import AT_ONCE, MOST_TOKENS
from core.errors import StoreError, TokenRefusedError, UpstreamError
from tests.harness.api.many_tokens import OTHERS, ManyTokens
from tests.harness.api.sample_reports import (
    DEAD,
    MINED_AT_S,
    OWNER,
    PAIR,
    TOKEN,
    TOKEN_SHOWN,
)
from tests.harness.api.specified_fields import check
from tests.harness.api.world import PLANS, World, headers_of

DOWN = "API keys cannot be checked right now. Try again later."


async def ask(client: httpx.AsyncClient, key: str, body: Any, chain: str = "1") -> httpx.Response:
    return await client.post(f"/tokens/{chain}", headers={"X-API-Key": key}, json=body)


def addresses_of(body: dict[str, Any]) -> list[str]:
    return [result["contract_address"].lower() for result in body["results"]]


@pytest.mark.parametrize("form", ["native", "compat", "summary"])
async def test_each_result_is_what_the_route_for_one_token_says(world: World, form: str) -> None:
    client = world.client(analysis=ManyTokens())
    key = world.new_key()
    wanted = [OWNER, TOKEN, PAIR]
    response = await ask(client, key, {"addresses": wanted, "response_format": form})
    body = response.json()
    assert response.status_code == 200
    assert (body["chain"], body["errors"], body["pending"]) == ("ethereum", [], [])
    for address, result in zip(wanted, body["results"], strict=True):
        rest = "/summary" if form == "summary" else f"?response_format={form}"
        single = await client.get(f"/token/1/{address}{rest}", headers={"X-API-Key": key})
        assert result == single.json()
        check(result, "summary" if form == "summary" else "envelope")


async def test_order_is_kept_and_a_duplicate_answered_and_counted_once(world: World) -> None:
    client = world.client(analysis=ManyTokens())
    new = world.ledger.create_key(PLANS["pro"], "test", MINED_AT_S)
    wanted = [TOKEN, OWNER, TOKEN_SHOWN, PAIR, TOKEN.upper(), OWNER]
    body = (await ask(client, new.plaintext, {"addresses": wanted})).json()
    assert addresses_of(body) == [TOKEN, OWNER, PAIR]
    used = await client.get("/usage", headers={"X-API-Key": new.plaintext})
    assert used.json()["day"]["used"] == 3


async def test_what_has_no_result_stands_apart(world: World) -> None:
    analysis = ManyTokens()
    analysis.outcomes = {
        OWNER: TokenRefusedError(code="not_a_contract", reason="no code"),
        PAIR: UpstreamError(service="node", reason="secret"),
    }
    client = world.client(analysis=analysis)
    wanted = [OWNER, "nonsense", TOKEN, PAIR, DEAD]
    body = (await ask(client, world.new_key(), {"addresses": wanted})).json()
    assert addresses_of(body) == [TOKEN]
    errors = [(e["contract_address"], e["status"], e["error_code"]) for e in body["errors"]]
    assert errors == [
        (OWNER, 422, "not_a_contract"),
        ("nonsense", 422, "invalid_address"),
        (PAIR, 500, "analysis_failed"),
        (DEAD, 422, "burn_address"),
    ]
    assert body["errors"][0]["error"] == "no code"
    assert {e["retry_after_s"] for e in body["errors"]} == {None}
    assert "secret" not in str(body)


async def test_a_limit_that_ends_in_the_middle_costs_what_was_answered(world: World) -> None:
    analysis = ManyTokens()
    client = world.client(analysis=analysis)
    key = world.new_key("trial")
    body = (await ask(client, key, {"addresses": OTHERS[:8]})).json()
    assert addresses_of(body) == OTHERS[:5]
    assert [e["contract_address"] for e in body["errors"]] == OTHERS[5:8]
    assert body["errors"][0] == {
        "contract_address": OTHERS[5],
        "status": 429,
        "error_code": None,
        "error": "Limit of 5 calls in 10 seconds reached.",
        "retry_after_s": 11,
    }
    assert analysis.requests == OTHERS[:5]
    used = (await client.get("/usage", headers={"X-API-Key": key})).json()
    assert (used["lifetime"]["used"], used["day"]["used"]) == (5, 5)


async def test_a_lifetime_that_ends_in_the_middle_says_402(world: World) -> None:
    client = world.client(analysis=ManyTokens())
    new = world.ledger.create_key(PLANS["trial"], "test", MINED_AT_S)
    world.count(new.row.key_id, 98, at_s=MINED_AT_S - 86_400)
    body = (await ask(client, new.plaintext, {"addresses": OTHERS[:4]})).json()
    assert addresses_of(body) == OTHERS[:2]
    assert [(e["status"], e["error_code"]) for e in body["errors"]] == [
        (402, "free_quota_exhausted")
    ] * 2
    assert world.ledger.usage(new.row.key_id, MINED_AT_S).lifetime == 100


async def test_a_call_of_which_nothing_is_let_through_is_refused(world: World) -> None:
    client = world.client(analysis=ManyTokens())
    key = world.new_key("trial")
    await ask(client, key, {"addresses": OTHERS[:5]})
    response = await ask(client, key, {"addresses": OTHERS[5:9]})
    assert (response.status_code, response.headers["X-RateLimit-Burst-Limit"]) == (429, "5")
    assert response.json() == {"detail": "Limit of 5 calls in 10 seconds reached."}
    spent = world.ledger.create_key(PLANS["trial"], "test", MINED_AT_S)
    world.count(spent.row.key_id, 100, at_s=MINED_AT_S)
    response = await ask(client, spent.plaintext, {"addresses": OTHERS[:2]})
    assert (response.status_code, response.json()["error_code"]) == (402, "free_quota_exhausted")


async def test_a_ledger_that_goes_in_the_middle_lets_no_more_through(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = world.client(analysis=ManyTokens())
    spend, left = world.ledger.spend, iter([True, True, False])

    def failing(*arguments: Any) -> Any:
        if next(left):
            return spend(*arguments)
        raise StoreError(path="ledger", reason="gone")

    monkeypatch.setattr(world.ledger, "spend", failing)
    body = (await ask(client, world.new_key("trial"), {"addresses": OTHERS[:4]})).json()
    assert addresses_of(body) == OTHERS[:2]
    assert [(e["status"], e["error"]) for e in body["errors"]] == [(503, DOWN)] * 2


async def test_a_slow_token_is_pending_and_holds_nobody_up(world: World) -> None:
    analysis = ManyTokens()
    analysis.slow = {OTHERS[1]}
    client = world.client(analysis=analysis, batch_wait_s=0.0)
    async with asyncio.timeout(5):
        body = (await ask(client, world.new_key(), {"addresses": OTHERS[:20]})).json()
    assert body["pending"] == [OTHERS[1]]
    assert addresses_of(body) == [OTHERS[0], *OTHERS[2:20]]
    assert body["errors"] == []
    assert analysis.running == 1  # it goes on for the next caller


async def test_so_many_are_worked_out_at_once(world: World) -> None:
    analysis = ManyTokens()
    client = world.client(analysis=analysis)
    body = (await ask(client, world.new_key(), {"addresses": OTHERS})).json()
    assert (len(body["results"]), analysis.most_running) == (MOST_TOKENS, AT_ONCE)


async def test_long_answers_come_in_several_calls(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = world.client(analysis=ManyTokens())
    key = world.new_key()
    single = await client.get(f"/token/1/{OTHERS[0]}", headers={"X-API-Key": key})
    monkeypatch.setattr("api.serving.batch_service.MOST_BYTES", 3 * len(single.content) + 100)
    wanted, found = OTHERS[:10], list[str]()
    for _ in range(4):
        body = (await ask(client, key, {"addresses": wanted})).json()
        assert 0 < len(body["results"]) <= 3
        found += addresses_of(body)
        wanted = body["pending"]
    assert not wanted
    assert sorted(found) == OTHERS[:10]
    monkeypatch.setattr(
        "api.serving.batch_service.MOST_BYTES", 1
    )  # the first goes whatever its length
    body = (await ask(client, key, {"addresses": OTHERS[:2]})).json()
    assert (len(body["results"]), len(body["pending"])) == (1, 1)


@pytest.mark.parametrize("coding", ["gzip", "zstd"])
async def test_a_long_answer_is_compressed_and_not_kept(world: World, coding: str) -> None:
    client = world.client(analysis=ManyTokens())
    response = await client.post(
        "/tokens/1",
        headers={"X-API-Key": world.new_key(), "Accept-Encoding": coding},
        json={"addresses": OTHERS[:3]},
    )
    assert response.headers["content-encoding"] == coding
    assert int(response.headers["content-length"]) < len(response.content)
    assert addresses_of(response.json()) == OTHERS[:3]
    assert (response.headers["cache-control"], "etag" in response.headers) == ("no-store", False)


# --- refusals of the call as a whole -----------------------------------------------------------

FEW = {"addresses": [TOKEN]}


@pytest.mark.parametrize(
    ("body", "loc", "kind"),
    [
        ({}, ["body", "addresses"], "missing"),
        ({"addresses": []}, ["body", "addresses"], "value_error"),
        ({"addresses": [TOKEN] * (MOST_TOKENS + 1)}, ["body", "addresses"], "value_error"),
        ({"addresses": TOKEN}, ["body", "addresses"], "value_error"),
        ({"addresses": [1]}, ["body", "addresses[0]"], "value_error"),
        ({**FEW, "response_format": "goplus"}, ["body", "response_format"], "value_error"),
        ({**FEW, "refresh": True}, ["body"], "value_error"),
        ([TOKEN], ["body"], "value_error"),
    ],
)
async def test_a_body_of_the_wrong_form(
    world: World, client: httpx.AsyncClient, body: Any, loc: list[str], kind: str
) -> None:
    key = world.new_key("pro")
    response = await ask(client, key, body)
    (item,) = response.json()["detail"]
    assert (response.status_code, item["loc"][: len(loc)], item["type"]) == (422, loc, kind)
    used = (await client.get("/usage", headers={"X-API-Key": key})).json()
    assert used["day"]["used"] == 0


@pytest.mark.parametrize("raw", [b"", b"{", b"\xff", b"addresses=0x"])
async def test_a_body_that_is_no_json(world: World, client: httpx.AsyncClient, raw: bytes) -> None:
    headers = {"X-API-Key": world.new_key()}
    response = await client.post("/tokens/1", headers=headers, content=raw)
    assert (response.status_code, response.json()) == (400, {"detail": "The body is not JSON."})


async def test_a_body_that_is_too_large(world: World, client: httpx.AsyncClient) -> None:
    response = await ask(client, world.new_key(), {"addresses": [TOKEN * 500]})
    assert response.status_code == 413
    assert list(response.json()) == ["detail"]


async def test_refusals_come_in_the_order_of_the_route_for_one_token(
    world: World, client: httpx.AsyncClient
) -> None:
    spent = world.ledger.create_key(PLANS["trial"], "test", MINED_AT_S)
    world.count(spent.row.key_id, 100, at_s=MINED_AT_S)
    bad: dict[str, list[str]] = {"addresses": []}
    statuses = [
        (await ask(client, key, body, chain)).status_code
        for key, chain, body in [
            ("", "9", bad),
            ("unknown", "9", bad),
            (spent.plaintext, "9", bad),
            (spent.plaintext, "56", bad),
            (spent.plaintext, "1", bad),
            (spent.plaintext, "1", {"addresses": ["0x12"]}),
            (world.new_key(), "1", {"addresses": ["0x12"]}),
        ]
    ]
    assert statuses == [401, 401, 422, 503, 422, 402, 200]


async def test_a_key_with_a_deadline_hears_of_it(world: World, client: httpx.AsyncClient) -> None:
    response = await ask(client, world.new_key("trial"), FEW)
    assert headers_of_batch(response) == {"x-api-key-expires-at": "2026-10-05T14:13:20Z"}


def headers_of_batch(response: httpx.Response) -> dict[str, str]:
    sent = headers_of(response)
    for name in ("cache-control", "vary", "content-encoding"):
        sent.pop(name, None)
    return sent
