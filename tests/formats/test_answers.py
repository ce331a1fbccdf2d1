"""Protects answers on a token: both formats, the summary, the cache, shared runs."""

import asyncio
from typing import Any

import httpx
import msgspec
import pytest

from analysis.token.contract_clock import ContractClock
from api.formats.rendering import FORMATS
from api.formats.token_snapshot import clock_after
from api.serving.answers import Answers
from config.settings import ApiSettings
from core.errors import TokenRefusedError, UpstreamError
from tests.harness.api.sample_reports import (
    MINED_AT_S,
    TOKEN,
    TOKEN_SHOWN,
    make_limit,
    make_pool,
    make_report,
    make_static,
)
from tests.harness.api.specified_fields import check
from tests.harness.api.world import Get, World, make_chain

FORMS = ["", "?response_format=compat", "/summary"]


@pytest.mark.parametrize("query", ["", "?response_format=native", "?include_token_price=true"])
async def test_the_native_answer(get: Get, query: str) -> None:
    response = await get(TOKEN + query)
    body = response.json()
    assert (response.status_code, response.headers["content-type"]) == (200, "application/json")
    check(body, "envelope")
    check(body["features"], "native")
    assert (body["chain"], body["contract_address"]) == ("ethereum", TOKEN_SHOWN)
    assert (body["error"], body["error_code"]) == ("", None)


async def test_the_compat_answer_has_the_same_envelope(get: Get) -> None:
    native, compat = [(await get(TOKEN + query)).json() for query in FORMS[:2]]
    check(compat["features"], "compat")
    assert {**native, "features": None} == {**compat, "features": None}


async def test_the_summary(get: Get) -> None:
    body = (await get(f"{TOKEN}/summary")).json()
    check(body, "summary")
    assert (body["chain"], body["contract_address"]) == ("ethereum", TOKEN_SHOWN)


@pytest.mark.parametrize("chain", ["1", "ethereum"])
@pytest.mark.parametrize("address", [TOKEN, TOKEN.upper().replace("X", "x", 1), TOKEN.upper()])
async def test_slug_id_and_letter_case_name_the_same(
    world: World, client: httpx.AsyncClient, chain: str, address: str
) -> None:
    response = await client.get(f"/token/{chain}/{address}", headers={"X-API-Key": world.new_key()})
    assert response.json()["contract_address"] == TOKEN_SHOWN
    assert world.analysis.requests == [
        {"chain": "ethereum", "address": TOKEN, "refresh": False, "redecompile": False}
    ]


@pytest.mark.parametrize("form", FORMS)
async def test_an_answer_is_served_again_for_two_minutes(world: World, get: Get, form: str) -> None:
    first = await get(TOKEN + form)
    world.analysis.outcome = make_report(symbol="NEW", is_open_source=False)
    world.clock.now_s += 119
    assert (await get(TOKEN + form)).content == first.content
    world.clock.now_s += 1
    assert (await get(TOKEN + form)).content != first.content
    assert len(world.analysis.requests) == 2


async def test_a_refusal_is_served_again_too(world: World, get: Get) -> None:
    world.analysis.outcome = TokenRefusedError(code="not_a_contract", reason="no code")
    for _ in range(3):
        assert (await get(TOKEN)).status_code == 422
    assert len(world.analysis.requests) == 1


async def test_a_refusal_of_another_process_is_served_as_much_shorter(
    world: World, get: Get
) -> None:
    world.analysis.outcome = TokenRefusedError(code="not_a_contract", reason="no code", age_s=20.0)
    for passed_s, expected_scans in ((0, 1), (99, 1), (1, 2)):
        world.clock.now_s += passed_s
        assert (await get(TOKEN)).status_code == 422
        assert len(world.analysis.requests) == expected_scans


async def test_a_failure_is_not(world: World, get: Get) -> None:
    world.analysis.outcome = UpstreamError(service="node", reason="gone")
    assert (await get(TOKEN)).status_code == 500
    world.analysis.outcome = make_report()
    assert (await get(TOKEN)).status_code == 200


@pytest.mark.parametrize(
    "unfinished",
    [
        make_report(is_settled=False),
        make_report(pools=(make_pool(sell="pending", sell_tax=None),)),
    ],
)
async def test_who_polls_sees_progress(world: World, get: Get, unfinished: Any) -> None:
    world.analysis.outcome = unfinished
    await get(TOKEN)
    await get(TOKEN)
    assert len(world.analysis.requests) == 1
    world.analysis.outcome = make_report()
    world.clock.now_s += 1
    assert (await get(TOKEN)).json()["features"]["dex"][0]["sell_success"] is True
    assert len(world.analysis.requests) == 2


async def test_a_shorter_cache_can_be_set(world: World) -> None:
    client = world.client(settings=ApiSettings(cache_s=0))
    key = world.new_key()
    for _ in range(2):
        await client.get(f"/token/1/{TOKEN}", headers={"X-API-Key": key})
    assert len(world.analysis.requests) == 2


async def test_a_refresh_goes_past_the_cache_and_renews_every_format(
    world: World, get: Get
) -> None:
    for form in FORMS:
        await get(TOKEN + form)
    world.analysis.outcome = make_report(is_open_source=False)
    refreshed = await get(f"{TOKEN}?refresh=true")
    assert refreshed.json()["features"]["is_open_source"] is False
    native, compat, summary = [(await get(TOKEN + form)).json() for form in FORMS]
    assert native == refreshed.json()
    assert compat["features"]["is_open_source"] == "0"
    assert summary["notice_flag_count"] == 1


async def test_callers_share_one_report_whatever_their_formats(world: World) -> None:
    answers: Answers = world.make_app().router.state.answers
    world.analysis.gate.clear()
    callers = [
        asyncio.create_task(answers.answer(chain="ethereum", address=TOKEN, form=form))
        for form in FORMATS
        for _ in range(5)
    ]
    await asyncio.sleep(0)  # each of them gets as far as it can
    callers.pop().cancel()
    world.analysis.gate.set()
    made = await asyncio.gather(*callers)
    assert {answer.status for answer in made} == {200}
    assert len({answer.body for answer in made}) == len(FORMATS)
    assert len(world.analysis.requests) == 1


async def test_the_deployments_minimum_decides_what_is_liquid(world: World) -> None:
    key = {"X-API-Key": world.new_key()}
    for limit_usd, is_liquid in ((24_999.0, True), (25_000.0, False)):  # of the quote side
        client = world.client(liquid_above_usd=limit_usd)
        features = (await client.get(f"/token/1/{TOKEN}", headers=key)).json()["features"]
        assert features["is_liquid"] is is_liquid
    for limit_usd, is_enough in ((49_999.0, True), (50_000.0, False)):  # of the whole pool
        client = world.client(liquid_above_usd=limit_usd)
        summary = (await client.get(f"/token/1/{TOKEN}/summary", headers=key)).json()
        assert summary["has_enough_liquidity"] is is_enough


async def test_a_deadline_passes_between_two_answers(world: World, get: Get) -> None:
    limits = (make_limit(MINED_AT_S + 300),)
    world.analysis.outcome = make_report(static=make_static(timebomb=True), clock_limits=limits)
    before = (await get(TOKEN)).json()["features"]
    world.clock.now_s += 300
    after = (await get(TOKEN)).json()["features"]
    assert (before["timebomb"], before["timebomb_status"]) == (True, "armed")
    assert (after["timebomb"], after["timebomb_status"]) == (False, "passed")
    assert [body["timebomb_deadlines"][0]["passed"] for body in (before, after)] == [False, True]


async def test_the_newest_known_clock_places_a_block(world: World) -> None:
    limits = (make_limit(20_000_011),)  # read at block 20,000,000
    world.analysis.outcome = make_report(static=make_static(timebomb=True), clock_limits=limits)
    newest = ContractClock(
        time_s=MINED_AT_S + 132,
        block_number=20_000_011,
        block_time_s=MINED_AT_S + 132,
        block_interval_s=12.0,
    )
    for read_clock, passed in [(lambda _: None, False), (lambda _: newest, True)]:
        client = world.client(read_clock=read_clock)
        response = await client.get(f"/token/1/{TOKEN}", headers={"X-API-Key": world.new_key()})
        (deadline,) = response.json()["features"]["timebomb_deadlines"]
        assert (deadline["passed"], deadline["estimated_unix_time"]) == (passed, MINED_AT_S + 132)


def test_without_a_newer_clock_that_of_the_report_moves_on() -> None:
    """A chain whose clock runs ahead keeps its lead."""
    report = make_report(scanned_at_s=MINED_AT_S - 1000, block_number=400_000_000)
    own = make_chain(1, "ethereum")
    clock = clock_after(report, own, now_s=MINED_AT_S - 900)
    assert clock is not None
    assert (clock.time_s, clock.block_number) == (MINED_AT_S + 100, 20_000_008)
    shared = msgspec.structs.replace(own, clock="ethereum", block_time_s=0.25)
    assert clock_after(report, shared, now_s=MINED_AT_S - 900) == clock


def test_a_clock_that_was_not_read_is_not_made_up() -> None:
    own = make_chain(1, "ethereum")
    assert clock_after(make_report(clock_block=None), own, now_s=MINED_AT_S) is None
    assert clock_after(make_report(clock_time_s=None), own, now_s=MINED_AT_S) is None
