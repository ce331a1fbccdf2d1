"""Protects the pages for people without a key.

Stored reports are for everybody, analyses are within limits of each network and of all of them
together, and nothing private is shared by caches.
"""

import asyncio
from typing import Any
from urllib.robotparser import RobotFileParser

import httpx
import pytest

from analysis.pipeline.analyser import KnownReport
from api.auth.robots import LINK_PREVIEWS
from config.settings import ApiSettings, PublicSettings
from core.errors import TokenRefusedError, UpstreamError
from tests.harness.api.sample_reports import MINED_AT_S, TOKEN, make_report
from tests.harness.api.sign_in import PAGES, PUBLIC, Browser, read
from tests.harness.api.world import World

PAGE = f"/t/ethereum/{TOKEN}"
STORED = KnownReport(report=make_report(symbol="OLD"), is_recent=False, is_running=False)
NEW = make_report(symbol="NEW")


def address(number: int) -> str:
    return f"/t/ethereum/0x{number:040x}"


def public(world: World, **terms: Any) -> httpx.AsyncClient:
    """A client of a deployment with these terms for people without a key."""
    client = world.client(public=PublicSettings(**terms))
    client.headers.update(PAGES)
    return client


@pytest.fixture(autouse=True)
def fresh(world: World) -> None:
    world.analysis.outcome = NEW


async def test_everybody_sees_the_page_of_any_token(world: World) -> None:
    response = await public(world).get(PAGE)
    assert response.status_code == 200
    assert "No problems found" in read(response).text
    assert "NEW" in read(response).text
    assert "api_key" not in response.text


async def test_a_closed_deployment_asks_for_a_key(world: World) -> None:
    response = await public(world, is_open=False).get(PAGE)
    fields = [attributes.get("name") for tag, attributes in read(response).tags if tag == "input"]
    assert (response.status_code, fields) == (200, ["api_key"])
    assert response.headers["cache-control"] == "no-store"
    assert world.analysis.requests == []


async def test_the_api_still_needs_a_key(world: World) -> None:
    client = public(world)
    await client.get(PAGE)
    for rest in ("", "/summary", "/evidence"):
        assert (await client.get(f"/token/1/{TOKEN}{rest}")).status_code == 401


async def test_a_network_has_one_running_analysis(world: World) -> None:
    client = public(world)
    world.analysis.gate.clear()
    first = asyncio.create_task(client.get(address(0x10)))
    await world.analysis.was_asked.wait()
    others = await asyncio.gather(*(client.get(address(number)) for number in range(0x11, 0x15)))
    assert [(each.status_code, each.headers["retry-after"]) for each in others] == [(429, "5")] * 4
    world.analysis.gate.set()
    assert (await first).status_code == 200
    assert (await client.get(address(0x11))).status_code == 200


async def test_pages_opened_at_the_same_time_start_one_analysis_of_a_network(world: World) -> None:
    client = public(world)
    world.analysis.gate.clear()
    opened = [asyncio.create_task(client.get(address(number))) for number in range(0x10, 0x18)]
    await world.analysis.was_asked.wait()
    done, running = await asyncio.wait(opened, timeout=2)
    world.analysis.gate.set()
    assert {task.result().status_code for task in done} == {429}
    assert [(await task).status_code for task in running] == [200]
    assert len(world.analysis.requests) == 1


async def test_a_network_has_so_many_analyses_an_hour(world: World) -> None:
    client = public(world, analyses_per_hour=2)
    statuses = [(await client.get(address(number))).status_code for number in range(0x10, 0x14)]
    assert statuses == [200, 200, 429, 429]
    assert len(world.analysis.requests) == 2
    refused = await client.get(address(0x12))
    assert 1 <= int(refused.headers["retry-after"]) <= 3601
    assert "api_key" in refused.text  # a key can be typed in instead
    text = read(refused).text
    assert "not been analysed yet. Your network has used up its new analyses of this hour" in text
    assert "Try again in 60 minutes, or use a key" in text
    again = await client.get(address(0x10))
    assert again.status_code == 200  # cached: as often as one likes
    world.clock.now_s += 3601
    assert (await client.get(address(0x12))).status_code == 200


async def test_networks_do_not_share_theirs_and_a_proxy_names_them(world: World) -> None:
    client = world.client(
        peer="10.0.0.1",
        public=PublicSettings(analyses_per_hour=1),
        settings=ApiSettings(trusted_proxies=("10.0.0.0/8",)),
    )

    async def status(number: int, client_ip: str) -> int:
        headers = {**PAGES, "X-Forwarded-For": client_ip}
        return (await client.get(address(number), headers=headers)).status_code

    assert await status(0x10, "2001:db8:1:2::1") == 200
    assert await status(0x11, "2001:db8:1:2:ffff::9") == 429  # the same /64
    assert await status(0x11, "2001:db8:1:3::1") == 200
    assert await status(0x12, "198.51.100.1") == 200


async def test_a_crowd_of_networks_has_the_budget_of_the_chain(world: World) -> None:
    client = world.client(
        peer="10.0.0.1",
        public=PublicSettings(analyses_per_hour_and_chain=40),
        settings=ApiSettings(trusted_proxies=("10.0.0.0/8",)),
    )

    async def status(number: int) -> int:
        headers = {**PAGES, "X-Forwarded-For": f"198.51.100.{number}"}
        return (await client.get(address(0x100 + number), headers=headers)).status_code

    async def crowd(first: int, size: int) -> int:
        """Return the number of visitors that get an analysis."""
        found = await asyncio.gather(*map(status, range(first, first + size)))
        assert set(found) <= {200, 429}
        return found.count(200)

    assert await crowd(0, 10) == 2  # a twentieth of it within a minute
    for minute in range(1, 25):
        world.clock.now_s += 61
        await crowd(minute * 10, 3)
    assert len(world.analysis.requests) == 40
    assert (await client.get(address(0x100), headers=PAGES)).status_code == 429  # cached no more


async def test_beyond_the_limit_the_stored_report_is_shown_with_its_age(world: World) -> None:
    world.analysis.known = STORED
    world.clock.now_s = MINED_AT_S + 7_300
    response = await public(world, analyses_per_hour=0).get(PAGE)
    text = read(response).text
    assert response.status_code == 200
    assert "OLD" in text
    assert "Analysed 2 hours ago" in text
    assert "No new analysis can be made without a key right now" in text
    assert world.analysis.requests == []


async def test_without_an_analysis_left_and_nothing_stored_there_is_no_page(world: World) -> None:
    for name in ("analyses_per_hour", "analyses_per_hour_and_chain"):
        response = await public(world, **{name: 0}).get(PAGE)
        assert response.status_code == 403
        assert "retry-after" not in response.headers  # waiting does not help
        assert "New analyses need a key" in read(response).text
    assert world.analysis.requests == []


async def test_the_page_of_a_minute_is_simulated_once(world: World) -> None:
    """Also for other networks. The hour's budget counts simulations, not readers."""
    world.analysis.known = STORED
    client = public(world, analyses_per_hour=1)
    for _ in range(30):
        assert (await client.get(f"{PAGE}/exit")).status_code == 200
        world.clock.now_s += 1.9
    assert len(world.quotes.requests) == 1


async def test_beyond_the_limit_a_page_offers_what_is_kept_with_its_age(world: World) -> None:
    world.analysis.known = STORED
    client = public(world, analyses_per_hour=1)
    new = read(await client.get(f"{PAGE}/exit")).text
    world.clock.now_s += 600
    old = await client.get(f"{PAGE}/exit")
    assert old.status_code == 200
    assert "Each sale was simulated" in read(old).text
    assert "From 10 minutes ago: your network has used up its new simulations" in read(old).text
    assert "minutes ago" not in new
    world.clock.now_s += 3001
    assert "minutes ago" not in read(await client.get(f"{PAGE}/exit")).text
    assert len(world.quotes.requests) == 2


async def test_beyond_the_limit_a_page_without_a_simulation_tells_the_truth(world: World) -> None:
    """The token is analysed: its verdict and the way to its report are there."""
    world.analysis.known = STORED
    client = public(world, analyses_per_hour=1)
    await client.get(f"{PAGE}/exit")
    refused = await client.get(f"{PAGE}/hooks")
    text = read(refused).text
    assert refused.status_code == 429
    assert 3_500 < int(refused.headers["retry-after"]) <= 3_601
    assert "your network has used up its new simulations of this hour" in text
    assert "NEW" in text
    assert "not been analysed" not in text
    assert f'href="{PAGE}"'.lower() in refused.text.lower()


async def test_an_address_that_is_none_costs_no_simulation(world: World) -> None:
    client = public(world, analyses_per_hour=1)
    for _ in range(5):
        response = await client.get("/t/ethereum/0x12/exit")
        assert response.status_code == 422
    assert (await client.get(f"{PAGE}/exit")).status_code == 200


@pytest.mark.parametrize("known", ["recent", "running"])
async def test_what_costs_nothing_is_not_counted(world: World, known: str) -> None:
    world.analysis.known = KnownReport(
        report=NEW if known == "recent" else None,
        is_recent=known == "recent",
        is_running=known == "running",
    )
    assert (await public(world, analyses_per_hour=0).get(PAGE)).status_code == 200


async def test_pages_are_limited_too(world: World) -> None:
    client = public(world, pages_per_minute=3)
    statuses = [(await client.get(PAGE)).status_code for _ in range(5)]
    assert statuses == [200, 200, 200, 429, 429]
    refused = await client.get(PAGE)
    assert int(refused.headers["retry-after"]) <= 61
    assert refused.headers["cache-control"] == "no-store"
    world.clock.now_s += 61
    assert (await client.get(PAGE)).status_code == 200


async def test_a_node_that_hangs_keeps_nobody_waiting(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("api.serving.shown_snapshot.PATIENCE_S", 0.01)
    world.analysis.known = STORED
    world.analysis.gate.clear()
    client = public(world)
    response = await client.get(PAGE)
    assert "OLD" in read(response).text
    assert "under way" in read(response).text
    assert response.headers["cache-control"] == "no-store"
    world.analysis.gate.set()
    await asyncio.sleep(0)
    assert "NEW" in read(await client.get(PAGE)).text
    assert len(world.analysis.requests) == 1  # it went on when the first had its answer


async def test_a_node_that_fails_leaves_what_is_stored(world: World) -> None:
    world.analysis.outcome = UpstreamError(service="node", reason="down")
    assert (await public(world).get(PAGE)).status_code == 500
    world.analysis.known = STORED
    response = await public(world).get(PAGE)
    assert response.status_code == 200
    assert "OLD" in read(response).text
    assert "does not answer right now" in read(response).text


@pytest.mark.parametrize(
    "headers",
    [
        *({"User-Agent": f"{name}/1.0 (+http://example.test)"} for name in LINK_PREVIEWS),
        {"User-Agent": "Mozilla/5.0 (compatible; Googlebot/2.1)"},
        {"User-Agent": "Mozilla/5.0", "Sec-Purpose": "prefetch;prerender"},
    ],
    ids=str,
)
async def test_a_robot_sees_what_is_stored_and_has_nothing_analysed(
    world: World, headers: dict[str, str]
) -> None:
    client = public(world)
    client.headers.update(headers)
    assert (await client.get(PAGE)).status_code == 404
    world.analysis.known = STORED
    assert "OLD" in read(await client.get(PAGE)).text
    assert world.analysis.requests == []


@pytest.mark.parametrize(
    "agent",
    [
        "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/140.0 Safari/537.36",
        "Mozilla/5.0 (Linux; Android 15; Cubot X70) Chrome/140.0 Mobile",
        "curl/8.5.0",
        "",
    ],
)
async def test_a_person_is_no_robot(world: World, agent: str) -> None:
    client = public(world)
    client.headers["User-Agent"] = agent
    assert (await client.get(PAGE)).status_code == 200


async def test_robots_are_told_where_they_may_go(client: httpx.AsyncClient) -> None:
    response = await client.get("/robots.txt")
    assert response.headers["content-type"].startswith("text/plain")
    rules = RobotFileParser()
    rules.parse(response.text.splitlines())
    assert rules.can_fetch("Twitterbot", PAGE)
    assert not rules.can_fetch("Twitterbot", "/search?q=x")
    assert not rules.can_fetch("Googlebot", PAGE)
    assert not rules.can_fetch("Googlebot", "/token/1/0x1")


async def test_a_settled_page_is_shared_shortly_and_told_unchanged(world: World) -> None:
    client = public(world)
    first = await client.get(PAGE)
    assert first.headers["cache-control"] == "public, max-age=15"
    assert {"Cookie", "X-API-Key"} <= set(first.headers["vary"].split(", "))
    again = await client.get(PAGE, headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["etag"] == first.headers["etag"]
    assert again.headers["content-security-policy"] == first.headers["content-security-policy"]


async def test_a_pending_page_and_a_refusal_are_not_shared(world: World) -> None:
    world.analysis.outcome = make_report(is_settled=False)
    pending = await public(world).get(PAGE)
    assert (pending.status_code, pending.headers["cache-control"]) == (200, "no-store")
    world.analysis.outcome = TokenRefusedError(code="not_a_token", reason="no ERC-20")
    refused = await public(world).get(PAGE)
    assert (refused.status_code, refused.headers["cache-control"]) == (422, "no-store")


async def test_a_key_counts_whatever_the_public_limits_are(world: World) -> None:
    key = world.new_key("trial")
    client = public(world, analyses_per_hour=0, pages_per_minute=1)
    for number in range(0x10, 0x13):
        response = await client.get(address(number), headers={"X-API-Key": key})
        assert (response.status_code, response.headers["cache-control"]) == (200, "no-store")
    form = await client.post(address(0x20), data={"api_key": key})
    assert (form.status_code, form.headers["cache-control"]) == (200, "no-store")
    assert len(world.analysis.requests) == 4


async def test_who_is_signed_in_without_a_key_is_as_everybody(browser: Browser) -> None:
    await browser.sign_in("alice")
    response = await browser.client.get(PUBLIC + PAGE)
    assert response.status_code == 200
    assert response.headers["cache-control"] == "no-store"  # their name is on it
    assert "Your keys" in read(response).text
