"""Protects the life of a trial key: one for each network, shown once, never renewed."""

import asyncio
from typing import Any

import httpx
import pytest

from config.settings import ApiSettings
from tests.harness.api.sample_reports import TOKEN
from tests.harness.api.specified_fields import check
from tests.harness.api.world import World, headers_of

DAY_S = 86_400
WISH = {"reason": "trying it out", "contact": "someone@example.org"}


async def ask(client: httpx.AsyncClient, **kwargs: Any) -> httpx.Response:
    return await client.post("/agent-keys", **(kwargs or {"json": WISH}))


async def test_a_key_is_issued_and_works(client: httpx.AsyncClient) -> None:
    response = await ask(client)
    body = response.json()
    assert response.status_code == 200
    assert headers_of(response) == {"cache-control": "no-store"}
    check(body, "trial_key")
    assert body["api_key"].startswith("tsk_trial_")
    assert {
        name: value for name, value in body.items() if name not in ("api_key", "next_step")
    } == {
        "plan": "trial",
        "api_calls_total": 100,
        "api_calls_per_day": 25,
        "rate_limit_per_minute": 20,
        "expires_at": "2026-10-05T14:13:20Z",
    }
    used = await client.get(f"/token/1/{TOKEN}", headers={"X-API-Key": body["api_key"]})
    assert (used.status_code, used.headers["x-api-key-expires-at"]) == (200, body["expires_at"])


async def test_a_second_key_is_not(client: httpx.AsyncClient) -> None:
    await ask(client)
    response = await ask(client)
    assert response.status_code == 409
    assert response.json() == {
        "error_code": "agent_trial_already_issued",
        "error": "Trial key already issued",
        "detail": "A trial key was already issued to your network. A key is shown only once.",
        "next_step": "Use the key that was issued, or a full key.",
    }


async def test_a_trial_does_not_renew(world: World, client: httpx.AsyncClient) -> None:
    await ask(client)
    world.clock.now_s += 14 * DAY_S
    response = await ask(client)
    assert response.status_code == 403
    assert response.json() == {
        "error_code": "agent_trial_expired",
        "error": "Trial ended",
        "detail": "The trial of your network has ended and does not renew.",
        "next_step": "Use a full key.",
    }


async def test_every_attempt_counts_toward_the_throttle(
    world: World, client: httpx.AsyncClient
) -> None:
    statuses = [
        (await ask(client, content=content)).status_code
        for content in (b"{", b"", b"{}", b'{"reason": "a"}', b'{"reason": "a"}')
    ]
    assert statuses == [400, 400, 422, 200, 409]
    response = await ask(client)
    assert response.status_code == 429
    wait_s = int(response.headers["retry-after"])
    assert response.json() == {
        "error_code": "agent_registration_throttled",
        "error": "Too many attempts",
        "detail": "Your network requested a trial key too often within an hour.",
        "next_step": f"Wait {wait_s} seconds before the next attempt.",
    }
    assert headers_of(response) == {"retry-after": str(wait_s)}
    world.clock.now_s += wait_s
    assert (await ask(client)).status_code == 409


async def test_without_billing_there_are_no_trials(world: World) -> None:
    client = world.client(has_billing=False)
    for content in (b'{"reason": "a"}', b"{"):
        response = await ask(client, content=content)
        assert (response.status_code, response.json()) == (
            503,
            {"detail": "This deployment is not configured to issue trial keys."},
        )


@pytest.mark.parametrize("content", [b"", b"{", b"reason=a", b'{"reason": "\xff"}'])
async def test_a_body_that_is_not_json(client: httpx.AsyncClient, content: bytes) -> None:
    response = await ask(client, content=content)
    assert (response.status_code, list(response.json())) == (400, ["detail"])
    assert isinstance(response.json()["detail"], str)


@pytest.mark.parametrize(
    ("content", "loc", "kind"),
    [
        (b"{}", ["body", "reason"], "missing"),
        (b'{"contact": "a"}', ["body", "reason"], "missing"),
        (b'{"reason": null}', ["body", "reason"], "value_error"),
        (b'{"reason": ""}', ["body", "reason"], "value_error"),
        (b'{"reason": "a", "contact": 3}', ["body", "contact"], "value_error"),
        (b"[]", ["body"], "value_error"),
        (b"3", ["body"], "value_error"),
    ],
)
async def test_a_body_of_the_wrong_form(
    client: httpx.AsyncClient, content: bytes, loc: list[str], kind: str
) -> None:
    response = await ask(client, content=content)
    (item,) = response.json()["detail"]
    assert response.status_code == 422
    assert (item["loc"], item["type"], bool(item["msg"])) == (loc, kind, True)


async def test_a_body_without_end_is_cut_off(client: httpx.AsyncClient) -> None:
    response = await ask(client, content=b" " * 20_000)
    assert (response.status_code, response.json()) == (
        413,
        {"detail": "Request Entity Too Large"},
    )


async def test_contact_and_content_type_are_optional(client: httpx.AsyncClient) -> None:
    response = await ask(
        client, content=b'{"reason": "a", "other": 1}', headers={"Content-Type": "text/plain"}
    )
    assert response.status_code == 200


async def test_an_ipv6_block_is_one_network(world: World) -> None:
    first = world.client(peer="2001:db8:1:2::1")
    same = world.client(peer="2001:db8:1:2:ffff::9")
    other = world.client(peer="2001:db8:1:3::1")
    assert [(await ask(client)).status_code for client in (first, same, other)] == [200, 409, 200]


async def test_forwarded_headers_count_from_a_trusted_proxy_alone(world: World) -> None:
    settings = ApiSettings(trusted_proxies=("10.0.0.0/8",))
    proxy = world.client(peer="10.0.0.1", settings=settings)
    stranger = world.client(peer="198.51.100.9", settings=settings)

    async def via(client: httpx.AsyncClient, named: str) -> int:
        return (await ask(client, json=WISH, headers={"X-Forwarded-For": named})).status_code

    assert await via(proxy, "203.0.113.1") == 200
    assert await via(proxy, "203.0.113.2") == 200
    assert await via(proxy, "203.0.113.1") == 409
    assert await via(stranger, "203.0.113.3") == 200
    assert await via(stranger, "203.0.113.4") == 409


async def test_the_other_header_of_a_trusted_proxy_is_its_callers(world: World) -> None:
    settings = ApiSettings(trusted_proxies=("10.0.0.0/8",), forwarded_header="forwarded")
    proxy = world.client(peer="10.0.0.1", settings=settings)

    async def via(named: str, made_up: str) -> int:
        headers = {"Forwarded": f"for={named};proto=https", "X-Forwarded-For": made_up}
        return (await ask(proxy, json=WISH, headers=headers)).status_code

    assert await via("203.0.113.1", "203.0.113.5") == 200
    assert await via("203.0.113.1", "203.0.113.6") == 409
    assert await via("203.0.113.2", "203.0.113.5") == 200


async def test_many_askers_at_once_get_one_key(client: httpx.AsyncClient) -> None:
    answers = await asyncio.gather(*(ask(client) for _ in range(5)))
    assert sorted(answer.status_code for answer in answers) == [200, 409, 409, 409, 409]


async def test_a_trial_lives_as_the_table_says(world: World, client: httpx.AsyncClient) -> None:
    """none -> issued -> spent -> expired, with the answer to a second request in each state."""

    async def use() -> httpx.Response:
        return await client.get(f"/token/1/{TOKEN}", headers={"X-API-Key": key})

    async def states() -> tuple[int, str | None, int, str | None]:
        used, answered = await use(), await ask(client)
        codes = [answer.json().get("error_code") for answer in (used, answered)]
        return used.status_code, codes[0], answered.status_code, codes[1]

    key = (await ask(client)).json()["api_key"]
    assert await states() == (200, None, 409, "agent_trial_already_issued")
    for at in range(99):
        world.clock.now_s += 10 if at % 20 else DAY_S
        assert (await use()).status_code == 200
    spent = (402, "free_quota_exhausted", 409, "agent_trial_already_issued")
    assert await states() == spent
    world.clock.now_s += DAY_S
    assert await states() == spent  # it does not refill
    world.clock.now_s += 14 * DAY_S
    assert await states() == (401, "api_key_expired", 403, "agent_trial_expired")


async def test_the_trial_key_is_recorded_by_digest_alone(
    world: World, client: httpx.AsyncClient
) -> None:
    key = (await ask(client)).json()["api_key"]
    (row,) = world.ledger.list_keys()
    assert key not in str(row)
    assert (row.plan, row.revoked_at_s) == ("trial", None)
