"""Protects pages other than a token's in a real browser: narrow and wide, light and dark."""

import asyncio
from typing import Final, Literal

import pytest

from api.deps import Prefill
from config.settings import PublicSettings
from sql.accounts.accounts import Accounts
from sql.engine.store import Store
from tests.harness.api.open_port import listening
from tests.harness.api.sample_reports import TOKEN, TOKEN_SHOWN, make_pool
from tests.harness.api.sign_in import PLAIN, Street
from tests.harness.api.stored_tokens import fill, token
from tests.harness.api.world import CHAINS, PLANS, World
from tests.harness.browser.chromium import SCREENSHOTS, Chromium, Cookie, Visit

SESSION = "assay_session"
"""The session's cookie without https."""

SIZES: Final[tuple[tuple[int, Literal["light", "dark"]], ...]] = ((360, "light"), (1280, "dark"))


def picture(name: str) -> str:
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    return str(SCREENSHOTS / f"{name}.png")


async def look(chromium: Chromium, url: str, *, name: str, cookies: tuple[Cookie, ...] = ()) -> str:
    """The text of a page that holds at every size."""
    text = ""
    for width, scheme in SIZES:
        visit = Visit(
            url=url,
            width=width,
            scheme=scheme,
            has_axe=True,
            cookies=cookies,
            screenshot=picture(f"{name}-{width}-{scheme}"),
        )
        seen = await asyncio.to_thread(chromium.visit, visit)
        assert seen.console == ()
        assert seen.violations == ()
        assert seen.overflow == 0
        assert seen.broken == ()
        origin = url.split("/", 3)[2]
        assert [
            each for each in seen.requests if each.split("/", 3)[2:3] not in ([origin], [])
        ] == []
        text = seen.text
    return text


async def test_the_front_page_and_searches(
    world: World, world_store: Store, chromium: Chromium
) -> None:
    fill(
        world_store,
        token(1, "PEPE", "Pepe", usd=5e6),
        token(2, "\u0420EPE", "\u202e<script>alert(1)</script>", usd=7e4),
        token(3, "ANY", "W" * 10_000, usd=1e5, pool=make_pool(sell="refused", sell_tax=None)),
        token(4, "W" * 300, usd=3e5),
    )
    app = world.make_app(store=world_store, served=frozenset(chain.slug for chain in CHAINS))
    world.keep(app)
    async with listening(app) as port:
        url = f"http://127.0.0.1:{port}"
        front = await look(chromium, f"{url}/", name="front")
        assert "Can this token be bought, sold and kept?" in front
        found = await look(chromium, f"{url}/search?q=pepe", name="search")
        assert "U+202E" in found
        assert "written with other characters" in found
        choice = await look(chromium, f"{url}/search?q=0x{'12' * 20}", name="choice")
        assert "On which chain?" in choice


async def test_a_search_needs_neither_mouse_nor_script(
    world: World, world_store: Store, chromium: Chromium
) -> None:
    fill(world_store, token(1, "PEPE", "Pepe", usd=5e6))
    app = world.make_app(store=world_store)
    world.keep(app)
    async with listening(app) as port:
        visit = Visit(
            url=f"http://127.0.0.1:{port}/", width=360, has_script=False, typed="pepe", tabs=12
        )
        seen = await asyncio.to_thread(chromium.visit, visit)
    assert seen.url.endswith("/search?q=pepe&chain=")
    assert "$50k liquidity" in seen.text
    assert all(focused.outline for focused in seen.path)
    assert "PEPE" in [focused.text for focused in seen.path]


TRIED = ("#operations-tokens-getToken .opblock-summary-control", ".try-out__btn", ".execute")
"""Selectors that a reader clicks to call an operation."""
ANSWERED = ".live-responses-table .response-col_status"


@pytest.mark.parametrize(("width", "scheme"), SIZES)
async def test_the_api_browser_calls_an_operation_with_the_demos_key(
    world: World, chromium: Chromium, width: int, scheme: Literal["light", "dark"]
) -> None:
    prefill = Prefill(api_key=world.new_key(), chain="ethereum", address=TOKEN_SHOWN)
    app = world.make_app(prefill=prefill)
    world.keep(app)
    async with listening(app) as port:
        url = f"http://127.0.0.1:{port}"
        visit = Visit(
            url=f"{url}/browse",
            width=width,
            scheme=scheme,
            clicks=TRIED,
            then=ANSWERED,
            has_axe=True,
            screenshot=picture(f"browse-{width}-{scheme}"),
        )
        seen = await asyncio.to_thread(chromium.visit, visit)
    assert seen.console == ()
    assert seen.violations == ()
    assert seen.overflow == 0
    assert [each for each in seen.requests if not each.startswith((url, "data:", "blob:"))] == []
    called = [each.partition("?")[0] for each in seen.requests]
    assert called.count(f"{url}/token/ethereum/{TOKEN_SHOWN}") == 1
    assert f'"contract_address": "{TOKEN_SHOWN}"' in seen.text
    assert [request["address"] for request in world.analysis.requests] == [TOKEN]


async def test_the_form_that_asks_for_a_key(world: World, chromium: Chromium) -> None:
    app = world.make_app(public=PublicSettings(is_open=False))
    world.keep(app)
    async with listening(app) as port:
        url = f"http://127.0.0.1:{port}/t/ethereum/{TOKEN}"
        assert "API key" in await look(chromium, url, name="ask")


async def test_the_dashboard_with_keys(world: World, street: Street, chromium: Chromium) -> None:
    browser = street.browser(public_url=PLAIN)
    await browser.sign_in("alice", origin=PLAIN)
    for label in ("trading bot", "W" * 100, "<b>bold</b>"):
        Accounts(world.ledger).create_key(1, PLANS["developer"], label, world.clock.now_s)
    session = browser.client.cookies[SESSION]
    async with listening(browser.app) as port:
        url = f"http://localhost:{port}"
        cookies = (Cookie(name=SESSION, value=session, url=url),)
        text = await look(chromium, f"{url}/dashboard", name="dashboard", cookies=cookies)
    assert "trading bot" in text
    assert "<b>bold</b>" in text
