"""Protects the page of a token: every check appears once, with its meaning, for any report.

Nothing on it comes from another report, another host or the token itself unescaped.
"""

import asyncio
import io
from collections import Counter

import httpx
import msgspec
import pytest
from hypothesis import given, settings
from PIL import Image

from analysis.market.token_price import TokenPrice
from analysis.pipeline.analyser import KnownReport
from api.formats.prose.check_words import CHECK_WORDS
from api.formats.prose.function_names import function_name
from api.formats.prose.prose import short_word
from api.formats.rendering import native_of, summary_of
from api.formats.token_snapshot import take_snapshot
from api.pages.page_rendering import page
from api.pages.share_card import draw_card
from api.pages.views.token_view import TokenView, view_token
from config.facts.chain import Chain, Locker
from config.settings import PublicSettings
from core.errors import UpstreamError
from core.evm.primitives import Address, Hash32, Selector, to_hash32
from core.report.report import EvidenceRow, Report
from tests.harness.api.sample_reports import (
    DEAD,
    LIQUID_USD,
    MINED_AT_S,
    OWNER,
    PAIR,
    TOKEN,
    make_holder,
    make_limit,
    make_pool,
    make_report,
    reports,
)
from tests.harness.api.sign_in import PAGES, read
from tests.harness.api.world import World, make_chain
from tests.harness.examples import one_in

PAGE = f"/t/ethereum/{TOKEN}"
CARD = f"{PAGE}/card.png"
REFRESH = f"{PAGE}/refresh"
HOSTILE = "<script>alert(1)</script>{{ 7*7 }}\u202eevil\u0000" + "x" * 10_000
ETHEREUM = make_chain(1, "ethereum")


def view(report: Report, chain: Chain = ETHEREUM) -> TokenView:
    snapshot = take_snapshot(report, chain, now_s=MINED_AT_S, liquid_above_usd=LIQUID_USD)
    return view_token(snapshot, now_s=MINED_AT_S)


def html_of(report: Report, chain: Chain = ETHEREUM) -> str:
    response = page(
        "token.html",
        token=view(report, chain),
        likeness=None,
        old_because=None,
        card_url="",
        visitor=None,
    )
    return str(response.content)


@given(reports())
def test_every_check_is_in_the_group_of_its_status(report: Report) -> None:
    snapshot = take_snapshot(report, ETHEREUM, now_s=MINED_AT_S, liquid_above_usd=LIQUID_USD)
    summary = summary_of(snapshot, native_of(snapshot))
    shown = view(report)
    statuses = {flag.key: flag.status for flag in summary.flags}
    groups = {
        "wrong": shown.findings.wrong,
        "known": shown.findings.known,
        "unknown": shown.findings.unknown,
        "fine": shown.findings.fine,
    }
    wanted = {
        "wrong": ("danger", "warning"),
        "known": ("info", "notice"),
        "unknown": ("unknown",),
        "fine": ("safe",),
    }
    for group, lines in groups.items():
        assert all(statuses.get(line.key, "unknown") in wanted[group] for line in lines)
        present = {status for status in statuses.values() if status in wanted[group]}
        assert bool(lines) is bool(present)
    texts = Counter(line.text for lines in groups.values() for line in lines)
    assert max(texts.values()) == 1
    fine = {words.fine.capitalize() for words in CHECK_WORDS.values()}
    assert not fine & {line.text.capitalize() for line in (*shown.findings.wrong,)}


@settings(max_examples=one_in(5))
@given(reports())
def test_any_report_is_a_page_and_a_card(report: Report) -> None:
    text = html_of(report)
    assert text.count("<main") == 1
    assert len(text) < 100_000
    assert draw_card(view(report)).startswith(b"\x89PNG")


@given(reports())
def test_parts_of_the_supply_never_leave_the_bar(report: Report) -> None:
    for part in view(report).holders:
        assert 0 <= part.start <= part.start + part.share <= 1 + 1e-9


def test_holders_are_told_by_what_they_are() -> None:
    wallet, contract = (f"0x{digit * 40}" for digit in "12")
    kinds = f'{{"accounts": ["{wallet}"], "contracts": ["{contract}"]}}'
    report = make_report(
        owner_address=OWNER,
        ownership_renounced=False,
        creator_address=None,
        holders=(
            make_holder(DEAD, 10**23, role="burn"),
            make_holder(PAIR, 5 * 10**23),
            make_holder(OWNER, 2 * 10**23, at=1),
            make_holder(Address(wallet), 10**22, at=2),
            make_holder(Address(contract), 10**21, at=3),
        ),
    )
    proofs = (EvidenceRow(key="holder_kinds", body=kinds),)
    shown = view(msgspec.structs.replace(report, evidence=proofs)).holders
    assert [(part.kind, part.percent) for part in shown] == [
        ("pool", "50 %"),
        ("owner", "20 %"),
        ("burn", "10 %"),
        ("wallet", "1 %"),
        ("contract", "0.1 %"),
        ("others", "18.9 %"),
    ]


def test_what_lies_in_a_known_lock_is_a_lock_and_no_single_holder() -> None:
    lock, other = Address(f"0x{'5' * 40}"), Address(f"0x{'6' * 40}")
    holders = (
        make_holder(lock, 5 * 10**23),
        make_holder(other, 15 * 10**22, at=1),
        make_holder(PAIR, 35 * 10**22, at=2),
    )
    report = make_report(holders=holders)
    plain = view(report)
    assert [part.kind for part in plain.holders] == ["holder", "pool", "holder"]
    assert "one holder, 0x5555…5555, holds 50 % of the supply" in plain.head.headline
    chain = msgspec.structs.replace(
        ETHEREUM, lockers=(Locker(name="Vault & Co", contracts=(lock,)),)
    )
    locked = view(report, chain)
    assert [(part.kind, part.words) for part in locked.holders] == [
        ("lock", "lock: Vault & Co"),
        ("pool", "pool"),
        ("holder", "wallet or contract"),
    ]
    assert "holder_concentration" not in {line.key for line in locked.findings.wrong}
    assert "lock: Vault &amp; Co" in html_of(report, chain)


def test_dates_stand_in_order_with_the_analysis_among_them() -> None:
    limits = (make_limit(4_102_444_800, compared_with="timestamp"),)
    dates = view(make_report(clock_limits=limits)).dates
    assert [(date.day, date.is_ahead) for date in dates][-1] == ("1 January 2100", True)
    assert [date.at for date in dates] == sorted(date.at for date in dates)
    assert view(make_report()).dates == ()


def test_a_proof_names_function_slot_and_value() -> None:
    slot, value = to_hash32(5), to_hash32(int(OWNER, 16))
    body = {"selectors": ["0x40c10f19", "0xdeadbeef"], "pcs": [77], "slots": [slot], "reason": None}
    rows = (
        EvidenceRow(key="mint_or_burn_function", body=msgspec.json.encode(body).decode()),
        EvidenceRow(key="storage", body=msgspec.json.encode({"words": {slot: value}}).decode()),
    )
    report = make_report(
        static=msgspec.structs.replace(make_report().static, mint_or_burn_function=True)
    )
    (line,) = [
        line
        for line in view(msgspec.structs.replace(report, evidence=rows)).findings.wrong
        if line.key == "mint_or_burn_function"
    ]
    (proof,) = line.proofs
    assert [(each.selector, each.name) for each in proof.functions] == [
        ("0x40c10f19", "mint(address,uint256)"),
        ("0xdeadbeef", None),
    ]
    assert [(each.slot, each.value) for each in proof.slots] == [(slot, value)]
    assert proof.places == (77,)


@pytest.mark.parametrize(
    ("word", "text"),
    [
        (to_hash32(0), "0x0"),
        (to_hash32(5), "0x5"),
        (to_hash32(int(OWNER, 16)), f"0x{OWNER.removeprefix('0x').lstrip('0')}"),
        ("0x" + "ab" * 32, "0xabababab…abababab"),
    ],
)
def test_words_are_shown_without_zeros_in_front(word: str, text: str) -> None:
    assert short_word(Hash32(word)) == text


def test_functions_have_the_names_of_their_selectors() -> None:
    assert function_name(Selector("0xa9059cbb")) == "transfer(address,uint256)"
    assert function_name(Selector("0x00000000")) == "fallback"
    assert function_name(Selector("0xffffffff")) is None


def test_hostile_texts_are_inert_and_short() -> None:
    pool = make_pool(sell="refused", sell_tax=None, error_message=f"sell: {HOSTILE}")
    text = html_of(make_report(name=HOSTILE, symbol=HOSTILE, pools=(pool,), transfer_success=False))
    assert "<script>alert" not in text
    assert "\u202e" not in text
    assert "\u0000" not in text
    assert "x" * 200 not in text
    assert draw_card(view(make_report(name=HOSTILE, symbol=HOSTILE))).startswith(b"\x89PNG")


async def test_every_page_of_a_token_has_the_same_sentence(world: World) -> None:
    """Also one that is made from what is cached."""
    holder = {"address": OWNER, "kind": None, "share_pct": 100.0, "can_withdraw": True}
    body = msgspec.json.encode({"risk": "withdrawable", "holders": [holder]}).decode()
    report = make_report(liquidity_risk="withdrawable", owner_address=OWNER)
    row = EvidenceRow(key="liquidity_risk", body=body)
    world.analysis.outcome = msgspec.structs.replace(report, evidence=(row,))
    client = world.client()
    for path in ("", "/exit", "/liquidity", "/hooks"):
        text = (await client.get(f"{PAGE}{path}", headers=PAGES)).text
        assert "the creator can withdraw all the liquidity at any time" in text, path


async def test_own_script_and_style_stay_small_and_load_from_here(
    client: httpx.AsyncClient,
) -> None:
    response = await client.get(PAGE, headers=PAGES)
    files = [
        str(attributes.get("src") or attributes.get("href"))
        for tag, attributes in read(response).tags
        if tag in ("script", "link")
    ]
    loaded = [file for file in files if file.startswith("/assets/")]
    assert set(files) - set(loaded) <= {"data:,"}
    sizes = [len((await client.get(file)).content) for file in loaded]
    assert len(sizes) == 3
    assert sum(sizes) < 100_000
    assert "style=" not in response.text
    assert " onclick" not in response.text


async def test_the_card_is_of_what_is_stored_and_costs_nothing(
    world: World, client: httpx.AsyncClient
) -> None:
    assert (await client.get(CARD)).status_code == 404
    world.analysis.known = KnownReport(report=make_report(), is_recent=False, is_running=False)
    response = await client.get(CARD)
    assert response.status_code == 200
    assert response.headers["content-type"] == "image/png"
    assert response.headers["cache-control"] == "public, max-age=300"
    assert Image.open(io.BytesIO(response.content)).size == (1200, 630)
    assert (await client.get("/t/ethereum/0x12/card.png")).status_code == 404
    assert world.analysis.requests == []
    closed = world.client(public=PublicSettings(is_open=False))
    assert (await closed.get(CARD)).status_code == 404


@pytest.mark.parametrize(
    ("price", "text"),
    [
        (
            TokenPrice(usd=2.5, source="aggregator", service="DexScreener", read_at_s=MINED_AT_S),
            "Price by DexScreener$2.5, just now",
        ),
        (
            TokenPrice(usd=0.5, source="network_token_info", age_s=7_200),
            "Price in its last trade$0.5, 2 hours ago",
        ),
        (None, ""),
    ],
)
async def test_a_price_from_elsewhere_has_its_source_and_time(
    world: World, price: TokenPrice | None, text: str
) -> None:
    async def read_price(_chain: str, _report: Report) -> TokenPrice | None:
        return price

    shown = read(await world.client(read_price=read_price).get(PAGE, headers=PAGES)).text
    assert text in " ".join(shown.split())
    assert ("Price by" in shown or "last trade" in shown) is (price is not None)


async def test_a_market_data_service_that_hangs_or_fails_keeps_nobody_waiting(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("api.routes.token_page._PRICE_PATIENCE_S", 0.01)
    requested, gate = [], asyncio.Event()

    async def read_price(_chain: str, _report: Report) -> TokenPrice | None:
        requested.append(1)
        if len(requested) == 1:
            raise UpstreamError(service="prices", reason="down")
        await gate.wait()
        return TokenPrice(usd=7.0, source="aggregator", service="DexScreener", read_at_s=1)

    client = world.client(read_price=read_price)
    for _ in range(3):
        response = await client.get(PAGE, headers=PAGES)
        assert response.status_code == 200
        assert "Price by" not in response.text
    gate.set()
    await asyncio.sleep(0)
    assert "Price by DexScreener" in (await client.get(PAGE, headers=PAGES)).text
    assert len(requested) == 2  # shared by all who waited


OWN = {**PAGES, "Sec-Fetch-Site": "same-origin", "Origin": "http://testserver.local"}


async def test_analyse_again_makes_one_new_analysis_within_the_limits(world: World) -> None:
    client = world.client(public=PublicSettings(analyses_per_hour=1))
    page_shown = read(await client.get(PAGE, headers=PAGES))
    forms = [attributes for tag, attributes in page_shown.tags if tag == "form"]
    assert [(form["method"], str(form["action"]).lower()) for form in forms] == [
        ("get", "/search"),
        ("post", REFRESH),
    ]
    world.analysis.requests.clear()
    client = world.client(public=PublicSettings(analyses_per_hour=1))
    for _ in range(2):
        response = await client.post(REFRESH, headers=OWN)
        assert (response.status_code, response.headers["location"]) == (303, PAGE)
    assert [request["refresh"] for request in world.analysis.requests] == [True]


async def test_a_robot_makes_no_analysis_by_that(world: World) -> None:
    agent = {**OWN, "User-Agent": "Mozilla/5.0 (compatible; Googlebot/2.1)"}
    response = await world.client().post(REFRESH, headers=agent)
    assert (response.status_code, world.analysis.requests) == (303, [])


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 303),  # no browser
        ({"Sec-Fetch-Site": "none"}, 303),  # typed, or sent again by its reader
        ({"Sec-Fetch-Site": "same-origin", "Origin": "https://behind-a-proxy.example"}, 303),
        ({"Origin": "HTTP://host.example:8000"}, 303),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site", "Origin": "http://host.example:8000"}, 403),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "http://host.example"}, 403),
        ({"Origin": "http://host.example:8000.evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": ""}, 403),
    ],
    ids=str,
)
async def test_a_page_of_another_site_starts_no_analysis(
    world: World, headers: dict[str, str], status: int
) -> None:
    asked_of = {"Host": "host.example:8000"}
    response = await world.client().post(REFRESH, headers={**PAGES, **asked_of, **headers})
    assert response.status_code == status
    assert len(world.analysis.requests) == (1 if status == 303 else 0)


async def test_opening_a_page_never_makes_its_analysis_anew(world: World) -> None:
    response = await world.client().get(f"{PAGE}?refresh=1", headers=PAGES)
    assert response.status_code == 200
    assert [request["refresh"] for request in world.analysis.requests] == [False]
    assert (await world.client().get(REFRESH, headers=PAGES)).status_code == 405


@pytest.mark.parametrize("kind", ["image", "iframe", "empty", "script"])
async def test_a_page_of_another_site_that_loads_this_one_spends_nothing(
    world: World, kind: str
) -> None:
    headers = {**PAGES, "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": kind}
    assert (await world.client().get(PAGE, headers=headers)).status_code == 404
    assert world.analysis.requests == []
    link = {**headers, "Sec-Fetch-Dest": "document"}
    assert (await world.client().get(PAGE, headers=link)).status_code == 200


async def test_parts_under_way_are_asked_for_again_also_without_a_script(world: World) -> None:
    pending = make_pool(buy="pending", sell="pending", buy_tax=None, sell_tax=None)
    world.analysis.outcome = make_report(pools=(pending,), is_settled=False)
    text = (await world.client().get(PAGE, headers=PAGES)).text
    assert '<noscript><meta http-equiv="refresh" content="3"></noscript>' in text
    assert 'data-pending="1"' in text
    world.analysis.outcome = make_report()
    settled = (await world.client().get(PAGE, headers=PAGES)).text
    assert "http-equiv" not in settled
    assert 'data-pending=""' in settled


async def test_no_address_on_the_page_comes_from_the_caller(client: httpx.AsyncClient) -> None:
    """Caches keep the page for others."""
    response = await client.get(PAGE, headers={"Host": "evil.example"})
    assert response.status_code == 200
    assert "evil.example" not in response.text
