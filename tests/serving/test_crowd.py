"""Protects the node from a crowd: one run serves all callers, however many leave or insist."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import httpx
import pytest
from prometheus_client import REGISTRY

from core.errors import UpstreamError
from sql.accounts.ledger import Ledger
from tests.harness.api.sample_reports import OWNER, TOKEN, make_report
from tests.harness.api.world import PLANS, World

CROWD = 200
PATIENCE_S = 60.0

Get = Callable[..., Coroutine[Any, Any, httpx.Response]]


@pytest.fixture
def ask(world: World) -> Get:
    """GET of one application, with a key that has no limits."""
    client, key = world.client(), world.new_key()

    async def get(rest: str = "", token: str = TOKEN, coding: str = "gzip") -> httpx.Response:
        headers = {"X-API-Key": key, "Accept-Encoding": coding}
        return await client.get(f"/token/1/{token}{rest}", headers=headers)

    return get


def found_nothing() -> float:
    """Return the number of callers without a report, which share or begin an analysis."""
    found = REGISTRY.get_sample_value("assay_api_token_lookups_total", {"result": "missed"})
    return found or 0.0


async def are_waiting(world: World, callers: list[asyncio.Task[httpx.Response]]) -> None:
    """Wait until the analysis runs and every new caller waits for it."""
    before = found_nothing()
    async with asyncio.timeout(PATIENCE_S):
        await world.analysis.was_asked.wait()
        while found_nothing() - before < len(callers):  # noqa: ASYNC110 - a metric has no event
            await asyncio.sleep(0.002)
    assert not any(caller.done() for caller in callers)


async def test_two_hundred_callers_of_one_token_cost_one_report(world: World, ask: Get) -> None:
    world.analysis.gate.clear()
    forms = ["", "?response_format=compat", "/summary", "?include_token_price=true"]
    callers = [
        asyncio.create_task(ask(forms[at % 4], coding=["gzip", "zstd", "identity"][at % 3]))
        for at in range(CROWD)
    ]
    await are_waiting(world, callers)
    world.analysis.gate.set()
    answers = await asyncio.gather(*callers)
    assert {answer.status_code for answer in answers} == {200}
    bodies = [{answer.content for answer in answers[at::4]} for at in range(4)]
    assert [len(same) for same in bodies] == [1, 1, 1, 1]
    assert len(world.analysis.requests) == 1


async def test_a_slow_token_keeps_no_other_waiting(world: World, ask: Get) -> None:
    assert (await ask(token=OWNER)).status_code == 200
    world.analysis.was_asked.clear()
    world.analysis.gate.clear()
    callers = [asyncio.create_task(ask()) for _ in range(CROWD)]
    await are_waiting(world, callers)
    assert (await asyncio.wait_for(ask(token=OWNER), PATIENCE_S)).status_code == 200
    world.analysis.gate.set()
    await asyncio.gather(*callers)
    assert [request["address"] for request in world.analysis.requests] == [OWNER, TOKEN]


async def test_a_storm_of_refreshes_is_one_refresh(world: World, ask: Get) -> None:
    assert (await ask()).status_code == 200
    world.analysis.was_asked.clear()
    world.analysis.gate.clear()
    world.analysis.outcome = make_report(symbol="NEW")
    callers = [asyncio.create_task(ask("?refresh=true")) for _ in range(CROWD)]
    await are_waiting(world, callers)
    assert (await ask()).json()["features"]["symbol"] == "SMP"  # from memory, during the run
    world.analysis.gate.set()
    answers = await asyncio.gather(*callers)
    assert {answer.json()["features"]["symbol"] for answer in answers} == {"NEW"}
    assert [request["refresh"] for request in world.analysis.requests] == [False, True]
    assert (await ask()).json()["features"]["symbol"] == "NEW"
    await ask("?refresh=true")
    assert len(world.analysis.requests) == 3


@pytest.mark.parametrize("left", [0, 1, CROWD // 2])
async def test_callers_who_leave_take_nothing_from_the_others(
    world: World, ask: Get, left: int
) -> None:
    world.analysis.gate.clear()
    callers = [asyncio.create_task(ask()) for _ in range(CROWD)]
    await are_waiting(world, callers)
    for caller in callers[left:]:
        caller.cancel()
    gone = await asyncio.gather(*callers[left:], return_exceptions=True)
    assert all(isinstance(end, asyncio.CancelledError) for end in gone)
    world.analysis.gate.set()
    assert {caller.status_code for caller in await asyncio.gather(*callers[:left])} <= {200}
    assert (await ask()).status_code == 200
    assert len(world.analysis.requests) == 1


async def test_one_failure_is_told_to_all_and_then_forgotten(world: World, ask: Get) -> None:
    world.analysis.gate.clear()
    world.analysis.outcome = UpstreamError(service="node", reason="gone")
    callers = [asyncio.create_task(ask()) for _ in range(CROWD)]
    await are_waiting(world, callers)
    world.analysis.gate.set()
    assert {answer.status_code for answer in await asyncio.gather(*callers)} == {500}
    assert len(world.analysis.requests) == 1
    world.analysis.outcome = make_report()
    assert (await ask()).status_code == 200


async def test_a_caller_who_leaves_was_counted_once(world: World, ledger_key: str) -> None:
    """The call was made; that nobody waited for the answer does not give it back."""
    client = world.client()
    world.analysis.gate.clear()
    caller = asyncio.create_task(client.get(f"/token/1/{TOKEN}", headers={"X-API-Key": ledger_key}))
    await are_waiting(world, [caller])
    caller.cancel()
    await asyncio.gather(caller, return_exceptions=True)
    world.analysis.gate.set()
    await world.aclose()
    assert used(world.ledger, world.clock.now_s) == 1


@pytest.fixture
def ledger_key(world: World) -> str:
    return world.ledger.create_key(PLANS["pro"], "test", world.clock.now_s).plaintext


def used(ledger: Ledger, now_s: float) -> int:
    """Calls today, of the one key there is."""
    (key,) = ledger.list_keys()
    return ledger.usage(key.key_id, now_s).day
