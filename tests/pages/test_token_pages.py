"""Protects the page of a token in a real browser: real tokens, analysed on a real node.

Every visit has the same conditions: no console message, no request to another host, nothing wider
than the window, no finding of axe-core. Pictures are kept in `.cache/screenshots`.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from analysis.pipeline.analyser import Analyser
from analysis.pipeline.chain_context import ChainContext
from analysis.pipeline.scan import ChainScanner
from analysis.reads.node import Node
from assay.demo.zoo_token import Animal
from assay.service.store_adapter import ReportStore
from config.settings import AnalysisSettings, ApiSettings, PublicSettings
from core.evm.primitives import Address, BlockRef
from core.rpc.messages import RpcAnswer, RpcRequest
from sql.engine.store import Store
from tests.harness.api.open_port import listening
from tests.harness.api.world import World
from tests.harness.browser.chromium import SCREENSHOTS, Chromium, Seen, Visit
from tests.harness.chain.transactions import Chain
from tests.harness.store.empty_files import new_ledger

SLUG = "ethereum"
HOSTILE = '<img src=x onerror="alert(1)">\u202eEFAS\u2066{{7*7}}' + "Z" * 1_000

SETTLED = '#token[data-pending=""]'
PENDING = '#token[data-pending="1"]'


class Wire:
    """A real node whose simulations, or all answers, can be kept waiting."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self.simulates, self.answers = asyncio.Event(), asyncio.Event()
        self.simulates.set()
        self.answers.set()

    async def fetch_head(self) -> BlockRef:
        await self.answers.wait()
        return await self._node.fetch_head()

    async def batch(self, requests: Sequence[RpcRequest]) -> list[RpcAnswer]:
        await self.answers.wait()
        if any(request.method == "eth_simulateV1" for request in requests):
            await self.simulates.wait()
        return await self._node.batch(requests)


class Site(msgspec.Struct):
    """The service on a free port, and the gate before its simulations."""

    url: str
    node: Wire
    chain: Chain
    chromium: Chromium

    def page(self, key: str) -> str:
        return self.page_of(self.chain.world.token(key).address)

    def page_of(self, token: Address) -> str:
        return f"{self.url}/t/{SLUG}/{token}"

    async def look(self, url: str, **wishes: object) -> Seen:
        """One visit, with the conditions of every page."""
        visit = msgspec.convert({"url": url, **wishes}, Visit)
        seen = await asyncio.to_thread(self.chromium.visit, visit)
        # Chromium reports a page's own status as if it were a fault of the page.
        assert [each for each in seen.console if f"status of {seen.status}" not in each] == []
        assert [each for each in seen.requests if not each.startswith(self.url)] == []
        assert seen.overflow == 0
        assert seen.broken == ()
        assert seen.scripts == 0
        assert seen.violations == ()
        return seen


@pytest.fixture
async def site(
    request: pytest.FixtureRequest,
    chain: Chain,
    context: ChainContext,
    tmp_path: Path,
    chromium: Chromium,
) -> AsyncIterator[Site]:
    """Run the service; the parameter is the age in seconds after which a report is renewed."""
    refresh_after_s = getattr(request, "param", 300.0)
    store = Store.open(tmp_path / "store.duckdb")
    node, settings = (
        Wire(context.node),
        AnalysisSettings(wait_s=2.0, refresh_after_s=refresh_after_s),
    )
    report_store = ReportStore(store, settings)
    gated = ChainContext(
        chain=context.chain, node=node, index=report_store, settings=settings, now_s=time.time
    )
    analyser = Analyser({SLUG: ChainScanner(gated)}, report_store, settings, time.time)
    with closing(store), closing(new_ledger(tmp_path / "ledger.sqlite")) as ledger:
        app = World(ledger).make_app(
            analysis=analyser,
            chains=(context.chain,),
            served=frozenset({SLUG}),
            store=store,
            settings=ApiSettings(cache_s=0.0),
            public=PublicSettings(analyses_per_hour=1_000, analyses_per_hour_and_chain=20_000),
            now_s=time.time,
            monotonic_s=time.monotonic,
        )
        async with listening(app) as port:
            yield Site(f"http://127.0.0.1:{port}", node, chain, chromium)
        await app.aclose()
    await analyser.aclose()


def picture(name: str) -> str:
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    return str(SCREENSHOTS / f"{name}.png")


ALL_TABS = ("exit", "liquidity", "hooks", "census", "kin")
"""Pages of the tabs; each keeps name, verdict and search box."""

SIGHTS = (
    ("honest", "No problems found: HONEST", "No problems found"),
    ("sell_blocked", "Danger: TRAP", "You can buy it, but only the owner can sell it"),
    ("drain_keeper", "Danger: KEEP", "can take tokens out of your wallet"),
    ("proxy_1967", "Warning: PROXY", "its code can be replaced at any time"),
)


@pytest.mark.parametrize(("key", "title", "headline"), SIGHTS)
async def test_a_page_says_what_is_wrong_at_every_width_and_in_the_dark(
    site: Site, key: str, title: str, headline: str
) -> None:
    backgrounds = set()
    for width, scheme in ((360, "light"), (1280, "light"), (360, "dark"), (1280, "dark")):
        seen = await site.look(
            site.page(key),
            width=width,
            scheme=scheme,
            until=SETTLED,
            has_axe=(width, scheme) in ((360, "light"), (1280, "dark")),
            screenshot=picture(f"{key}-{width}-{scheme}"),
        )
        assert seen.title.startswith(title)
        assert headline in seen.text
        backgrounds.add((scheme, seen.background))
    assert len(backgrounds) == 2


async def test_every_tab_keeps_name_verdict_and_search(site: Site) -> None:
    await site.look(site.page("v4_hook"), until=SETTLED)
    for tab in ALL_TABS:
        for width, scheme in ((360, "light"), (1280, "dark")):
            seen = await site.look(
                f"{site.page('v4_hook')}/{tab}",
                width=width,
                scheme=scheme,
                has_axe=True,
                screenshot=picture(f"tab-{tab}-{width}-{scheme}"),
            )
            assert seen.title.startswith("No problems found: HOOK")
            assert "You pay 2 % tax on buys and 4 % tax on sales" in seen.text
            assert "Findings" in seen.text


async def test_parts_under_way_fill_in_by_themselves(site: Site) -> None:
    site.node.simulates.clear()
    page = site.page("sell_tax")
    early = await site.look(page, until=PENDING, has_axe=True, screenshot=picture("pending"))
    assert "Parts are still being simulated" in early.text
    assert "Trades are still being simulated" in early.text

    async def open_soon() -> None:
        await asyncio.sleep(0.5)
        site.node.simulates.set()

    seen, _ = await asyncio.gather(site.look(page, until=SETTLED), open_soon())
    assert "STAX" in seen.first_title
    assert "You pay 12 % tax on sales" in seen.text
    assert seen.title.startswith("Warning: STAX")
    assert "still being simulated" not in seen.text


async def test_without_a_script_all_is_there(site: Site) -> None:
    page = site.page("sell_blocked")
    await site.look(page, until=SETTLED)
    seen = await site.look(page, has_script=False, width=360)
    assert "You can buy it, but only the owner can sell it" in seen.text
    assert "Copy" not in seen.text
    assert seen.open == ()


async def test_unknown_is_shown_as_unknown(site: Site) -> None:
    seen = await site.look(
        site.page("thin"), until=SETTLED, has_axe=True, screenshot=picture("unknown-1280-light")
    )
    assert "Its largest pool holds only $90, so no trades were tested" in seen.text
    assert "What sales are taxed, now and later" in seen.text
    assert "not tested" in seen.text
    assert "safe" not in seen.text.lower().replace("unknown is not the same as safe", "")


async def test_what_was_refused_is_no_verdict(site: Site) -> None:
    seen = await site.look(site.page("symbol_reverts"), has_axe=True, width=360)
    assert seen.status == 422
    assert "Not analysed: The contract does not answer symbol(): no symbol" in seen.text


async def test_a_hostile_name_is_inert(site: Site) -> None:
    token = site.chain.place(Animal(key="hostile", trait="hostile", symbol=HOSTILE))
    seen = await site.look(
        site.page_of(token.address),
        width=360,
        until=SETTLED,
        has_axe=True,
        screenshot=picture("hostile-360-light"),
    )
    assert "\u202e" not in seen.text
    assert "\u2066" not in seen.text
    assert "U+202E" in seen.text
    assert "<img src=x" in seen.text
    assert "Z" * 100 not in seen.text
    assert "\u202e" not in seen.title


async def test_the_keyboard_reaches_everything_and_is_seen(site: Site) -> None:
    seen = await site.look(site.page("sell_blocked"), until=SETTLED, tabs=40)
    words = [f"{each.tag} {each.text}" for each in seen.path]
    assert words[0] == "a Skip to the content"
    assert "button Check again" in words
    assert "button Copy address" in words
    assert any("only the owner can sell" in each for each in words)
    assert [each for each in seen.path if not each.outline] == []
    opened = await site.look(site.page("sell_blocked"), until=SETTLED, opens=True)
    await site.look(site.page("sell_blocked"), width=360, unfolds=True, has_axe=True)
    assert any("only the owner can sell" in each for each in opened.open)
    assert "TRANSFER_FROM_FAILED" in opened.text
    assert "reverts if address(storage(5)) != caller" in opened.text


async def test_an_address_is_copied(site: Site) -> None:
    token = site.chain.world.token("honest").address
    seen = await site.look(site.page("honest"), until=SETTLED, copies=True)
    assert seen.copied is not None
    assert seen.copied.lower() == token


@pytest.mark.parametrize("site", [0.0], indirect=True)
async def test_the_page_of_a_frozen_node_is_what_is_stored(site: Site) -> None:
    page = site.page("honest")
    await site.look(page, until=SETTLED)
    site.node.answers.clear()
    again = 'button:has-text("Check again")'
    seen = await site.look(page, clicks=(again,), then=PENDING)
    site.node.answers.set()
    assert seen.url.lower() == page
    assert "A new analysis is under way" in seen.text
    assert "Analysed " in seen.text
    assert "No problems found" in seen.text
