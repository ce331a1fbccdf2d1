"""Protects clients' branches: each row of the table of codes, and each status without one."""

from collections.abc import Awaitable, Callable
from typing import Any, get_args

import httpx
import pytest

from api.formats.summary.flags import catalogue
from core.errors import RefusalCode, TokenRefusedError, UpstreamError
from sql.accounts.ledger import NewKey
from tests.harness.api.sample_reports import MINED_AT_S, TOKEN
from tests.harness.api.specified_fields import ERRORS, TABLES, check
from tests.harness.api.world import PLANS, World, headers_of

PATH = f"/token/ethereum/{TOKEN}"
DEAD = "0x000000000000000000000000000000000000dEaD"
DAY_S = 86_400

Ask = Callable[[World, httpx.AsyncClient, str], Awaitable[httpx.Response]]
"""Causes one refusal; the text is the rest of the path behind the token."""


def trial(world: World) -> NewKey:
    return world.ledger.create_key(PLANS["trial"], "test", MINED_AT_S)


def get(path: str, outcome: Exception | None = None) -> Ask:
    async def ask(world: World, client: httpx.AsyncClient, rest: str) -> httpx.Response:
        if outcome is not None:
            world.analysis.outcome = outcome
        return await client.get(path + rest, headers={"X-API-Key": world.new_key()})

    return ask


def refused(code: Any) -> Ask:
    return get(PATH, TokenRefusedError(code=code, reason="because"))


async def no_key(_: World, client: httpx.AsyncClient, rest: str) -> httpx.Response:
    return await client.get(PATH + rest)


async def expired(world: World, client: httpx.AsyncClient, rest: str) -> httpx.Response:
    key = trial(world).plaintext
    world.clock.now_s += 14 * DAY_S
    return await client.get(PATH + rest, headers={"X-API-Key": key})


async def spent(world: World, client: httpx.AsyncClient, rest: str) -> httpx.Response:
    new = trial(world)
    world.count(new.row.key_id, 100, at_s=MINED_AT_S)
    return await client.get(PATH + rest, headers={"X-API-Key": new.plaintext})


def attempts(*waits_s: int) -> Ask:
    """The last of several attempts, with those pauses between."""

    async def ask(world: World, client: httpx.AsyncClient, _: str) -> httpx.Response:
        response = await client.post("/agent-keys", json={"reason": "a"})
        for wait_s in waits_s:
            world.clock.now_s += wait_s
            response = await client.post("/agent-keys", json={"reason": "a"})
        return response

    return ask


CASES: dict[str, Ask] = {
    "invalid_address": get("/token/ethereum/0x12"),
    "burn_address": get(f"/token/ethereum/{DEAD}"),
    "not_a_contract": refused("not_a_contract"),
    "not_a_token": refused("not_a_token"),
    "invalid_token_data": refused("invalid_token_data"),
    "analysis_failed": get(PATH, UpstreamError(service="node", reason="gone")),
    "api_key_required": no_key,
    "api_key_expired": expired,
    "free_quota_exhausted": spent,
    "agent_trial_already_issued": attempts(1),
    "agent_trial_expired": attempts(14 * DAY_S),
    "agent_registration_throttled": attempts(1, 1, 1, 1, 1),
}


def test_every_row_is_tried() -> None:
    assert list(CASES) == list(ERRORS)
    of_tokens = {code for code, (_, body) in ERRORS.items() if body == "envelope"}
    assert of_tokens == {*map(str, get_args(RefusalCode)), "analysis_failed"}


@pytest.mark.parametrize("code", ERRORS)
async def test_each_code_has_its_status_and_body(
    world: World, client: httpx.AsyncClient, code: str
) -> None:
    status, kind = ERRORS[code]
    response = await CASES[code](world, client, "?response_format=compat&include_token_price=true")
    body = response.json()
    assert (response.status_code, body["error_code"]) == (status, code)
    assert body["error"]
    if kind == "envelope":
        check(body, "envelope")
        known = {"chain", "contract_address", "error", "error_code"}
        assert {name for name, value in body.items() if value is not None} == known
    else:
        assert list(body) == ["error_code", "error", "detail", "next_step"]
        assert all(isinstance(text, str) and text for text in body.values())
    retry = headers_of(response).get("retry-after")
    assert (retry is not None) is (code == "agent_registration_throttled")


@pytest.mark.parametrize("code", [code for code, (_, kind) in ERRORS.items() if kind == "envelope"])
async def test_each_code_of_a_token_refuses_its_summary(
    world: World, client: httpx.AsyncClient, code: str
) -> None:
    response = await CASES[code](world, client, "/summary")
    body = response.json()
    check(body, "summary")
    assert (response.status_code, body["error_code"]) == (ERRORS[code][0], code)
    assert (body["verdict"], body["verdict_reasons"], bool(body["error"])) == (None, [], True)
    counts = {name: value for name, value in body.items() if name.endswith("_count")}
    assert {name for name, value in counts.items() if value} == {
        "total_flag_count",
        "unknown_flag_count",
    }
    assert (
        body["total_flag_count"]
        == len(catalogue(None, has_owner_simulation=False))
        == len(body["flags"])
    )
    unknown = {
        name for name, kinds in TABLES["summary"].items() if "null" in kinds or kinds == "bool"
    }
    assert all(body[name] is None for name in unknown - {"error_code"})


@pytest.mark.parametrize("burnt", ["0" * 40, "0" * 39 + "1", "DEAD".rjust(40, "0")])
@pytest.mark.parametrize("tail", ["", "/summary"])
async def test_a_burn_address_is_refused_in_any_case(
    world: World, client: httpx.AsyncClient, burnt: str, tail: str
) -> None:
    for text in (burnt.lower(), burnt.upper()):
        response = await get(f"/token/1/0x{text}{tail}")(world, client, "")
        assert (response.status_code, response.json()["error_code"]) == (422, "burn_address")
    assert world.analysis.requests == []


STATUSES: dict[str, tuple[int, Ask]] = {
    "unknown key": (401, lambda _, c, __: c.get(PATH, headers={"X-API-Key": "tsk_live_no"})),
    "no such route": (404, get("/token")),
    "method": (405, lambda _, c, __: c.put(PATH)),
    "not json": (400, lambda _, c, __: c.post("/agent-keys", content=b"{")),
    "too large": (413, lambda _, c, __: c.post("/agent-keys", content=b"a" * 20_000)),
    "not served": (503, get(f"/token/56/{TOKEN}")),
}


@pytest.mark.parametrize("case", STATUSES)
async def test_each_status_without_a_code_has_a_detail_alone(
    world: World, client: httpx.AsyncClient, case: str
) -> None:
    status, ask = STATUSES[case]
    response = await ask(world, client, "")
    assert (response.status_code, list(response.json())) == (status, ["detail"])
    assert isinstance(response.json()["detail"], str)
    assert ("allow" in headers_of(response)) is (status == 405)


async def test_a_plan_that_may_not_recompute_gets_a_detail_alone(
    world: World, client: httpx.AsyncClient
) -> None:
    headers = {"X-API-Key": world.new_key("pro")}
    for query in ("refresh=true", "redecompile=true", "refresh=true&redecompile=true"):
        response = await client.get(f"{PATH}?{query}", headers=headers)
        assert (response.status_code, list(response.json())) == (403, ["detail"])
    for query in ("refresh=false", "redecompile=false", "refresh=0"):
        assert (await client.get(f"{PATH}?{query}", headers=headers)).status_code == 200


async def test_without_billing_no_trial_key_is_issued(world: World) -> None:
    response = await world.client(has_billing=False).post("/agent-keys", json={"reason": "a"})
    assert (response.status_code, list(response.json())) == (503, ["detail"])


INVALID: list[tuple[dict[str, Any], list[str], str]] = [
    ({}, ["body", "reason"], "missing"),
    ({"reason": ""}, ["body", "reason"], "value_error"),
    ({"reason": None}, ["body", "reason"], "value_error"),
    ({"reason": "a" * 2_001}, ["body", "reason"], "value_error"),
    ({"reason": "a", "contact": 5}, ["body", "contact"], "value_error"),
]


@pytest.mark.parametrize(("body", "loc", "kind"), INVALID)
async def test_the_list_of_what_is_wrong(
    client: httpx.AsyncClient, body: dict[str, Any], loc: list[str], kind: str
) -> None:
    response = await client.post("/agent-keys", json=body)
    (item,) = response.json()["detail"]
    assert (response.status_code, list(item)) == (422, ["loc", "msg", "type"])
    assert (item["loc"], item["type"], bool(item["msg"])) == (loc, kind, True)
