"""Protects the pages beside a token's in a real browser: narrow and wide, light and dark."""

import asyncio

from config.settings_model import PublicSettings
from harness.api.samples import TOKEN
from harness.api.world import PLANS, World
from sql.accounts import Accounts
from tests.api.people import PLAIN, Street
from tests.browser.chromium import SCREENSHOTS, Chromium, Cookie, Visit
from tests.browser.listening import listening

SESSION = "assay_session"
"""The session's cookie without https."""

SIZES = ((360, "light"), (1280, "dark"))


async def look(chromium: Chromium, url: str, *, name: str, cookies: tuple[Cookie, ...] = ()) -> str:
    """The text of a page that holds at every size."""
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    text = ""
    for width, scheme in SIZES:
        visit = Visit(
            url=url,
            width=width,
            scheme=scheme,  # type: ignore[arg-type]  # one of the two
            has_axe=True,
            cookies=cookies,
            screenshot=str(SCREENSHOTS / f"{name}-{width}-{scheme}.png"),
        )
        seen = await asyncio.to_thread(chromium.visit, visit)
        assert seen.console == ()
        assert seen.violations == ()
        assert seen.overflow == 0
        origin = url.split("/", 3)[2]
        assert [
            each for each in seen.requests if each.split("/", 3)[2:3] not in ([origin], [])
        ] == []
        text = seen.text
    return text


async def test_the_front_page_and_a_search(world: World, chromium: Chromium) -> None:
    app = world.make_app()
    world.keep(app)
    async with listening(app) as port:
        url = f"http://127.0.0.1:{port}"
        front = await look(chromium, f"{url}/", name="front")
        assert "Can this token be bought, sold and kept?" in front
        await look(chromium, f"{url}/search?q=nothing", name="search")


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
