"""Protects every refusal: its status, its exact body and its headers."""

from typing import Any, get_args

import httpx
import pytest
import structlog

from api.formats.summary.flags import catalogue
from config.log import LogFormat, configure_log
from core.errors import InternalError, TokenRefusedError, UpstreamError
from tests.harness.api.sample_reports import MINED_AT_S, TOKEN, TOKEN_SHOWN
from tests.harness.api.world import PLANS, Get, World, headers_of

PATH = f"/token/ethereum/{TOKEN}"

DAY_S = 86_400

# --- token refusals ----------------------------------------------------------------------------
REFUSALS = ["burn_address", "not_a_contract", "not_a_token", "invalid_token_data"]


def refused(code: str, error: str, address: str = TOKEN_SHOWN) -> dict[str, Any]:
    return {
        "chain": "ethereum",
        "contract_address": address,
        "features": None,
        "error": error,
        "error_code": code,
        "token_usd_price": None,
        "market_cap_usd": None,
        "price_source": None,
        "price_age_seconds": None,
    }


@pytest.mark.parametrize("code", REFUSALS)
@pytest.mark.parametrize("form", ["native", "compat"])
async def test_a_refused_token_keeps_the_envelope(
    world: World, get: Get, code: Any, form: str
) -> None:
    world.analysis.outcome = TokenRefusedError(code=code, reason="because")
    response = await get(f"{TOKEN}?response_format={form}&include_token_price=true")
    assert response.status_code == 422
    assert response.json() == refused(code, "because")
    assert headers_of(response) == {}


@pytest.mark.parametrize("code", REFUSALS)
async def test_a_refused_summary_has_no_verdict(world: World, get: Get, code: Any) -> None:
    world.analysis.outcome = TokenRefusedError(code=code, reason="because")
    response = await get(f"{TOKEN}/summary")
    body = response.json()
    assert response.status_code == 422
    assert (body["error_code"], body["error"], body["verdict"]) == (code, "because", None)
    assert (body["verdict_reasons"], body["unknown_flag_count"]) == (
        [],
        len(catalogue(None, has_owner_simulation=False)),
    )


@pytest.mark.parametrize(
    "address", ["0x12", "nonsense", f"%20{TOKEN}", f"{TOKEN}0", "0x" + "g" * 40]
)
async def test_what_is_not_an_address_is_refused_unasked(
    world: World, get: Get, address: str
) -> None:
    response = await get(address)
    shown = address.replace("%20", " ")
    assert response.status_code == 422
    assert response.json() == refused(
        "invalid_address", f"{shown!r} is not an EVM address", address=shown
    )
    assert world.analysis.requests == []


@pytest.mark.parametrize(
    "failure",
    [UpstreamError(service="node", reason="secret"), InternalError("secret"), ValueError("secret")],
)
async def test_our_failure_is_a_500_that_tells_nothing(
    world: World, get: Get, failure: Exception
) -> None:
    world.analysis.outcome = failure
    response = await get(TOKEN)
    assert response.status_code == 500
    assert response.json() == refused(
        "analysis_failed", "The analysis failed on our side. Try again later."
    )
    summary = await get(f"{TOKEN}/summary")
    assert (summary.status_code, summary.json()["error_code"]) == (500, "analysis_failed")


async def test_an_analysis_without_end_is_a_500(world: World) -> None:
    client = world.client(answer_within_s=0.01)
    world.analysis.gate.clear()
    response = await client.get(PATH, headers={"X-API-Key": world.new_key()})
    assert (response.status_code, response.json()["error_code"]) == (500, "analysis_failed")


# --- caller refusals ---------------------------------------------------------------------------
@pytest.mark.parametrize("headers", [{}, {"X-API-Key": ""}, {"X-API-Key": "  "}])
@pytest.mark.parametrize("path", [PATH, f"{PATH}/summary"])
async def test_no_key(client: httpx.AsyncClient, headers: dict[str, str], path: str) -> None:
    response = await client.get(path, headers=headers)
    assert response.status_code == 401
    assert response.json() == {
        "error_code": "api_key_required",
        "error": "API key required",
        "detail": "This route needs an API key in the X-API-Key header.",
        "next_step": "Send a key in the X-API-Key header. POST /agent-keys issues a trial key.",
    }
    assert headers_of(response) == {}


async def test_an_unknown_key(client: httpx.AsyncClient) -> None:
    response = await client.get(PATH, headers={"X-API-Key": "tsk_live_made_up"})
    assert (response.status_code, response.json()) == (401, {"detail": "Unknown API key."})
    assert headers_of(response) == {}


async def test_a_revoked_key_is_unknown(world: World, client: httpx.AsyncClient) -> None:
    new = world.ledger.create_key(PLANS["pro"], "test", world.clock.now_s)
    headers = {"X-API-Key": new.plaintext}
    assert (await client.get(PATH, headers=headers)).status_code == 200
    world.ledger.revoke(new.row.key_id, world.clock.now_s)
    response = await client.get(PATH, headers=headers)
    assert (response.status_code, response.json()) == (401, {"detail": "Unknown API key."})


async def test_an_expired_key(world: World, get: Get) -> None:
    key = world.new_key("trial")
    world.clock.now_s += 14 * DAY_S
    response = await get(TOKEN, key=key)
    assert response.status_code == 401
    assert response.json() == {
        "error_code": "api_key_expired",
        "error": "API key expired",
        "detail": "This API key expired at 2026-10-05T14:13:20Z.",
        "next_step": "Use another key. A trial key does not renew.",
    }
    assert headers_of(response) == {"x-api-key-expires-at": "2026-10-05T14:13:20Z"}


@pytest.mark.parametrize(
    ("left_s", "expected"),
    [
        (7 * DAY_S + 1, {}),
        (
            7 * DAY_S,
            {
                "x-api-key-expires-in": "604800",
                "warning": '299 - "API key expires at 2026-10-05T14:13:20Z"',
            },
        ),
        (
            1,
            {
                "x-api-key-expires-in": "1",
                "warning": '299 - "API key expires at 2026-10-05T14:13:20Z"',
            },
        ),
    ],
)
async def test_a_key_with_a_deadline_hears_of_it(
    world: World, get: Get, left_s: int, expected: dict[str, str]
) -> None:
    key = world.new_key("trial")
    world.clock.now_s += 14 * DAY_S - left_s
    for rest in (TOKEN, f"{TOKEN}?refresh=what", f"{TOKEN}?refresh=true", "0x12"):
        response = await get(rest, key=key)
        assert headers_of(response) == {"x-api-key-expires-at": "2026-10-05T14:13:20Z", **expected}


@pytest.mark.parametrize("plan", ["trial", "developer", "pro"])
@pytest.mark.parametrize("query", ["refresh=true", "redecompile=true"])
async def test_recomputing_needs_a_plan(world: World, get: Get, plan: str, query: str) -> None:
    response = await get(f"{TOKEN}?{query}", key=world.new_key(plan))
    assert (response.status_code, response.json()) == (
        403,
        {"detail": "refresh and redecompile need an enterprise plan or an admin key."},
    )
    assert world.analysis.requests == []


@pytest.mark.parametrize("plan", ["enterprise", "admin"])
async def test_a_plan_that_may_recompute_does(world: World, get: Get, plan: str) -> None:
    response = await get(f"{TOKEN}?refresh=true&redecompile=true", key=world.new_key(plan))
    assert response.status_code == 200
    assert world.analysis.requests[-1]["refresh"]
    assert world.analysis.requests[-1]["redecompile"]


# --- form of the request -----------------------------------------------------------------------
@pytest.mark.parametrize("chain", ["2", "ether", "01", "bitcoin", "chain_1"])
@pytest.mark.parametrize("tail", ["", "/summary"])
async def test_an_unknown_chain(
    world: World, client: httpx.AsyncClient, chain: str, tail: str
) -> None:
    response = await client.get(f"/token/{chain}/0x{tail}", headers={"X-API-Key": world.new_key()})
    assert response.status_code == 422
    assert response.json() == {
        "detail": [
            {
                "loc": ["path", "chain"],
                "msg": "Unknown chain; one of ethereum (1, eth), chain_56 (56, bsc, bnb).",
                "type": "unknown_chain",
            }
        ]
    }


@pytest.mark.parametrize("chain", ["56", "chain_56", "bsc", "BNB"])
async def test_a_chain_that_is_not_served_here(
    world: World, client: httpx.AsyncClient, chain: str
) -> None:
    response = await client.get(f"/token/{chain}/{TOKEN}", headers={"X-API-Key": world.new_key()})
    assert (response.status_code, response.json()) == (
        503,
        {"detail": "This deployment does not serve the chain chain_56."},
    )


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("response_format=xml", "response_format"),
        ("response_format=", "response_format"),
        ("include_token_price=maybe", "include_token_price"),
        ("refresh=2", "refresh"),
        ("redecompile=", "redecompile"),
    ],
)
async def test_a_bad_query_value(world: World, get: Get, query: str, name: str) -> None:
    response = await get(f"{TOKEN}?{query}")
    (item,) = response.json()["detail"]
    assert response.status_code == 422
    assert list(response.json()) == ["detail"]
    assert (item["loc"], item["type"], bool(item["msg"])) == (["query", name], "value_error", True)
    assert world.analysis.requests == []


async def test_the_summary_takes_no_parameters_and_minds_none(get: Get) -> None:
    assert (await get(f"{TOKEN}/summary?refresh=maybe&response_format=xml")).status_code == 200


async def test_unknown_parameters_are_ignored(get: Get) -> None:
    assert (await get(f"{TOKEN}?colour=blue")).status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "status", "body", "headers"),
    [
        ("GET", "/nowhere", 404, {"detail": "Not Found"}, {}),
        ("GET", "/token/1", 404, {"detail": "Not Found"}, {}),
        ("GET", "/schema/swagger", 404, {"detail": "Not Found"}, {}),
        ("GET", "/assets/nothing.js", 404, {"detail": "Not Found"}, {}),
        ("POST", PATH, 405, {"detail": "Method Not Allowed"}, {"allow": "GET, HEAD, OPTIONS"}),
        ("GET", "/agent-keys", 405, {"detail": "Method Not Allowed"}, {"allow": "OPTIONS, POST"}),
    ],
)
async def test_no_such_route(
    client: httpx.AsyncClient,
    method: str,
    path: str,
    status: int,
    body: dict[str, str],
    headers: dict[str, str],
) -> None:
    response = await client.request(method, path)
    sent = headers_of(response)
    if "allow" in sent:
        sent["allow"] = ", ".join(sorted(sent["allow"].split(", ")))
    assert (response.status_code, response.json(), sent) == (status, body, headers)


async def test_a_ledger_out_of_reach_lets_nobody_through(world: World, get: Get) -> None:
    world.ledger.close()
    response = await get(TOKEN, key="tsk_live_any")
    assert (response.status_code, response.json()) == (
        503,
        {"detail": "API keys cannot be checked right now. Try again later."},
    )


async def test_a_fault_outside_the_analysis_tells_nothing(world: World) -> None:
    new = world.ledger.create_key(PLANS["pro"], "test", MINED_AT_S)
    client = world.client(plans={"trial": PLANS["trial"]})  # the key's plan is gone
    response = await client.get(PATH, headers={"X-API-Key": new.plaintext})
    assert (response.status_code, response.json()) == (500, {"detail": "Internal server error."})


# --- which refusal comes first -----------------------------------------------------------------
async def test_refusals_come_in_the_decided_order(world: World, client: httpx.AsyncClient) -> None:
    """Everything is wrong at first, and mended one by one, from the first refusal to the last."""
    spent = world.ledger.create_key(PLANS["trial"], "test", MINED_AT_S)
    world.count(spent.row.key_id, 100, at_s=MINED_AT_S)

    async def ask(chain: str, query: str, key: str) -> tuple[int, str]:
        response = await client.get(f"/token/{chain}/0x12?{query}", headers={"X-API-Key": key})
        body = response.json()
        shown = body.get("error_code") or str(body["detail"])
        return response.status_code, shown

    status, shown = await ask("9", "refresh=maybe", "")
    assert (status, shown) == (401, "api_key_required")
    status, shown = await ask("9", "refresh=maybe", "unknown")
    assert (status, shown) == (401, "Unknown API key.")
    status, shown = await ask("9", "refresh=maybe", spent.plaintext)
    assert status == 422
    assert "unknown_chain" in shown
    status, shown = await ask("1", "refresh=maybe", spent.plaintext)
    assert status == 422
    assert "refresh" in shown
    status, shown = await ask("1", "refresh=true", spent.plaintext)
    assert (status, "plan" in shown) == (403, True)
    status, shown = await ask("1", "", spent.plaintext)
    assert (status, shown) == (402, "free_quota_exhausted")
    status, shown = await ask("1", "", world.new_key())
    assert (status, shown) == (422, "invalid_address")


# --- leaks --------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", get_args(LogFormat))
async def test_a_fault_logs_its_trace_without_the_key(
    world: World, capsys: pytest.CaptureFixture[str], form: LogFormat
) -> None:
    new = world.ledger.create_key(PLANS["pro"], "test", MINED_AT_S)
    client = world.client(plans={"trial": PLANS["trial"]})  # the key's plan is gone
    before = structlog.get_config()
    configure_log(form)
    try:
        response = await client.get(f"/token/1/{TOKEN}", headers={"X-API-Key": new.plaintext})
    finally:
        structlog.configure(**before)
    logged = capsys.readouterr().err
    assert "PlanGoneError" in logged
    assert "in require_key" in logged
    assert new.plaintext not in logged
    assert (response.status_code, response.json()) == (500, {"detail": "Internal server error."})
