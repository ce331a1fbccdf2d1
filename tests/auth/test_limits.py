"""Protects the four tiers and the lifetime: counted calls, refusals and headers."""

import asyncio
from pathlib import Path

import httpx

from sql.accounts.ledger import Ledger
from tests.harness.api.sample_reports import MINED_AT_S, TOKEN
from tests.harness.api.world import PLANS, Get, World, headers_of

EXPIRY = {"x-api-key-expires-at": "2026-10-05T14:13:20Z"}
DAY_S = 86_400


async def _spend(get: Get, key: str, calls: int) -> None:
    for _ in range(calls):
        assert (await get(TOKEN, key=key)).status_code == 200


async def test_a_burst_of_five_in_ten_seconds(world: World, get: Get) -> None:
    key = world.new_key("trial")
    await _spend(get, key, 3)
    world.clock.now_s += 4
    await _spend(get, key, 2)
    response = await get(TOKEN, key=key)
    assert response.status_code == 429
    assert response.json() == {"detail": "Limit of 5 calls in 10 seconds reached."}
    sent = headers_of(response)
    wait_s = int(sent.pop("retry-after"))
    assert sent == {
        **EXPIRY,
        "x-ratelimit-burst-limit": "5",
        "x-ratelimit-burst-window": "10",
        "x-ratelimit-remaining": "0",
    }
    assert wait_s == 7  # the first three leave the window after six seconds
    world.clock.now_s += wait_s
    await _spend(get, key, 3)
    assert (await get(TOKEN, key=key)).status_code == 429


async def test_twenty_in_a_minute(world: World, get: Get) -> None:
    key = world.new_key("trial")
    for _ in range(4):
        await _spend(get, key, 5)
        world.clock.now_s += 11
    response = await get(TOKEN, key=key)
    assert response.status_code == 429
    assert response.json() == {"detail": "Limit of 20 calls in 60 seconds reached."}
    assert headers_of(response) == {
        **EXPIRY,
        "retry-after": "17",
        "x-ratelimit-limit": "20",
        "x-ratelimit-remaining": "0",
    }


async def test_a_day_by_the_calendar_in_utc(world: World, get: Get) -> None:
    new = world.ledger.create_key(PLANS["trial"], "test", MINED_AT_S)
    world.count(new.row.key_id, 25, at_s=MINED_AT_S)
    response = await get(TOKEN, key=new.plaintext)
    assert response.status_code == 429
    assert response.json() == {"detail": "Daily quota used up."}
    assert headers_of(response) == {
        **EXPIRY,
        "retry-after": "35200",  # from 14:13:20 to midnight
        "x-quota-daily-limit": "25",
        "x-quota-daily-used": "25",
    }
    world.clock.now_s += 35_200
    await _spend(get, new.plaintext, 1)


async def test_a_month_by_the_calendar_has_no_retry_after(world: World) -> None:
    plans = {**PLANS}
    plans["small"] = type(PLANS["pro"])(name="small", per_month=3, may_refresh=False)
    new = world.ledger.create_key(plans["small"], "test", MINED_AT_S)
    client = world.client(plans=plans)
    headers = {"X-API-Key": new.plaintext}
    world.count(new.row.key_id, 3, at_s=MINED_AT_S)
    response = await client.get(f"/token/1/{TOKEN}", headers=headers)
    assert response.status_code == 429
    assert response.json() == {"detail": "Monthly quota used up."}
    assert headers_of(response) == {"x-quota-monthly-limit": "3", "x-quota-monthly-used": "3"}
    world.clock.now_s += 10 * DAY_S  # 1 October
    assert (await client.get(f"/token/1/{TOKEN}", headers=headers)).status_code == 200


async def test_a_spent_trial_is_told_so_before_any_window(world: World, get: Get) -> None:
    new = world.ledger.create_key(PLANS["trial"], "test", MINED_AT_S)
    world.count(new.row.key_id, 100, at_s=MINED_AT_S)  # the day is spent four times over as well
    for _ in range(6):
        assert (await get(TOKEN, key=new.plaintext)).status_code == 402
    response = await get(TOKEN, key=new.plaintext)
    assert response.json() == {
        "error_code": "free_quota_exhausted",
        "error": "Free quota exhausted",
        "detail": "All 100 calls of this trial key are spent. They do not refill.",
        "next_step": "Stop calling with this key; retrying never helps. Use a full key.",
    }
    assert headers_of(response) == EXPIRY


async def test_no_limit_headers_on_success(world: World, get: Get) -> None:
    response = await get(TOKEN, key=world.new_key("trial"))
    assert (response.status_code, headers_of(response)) == (200, EXPIRY)


async def test_a_refused_call_costs_nothing(world: World, get: Get) -> None:
    new = world.ledger.create_key(PLANS["trial"], "test", MINED_AT_S)
    for rest in (f"{TOKEN}?refresh=true", f"{TOKEN}?refresh=maybe"):
        await get(rest, key=new.plaintext)
    await _spend(get, new.plaintext, 5)
    for _ in range(3):
        assert (await get(TOKEN, key=new.plaintext)).status_code == 429
    assert world.ledger.usage(new.row.key_id, world.clock.now_s).lifetime == 5


async def test_a_token_that_is_refused_costs_a_call(world: World, get: Get) -> None:
    new = world.ledger.create_key(PLANS["trial"], "test", MINED_AT_S)
    await get("0x12", key=new.plaintext)
    assert world.ledger.usage(new.row.key_id, world.clock.now_s).lifetime == 1


async def test_callers_at_once_cannot_share_the_last_call(world: World, get: Get) -> None:
    new = world.ledger.create_key(PLANS["trial"], "test", MINED_AT_S)
    world.count(new.row.key_id, 23, at_s=MINED_AT_S)
    responses = await asyncio.gather(*(get(TOKEN, key=new.plaintext) for _ in range(4)))
    assert sorted(response.status_code for response in responses) == [200, 200, 429, 429]
    assert world.ledger.usage(new.row.key_id, world.clock.now_s).day == 25


async def test_keys_do_not_share_their_limits(world: World, get: Get) -> None:
    for _ in range(3):
        await _spend(get, world.new_key("trial"), 5)


async def test_an_admin_key_has_no_limits(get: Get) -> None:
    for _ in range(60):
        assert (await get(TOKEN)).status_code == 200


async def test_counts_outlive_the_process(
    world: World, client: httpx.AsyncClient, tmp_path: Path
) -> None:
    new = world.ledger.create_key(PLANS["trial"], "test", MINED_AT_S)
    await client.get(f"/token/1/{TOKEN}", headers={"X-API-Key": new.plaintext})
    reopened = Ledger.open(tmp_path / "ledger.sqlite")
    assert reopened.usage(new.row.key_id, world.clock.now_s).lifetime == 1
    reopened.close()
