"""Protects the front page, searches, and the meaning of a typed text."""

import re
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.search.query import SearchQuery, read_query
from config.settings import PublicSettings
from core.errors import TokenRefusedError
from core.evm.primitives import Address, checksum
from sql.chain.pool_tables import insert_pools
from sql.engine.store import Store
from tests.harness.api.sample_reports import make_pool
from tests.harness.api.sign_in import PAGES, PUBLIC, Street, read
from tests.harness.api.stored_tokens import address, fill, token
from tests.harness.api.world import CHAINS, World
from tests.harness.built_in_chains import BUILT_IN_CHAINS
from tests.harness.store.sample_rows import pool

BOTH = frozenset(chain.slug for chain in CHAINS)


def client_of(world: World, store: Store, **changes: Any) -> httpx.AsyncClient:
    client = world.client(store=store, **changes)
    client.headers.update(PAGES)
    return client


LISTED = re.compile(r'(?:class="token-name">|<li>)<a href="([^"]+)"')


def links(response: httpx.Response) -> list[str]:
    """The tokens that a page lists, in order."""
    return LISTED.findall(response.text)


def page_of(number: int, chain: str = "ethereum") -> str:
    return f"/t/{chain}/{checksum(address(number))}"


async def find(client: httpx.AsyncClient, text: str, chain: str = "") -> httpx.Response:
    response = await client.get("/search", params={"q": text, "chain": chain})
    assert response.status_code == 200, response.text
    return response


async def test_the_front_page_has_a_form_and_works_without_a_script(world: World) -> None:
    response = await world.client().get("/", headers=PAGES)
    page = read(response)
    fields = [a.get("name") for tag, a in page.tags if tag in ("input", "select")]
    assert fields == ["q", "chain"]
    assert not [tag for tag, _ in page.tags if tag == "script"]
    assert {"/browse", "/llms.txt"} <= {a.get("href") for tag, a in page.tags if tag == "a"}
    labels = {a.get("for") for tag, a in page.tags if tag == "label"}
    assert labels == {"q", "chain"}


async def test_the_front_page_lists_the_newest_and_the_richest(
    world: World, world_store: Store
) -> None:
    fill(world_store, token(1, "RICH", usd=9e6), token(2, "DUST"), token(3, "SOME", usd=5e3))
    response = await client_of(world, world_store).get("/")
    assert links(response) == [page_of(3), page_of(1), page_of(1), page_of(3)]
    assert response.headers["cache-control"] == "public, max-age=15"
    assert world.analysis.requests == []


async def test_a_line_has_the_verdict_and_the_headline_of_the_page(
    world: World, world_store: Store
) -> None:
    fill(world_store, token(1, "TRAP", usd=5e4, pool=make_pool(sell="refused", sell_tax=None)))
    response = await find(client_of(world, world_store), "trap")
    text = read(response).text
    assert "Danger" in text
    assert "sell" in text.lower()
    assert "$50k liquidity" in text


async def test_the_better_match_comes_first_then_money_then_the_verdict(
    world: World, world_store: Store
) -> None:
    trap = make_pool(sell="refused", sell_tax=None)
    fill(
        world_store,
        token(1, "PEPE", usd=7e4, pool=trap),
        token(2, "PEPE", usd=6e4),
        token(3, "PEPE", usd=2e6, pool=trap),
        token(4, "PEPECASH", usd=9e9),
    )
    assert links(await find(client_of(world, world_store), "pepe")) == [
        *(page_of(3), page_of(2), page_of(1), page_of(4))
    ]
    assert world.analysis.requests == []


async def test_the_tokens_that_exchanges_quote_in_come_first_unseen_too(
    world: World, world_store: Store
) -> None:
    anchor = f"/t/ethereum/{checksum(CHAINS[0].anchors[0].address)}"
    client = client_of(world, world_store)
    assert links(await find(client, "any")) == [anchor]
    assert links(await find(client, "an")) == []  # anything else may be meant
    fill(world_store, token(1, "ANYTHING", usd=1e9))
    assert links(await find(client, "any")) == [anchor, page_of(1)]
    assert links(await find(client, "anyt")) == [page_of(1)]


async def test_a_long_list_says_that_there_is_more(world: World, world_store: Store) -> None:
    fill(world_store, *(token(number, f"CAT{number}") for number in range(25)))
    client = client_of(world, world_store)
    assert "More tokens match" in read(await find(client, "cat")).text
    assert "More tokens match" not in read(await find(client, "cat1")).text


async def test_what_imitates_a_known_token_is_marked(world: World, world_store: Store) -> None:
    anchor = CHAINS[0].anchors[0]
    fill(
        world_store,
        token(1, "ANY", usd=1e9),
        token(2, "\u0410NY", usd=1e8),  # Cyrillic
        token(3, "ETH", usd=10.0),
        token(4, "DOGE", usd=1e6),
        token(5, "D0GE", usd=20.0),
    )
    client = client_of(world, world_store)
    found = await find(client, "any")
    assert links(found)[0] == f"/t/ethereum/{checksum(anchor.address)}"
    text = " ".join(read(found).text.split())
    assert "The ANY that exchanges of ethereum quote other tokens in" in text
    assert "Not ANY: it only has the symbol" in text
    assert "Not ANY: it only looks like it" in text
    assert "that is the coin of ethereum" in read(await find(client, "eth")).text
    doge = await find(client, "doge")
    assert links(doge) == [page_of(4), page_of(5)]
    text = " ".join(read(doge).text.split())
    assert text.count("Not the only DOGE") == 1
    assert "a token whose symbol looks the same, written with other characters, has far" in text


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (1, "Not ANY: it only has the symbol"),
        (2, "Not the only DOGE: a token whose symbol looks the same"),
        (3, None),
    ],
)
async def test_the_page_of_an_imitation_says_so_too(
    world: World, world_store: Store, number: int, said: str | None
) -> None:
    fill(world_store, token(1, "ANY", usd=1e9), token(2, "D0GE"), token(3, "DOGE", usd=1e6))
    world.analysis.outcome = token(number, ("ANY", "D0GE", "DOGE")[number - 1])
    page = read(await client_of(world, world_store).get(page_of(number)))
    text = " ".join(page.text.split())
    assert ("Not ANY" in text, "Not the only" in text) == (number == 1, number == 2)
    assert said is None or said in text


async def test_a_hostile_name_is_inert_and_its_hidden_characters_are_seen(
    world: World, world_store: Store
) -> None:
    name = '<script>alert(1)</script>{{ 7*7 }}"><img src=x> \u202eevil\u2069'
    fill(
        world_store, token(1, "HO\u200bST", name=name, usd=5.0), token(2, "LONG", name="x" * 10_000)
    )
    client = client_of(world, world_store)
    response = await find(client, "host")
    page = read(response)
    assert not {"script", "img"} & {tag for tag, _ in page.tags}
    assert "U+202E" in page.text
    assert "U+200B" in page.text
    assert not {"\u202e", "\u2069", "\u200b"} & set(response.text)
    assert len((await find(client, "long")).text) < 10_000
    typed = await find(client, '"><script>\u202e')
    assert not [tag for tag, _ in read(typed).tags if tag == "script"]


@pytest.mark.parametrize(
    ("typed", "chain", "target"),
    [
        ("0x" + "11" * 20, "chain_56", "chain_56"),
        ("  " + "11" * 20, "nowhere", None),
        ("chain_56 0x" + "11" * 20, "", "chain_56"),
        ("https://x.example/56/0x" + "11" * 20, "", "chain_56"),
        ("0x" + "11" * 20, "1", "ethereum"),
    ],
)
async def test_an_address_leads_to_its_token(
    world: World, typed: str, chain: str, target: str | None
) -> None:
    client = world.client(served=BOTH)
    response = await client.get(f"/search?q={quote(typed)}&chain={chain}", headers=PAGES)
    if target is None:
        assert response.status_code == 422
    else:
        assert response.status_code == 303
        assert response.headers["location"] == f"/t/{target}/0x{'11' * 20}"


async def test_an_address_without_a_chain_leads_where_it_is_known(
    world: World, world_store: Store
) -> None:
    client = client_of(world, world_store, served=BOTH)
    unknown = await find(client, address(5))
    assert links(unknown) == [page_of(5), page_of(5, "chain_56")]
    fill(world_store, token(5, "FIVE", chain_id=56))
    response = await client.get("/search", params={"q": address(5)})
    assert response.headers["location"] == page_of(5, "chain_56")
    fill(world_store, token(5, "FIVE"))
    assert sorted(links(await find(client, address(5)))) == [
        *sorted([page_of(5), page_of(5, "chain_56")])
    ]


@pytest.mark.parametrize(
    ("sides", "leads_to"),
    [
        ((address(5), address(6)), 5),
        ((address(5), CHAINS[0].anchors[0].address), 5),
        ((CHAINS[0].anchors[0].address, address(5)), 5),
    ],
)
async def test_the_address_of_a_pair_leads_to_its_token(
    world: World, world_store: Store, sides: tuple[Address, Address], leads_to: int
) -> None:
    """In the search, on its own page and by the refusal of the API; on its chain alone."""
    with world_store.transaction() as tx:
        insert_pools(tx, [pool(int(address(9), 16), sides[0], quote=sides[1], block_number=1)])
    client = client_of(world, world_store, served=BOTH)
    response = await client.get("/search", params={"q": f"https://x.test/{address(9)}"})
    assert (response.status_code, response.headers["location"]) == (303, page_of(leads_to))
    elsewhere = await client.get("/search", params={"q": address(9), "chain": "chain_56"})
    assert elsewhere.headers["location"] == page_of(9, "chain_56")
    refusal = TokenRefusedError(code="not_a_token", reason="The contract does not answer name()")
    world.analysis.outcome = refusal
    shown = await client.get(page_of(9))
    assert (shown.status_code, shown.headers["location"]) == (303, page_of(leads_to))
    key = {"X-API-Key": world.new_key()}
    refused = (await client.get(f"/token/1/{address(9)}", headers=key)).json()
    assert refused["error_code"] == "not_a_token"
    assert checksum(address(leads_to)) in refused["error"]
    other = (await client.get(f"/token/56/{address(9)}", headers=key)).json()
    assert other["error"] == refusal.reason


async def test_where_one_chain_is_served_an_address_is_of_that(world: World) -> None:
    response = await world.client().get("/search", params={"q": address(5)})
    assert response.headers["location"] == page_of(5)


async def test_a_search_is_for_the_chosen_chain_or_the_one_typed(
    world: World, world_store: Store
) -> None:
    fill(world_store, token(1, "CAT"), token(2, "CAT", chain_id=56))
    client = client_of(world, world_store, served=BOTH)
    assert links(await find(client, "cat", "chain_56")) == [page_of(2, "chain_56")]
    assert links(await find(client, "cat on chain_56")) == [page_of(2, "chain_56")]
    assert len(links(await find(client, "cat"))) == 2


async def test_nothing_found_says_so(world: World, world_store: Store) -> None:
    client = client_of(world, world_store)
    assert "No analysed token" in read(await find(client, "nothing")).text
    empty = await client.get("/search?q=+")
    assert (empty.status_code, empty.headers["location"]) == (303, "/")


async def test_a_closed_deployment_lists_nothing_to_strangers(
    street: Street, world_store: Store
) -> None:
    fill(world_store, token(1, "CAT", usd=1e6))
    browser = street.browser_of(public=PublicSettings(is_open=False), store=world_store)
    assert links(await browser.client.get(f"{PUBLIC}/")) == []
    closed = await browser.client.get(f"{PUBLIC}/search?q=cat")
    assert links(closed) == []
    assert "Sign in to search by name" in read(closed).text
    by_address = await browser.client.get(f"{PUBLIC}/search?q={address(1)}")
    assert by_address.headers["location"] == page_of(1)
    await browser.sign_in("alice")
    found = await browser.client.get(f"{PUBLIC}/search?q=cat")
    assert links(found) == [page_of(1)]
    assert found.headers["cache-control"] == "no-store"


async def test_a_store_out_of_reach_leaves_the_search_by_address(
    world: World, world_store: Store
) -> None:
    client = client_of(world, world_store, served=BOTH)
    world_store.close()
    front = await client.get("/")
    assert (front.status_code, links(front)) == (200, [])
    assert links(await find(client, address(5))) == [page_of(5), page_of(5, "chain_56")]
    down = await client.get("/search?q=cat")
    assert down.status_code == 503
    assert "address can still be looked up" in read(down).text


async def test_searches_count_as_pages(world: World, world_store: Store) -> None:
    client = client_of(world, world_store, public=PublicSettings(pages_per_minute=2))
    statuses = [(await client.get(path)).status_code for path in ("/", "/search?q=x", "/")]
    assert statuses == [200, 200, 429]


# --- search query -------------------------------------------------------------------------------


BY_SLUG = {chain.slug: chain for chain in BUILT_IN_CHAINS}

DIGITS = "dAC17F958D2ee523a2206206994597C13D831ec7"

TOKEN = Address(f"0x{DIGITS.lower()}")


def at(slug: str | None) -> SearchQuery:
    """The reading as this address."""
    return SearchQuery(address=TOKEN, chain=None if slug is None else BY_SLUG[slug])


@pytest.mark.parametrize(
    ("typed", "slug"),
    [
        (f"0x{DIGITS}", None),
        (f"0X{DIGITS.upper()}", None),
        (DIGITS.lower(), None),
        (f"  \t0x{DIGITS} \n", None),
        (f"0x{DIGITS} on Base", "chain_8453"),
        (f"bsc 0x{DIGITS}", "chain_56"),
        (f"token:0x{DIGITS}.", None),
        (f"https://etherscan.io/token/0x{DIGITS}", "ethereum"),
        (f"see https://www.BscScan.com/token/0x{DIGITS}?a=1#code", "chain_56"),
        (f"https://explorer.example/token/0x{DIGITS}?a=56#code", None),
        (f"https://dexscreener.com/avalanche/0x{DIGITS.lower()}", "chain_43114"),
        (f"https://gopluslabs.io/token-security/56/0x{DIGITS}", "chain_56"),
        (f"https://assay.example/t/ethereum/0x{DIGITS}", "ethereum"),
        (f"https://base.blockscout.com/token/0x{DIGITS}", "chain_8453"),
        (f"https://base.example/eth/0x{DIGITS}", None),  # two chains are none
        (f"http://[0x{DIGITS}", None),  # no link after all
    ],
)
def test_an_address_is_found_in_whatever_is_pasted(typed: str, slug: str | None) -> None:
    assert read_query(typed, None, BUILT_IN_CHAINS) == (at(slug),)


def test_the_chosen_chain_decides() -> None:
    chosen = BY_SLUG["ethereum"]
    typed = f"https://base.blockscout.com/token/0x{DIGITS}"
    assert read_query(typed, chosen, BUILT_IN_CHAINS) == (at("ethereum"),)
    assert read_query("pepe base", chosen, BUILT_IN_CHAINS) == (
        SearchQuery(text="pepe base", chain=chosen),
    )


@pytest.mark.parametrize(
    ("typed", "texts"),
    [
        ("pepe", [("pepe", None)]),
        ("  Shiba   Inu ", [("Shiba Inu", None)]),
        ("eth", [("eth", None)]),  # a symbol before a chain
        ("pepe on base", [("pepe on base", None), ("pepe", "chain_8453")]),
        ("BASE pepe", [("BASE pepe", None), ("pepe", "chain_8453")]),
        ("bnb eth", [("bnb eth", None)]),  # two chains are none
        (f"0x{DIGITS}00", [(f"0x{DIGITS}00", None)]),  # too long for an address
        (f"0x{DIGITS[:-1]}", [(f"0x{DIGITS[:-1]}", None)]),
    ],
)
def test_other_words_are_a_name_first(typed: str, texts: list[tuple[str, str | None]]) -> None:
    found = read_query(typed, None, BUILT_IN_CHAINS)
    assert [(one.text, one.chain.slug if one.chain else None) for one in found] == texts
    assert all(one.address is None for one in found)


@given(before=st.text(max_size=30), after=st.text(max_size=30))
def test_any_text_is_read(before: str, after: str) -> None:
    assert len(read_query(before + after, None, BUILT_IN_CHAINS)) in (1, 2)
    found = read_query(f"{before} {checksum(TOKEN)} {after}", None, BUILT_IN_CHAINS)
    assert found[0].address == TOKEN
