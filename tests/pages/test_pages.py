"""Protects the pages: the API browser, the page of a token, and the headers of all pages."""

import re

import httpx
import pytest

from api.deps import Prefill
from config.settings import PublicSettings
from core.errors import TokenRefusedError
from tests.harness.api.sample_reports import TOKEN, TOKEN_SHOWN, make_report
from tests.harness.api.sign_in import PAGES, PUBLIC, Street, read
from tests.harness.api.world import World

PAGE = f"/t/ethereum/{TOKEN}"

STANDING = "No problems found"

GUARDS = {
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}

SHARED = {"/", "/search?q=x"}
"""Pages without anything private."""


async def post_key(client: httpx.AsyncClient, key: str, path: str = PAGE) -> httpx.Response:
    return await client.post(path, data={"api_key": key}, headers=PAGES)


def policy_of(response: httpx.Response) -> dict[str, str]:
    parts = response.headers["content-security-policy"].split("; ")
    return {name: rest for name, _, rest in (part.partition(" ") for part in parts)}


async def test_the_api_is_browsed_from_files_of_its_own(client: httpx.AsyncClient) -> None:
    response = await client.get("/browse")
    assert response.status_code == 200
    wanted = [
        attributes.get("src") or attributes.get("href")
        for tag, attributes in read(response).tags
        if tag in ("script", "link")
    ]
    assert all(url and url.startswith(("/assets/", "data:,")) for url in wanted)
    assert "/assets/swagger-ui-bundle.js" in wanted
    for url in wanted:
        if url and url.startswith("/assets/"):
            asset = await client.get(url)
            assert asset.status_code == 200
            assert asset.headers["content-type"].startswith(("text/css", "text/javascript"))
    start = (await client.get("/assets/browse.js")).text
    (document,) = re.findall(r'url: "([^"]+)"', start)
    assert (await client.get(document)).json()["openapi"].startswith("3.1")


async def test_a_demo_fills_in_its_key_and_one_of_its_tokens(world: World) -> None:
    prefill = Prefill(api_key="tsk_live_demo", chain="ethereum", address=TOKEN_SHOWN)
    client = world.client(prefill=prefill)
    (shown,) = [at for tag, at in read(await client.get("/browse")).tags if at.get("id") == "api"]
    assert shown["data-key"] == "tsk_live_demo"
    document = (await client.get("/schema")).json()
    operation = document["paths"]["/token/{chain}/{address}"]["get"]
    given = {each["name"]: each.get("example") for each in operation["parameters"]}
    assert (given["chain"], given["address"]) == ("ethereum", TOKEN_SHOWN)
    body = document["paths"]["/tokens/{chain}"]["post"]["requestBody"]["content"]
    (example,) = body["application/json"]["examples"].values()
    assert example["value"]["addresses"] == [TOKEN_SHOWN]


async def test_no_other_deployment_gives_a_key_away(client: httpx.AsyncClient) -> None:
    response = await client.get("/browse")
    assert "data-key" not in response.text
    assert "tsk_" not in response.text


async def test_the_browser_of_the_package_knows_the_version_of_our_document(
    client: httpx.AsyncClient,
) -> None:
    program = (await client.get("/assets/swagger-ui-bundle.js")).text
    (version,) = re.findall(r'PACKAGE_VERSION:"(\d+)\.', program)
    assert int(version) >= 5  # the first that reads OpenAPI 3.1


async def test_files_are_sent_whole_packed_or_not_again(client: httpx.AsyncClient) -> None:
    packed = await client.get("/assets/swagger-ui.css", headers={"Accept-Encoding": "gzip"})
    plain = await client.get("/assets/swagger-ui.css", headers={"Accept-Encoding": "identity"})
    assert packed.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in plain.headers
    assert packed.content == plain.content
    again = await client.get(
        "/assets/swagger-ui.css", headers={"If-None-Match": plain.headers["etag"]}
    )
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize("name", ["__init__.py", "..%2f__init__.py", "LICENSE", "", "%00"])
async def test_nothing_else_is_a_file(client: httpx.AsyncClient, name: str) -> None:
    response = await client.get(f"/assets/{name}")
    assert response.status_code in (400, 404)
    assert set(response.json()) == {"detail"}


@pytest.mark.parametrize(
    "path", ["/", "/search?q=x", "/browse", PAGE, "/login", "/dashboard", "/t/nowhere/0x1"]
)
async def test_every_page_is_guarded_also_an_error(world: World, path: str) -> None:
    client = world.client(public=PublicSettings(is_open=False))
    response = await client.get(path, headers=PAGES)
    guards = GUARDS if path not in SHARED else {**GUARDS, "cache-control": "public, max-age=15"}
    assert {name: response.headers[name] for name in guards} == guards
    policy = policy_of(response)
    assert policy["default-src"] == "'none'"
    assert policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert policy["form-action"] == "'self'"
    assert "unsafe" not in response.headers["content-security-policy"]
    assert ("script-src" in policy) == (path == "/browse")
    assert not re.search(r"https?://", response.text)


async def test_an_error_is_a_page_for_people_and_json_for_programs(
    client: httpx.AsyncClient,
) -> None:
    person = await client.get("/t/nowhere/0x1", headers=PAGES)
    program = await client.get("/t/nowhere/0x1", headers={"Accept": "*/*"})
    assert person.status_code == program.status_code == 422
    assert "Unknown chain" in read(person).text
    assert program.json()["detail"][0]["type"] == "unknown_chain"


async def test_a_stranger_is_asked_for_a_key_and_costs_nothing(world: World) -> None:
    client = world.client(public=PublicSettings(is_open=False))
    response = await client.get(PAGE, headers=PAGES)
    assert response.status_code == 200
    fields = [attributes.get("name") for tag, attributes in read(response).tags if tag == "input"]
    assert fields == ["api_key"]
    assert world.analysis.requests == []


async def test_a_key_in_the_form_pays_for_the_verdict(
    world: World, client: httpx.AsyncClient
) -> None:
    response = await post_key(client, world.new_key("developer"))
    assert response.status_code == 200
    page = read(response)
    assert "Sample" in page.text
    assert TOKEN_SHOWN in page.text
    assert STANDING in page.text
    assert "X-API-Key-Expires-At" in response.headers


async def test_it_counts_as_one_call(world: World, client: httpx.AsyncClient) -> None:
    key = world.new_key("trial")
    world.count(1, 99, at_s=world.clock.now_s - 86_400)
    assert (await post_key(client, key)).status_code == 200
    spent = await post_key(client, key)
    assert spent.status_code == 402
    assert "do not refill" in read(spent).text


async def test_a_bad_key_buys_nothing(world: World, client: httpx.AsyncClient) -> None:
    ended = world.new_key("trial")
    world.clock.now_s += 15 * 86_400
    for key in ("", "tsk_live_nobody", "\u00e9", ended, "x" * 10_000):
        assert (await post_key(client, key)).status_code == 401
    header = await client.get(PAGE, headers={"X-API-Key": "tsk_live_nobody"})
    assert (header.status_code, header.json()) == (401, {"detail": "Unknown API key."})
    assert world.analysis.requests == []


async def test_a_token_with_a_hostile_name_is_only_text(
    world: World, client: httpx.AsyncClient
) -> None:
    name = "<script>alert(1)</script>{{ 7*7 }}"
    world.analysis.outcome = make_report(name=name, symbol='"><img src=x>')
    page = read(await post_key(client, world.new_key()))
    assert name in page.text
    assert "img" not in {tag for tag, _ in page.tags}
    assert [attributes for tag, attributes in page.tags if tag == "script"] == [
        {"src": "/assets/token.js", "defer": None}
    ]


async def test_a_refused_token_has_no_verdict(world: World, client: httpx.AsyncClient) -> None:
    world.analysis.outcome = TokenRefusedError(
        code="not_a_token", reason="it answers no ERC-20 call"
    )
    response = await post_key(client, world.new_key())
    assert response.status_code == 422
    assert "Not analysed: it answers no ERC-20 call" in read(response).text
    assert "safe" not in read(response).text


async def test_who_is_signed_in_pays_with_a_key_of_theirs(street: Street) -> None:
    browser = street.browser_of(public=PublicSettings(is_open=False))
    await browser.sign_in("alice")
    without = await browser.client.get(PUBLIC + PAGE)
    assert without.status_code == 403
    assert "Create one first" in read(without).text
    await browser.create_key()
    assert STANDING in read(await browser.client.get(PUBLIC + PAGE)).text
    await browser.send("/dashboard/keys/1/revoke")
    assert (await browser.client.get(PUBLIC + PAGE)).status_code == 403


async def test_a_plan_without_refreshes_has_those_of_everybody(
    world: World, street: Street
) -> None:
    browser = street.browser_of(public=PublicSettings(analyses_per_hour=1))
    await browser.sign_in("alice")
    await browser.create_key()
    for _ in range(3):
        response = await browser.client.post(f"{PUBLIC}{PAGE}/refresh")
        assert response.status_code == 303
    assert [request["refresh"] for request in world.analysis.requests] == [True]


@pytest.mark.parametrize(
    ("query", "target"),
    [
        (f"chain=ethereum&address=+{TOKEN}+", PAGE),
        ("chain=//evil.example&address=x", "/t/%2F%2Fevil.example/x"),
        ("chain=ethereum&address=../../login", "/t/ethereum/..%2F..%2Flogin"),
        ("chain=ethereum", "/"),
        ("", "/"),
    ],
)
async def test_the_form_leads_to_the_page(
    client: httpx.AsyncClient, query: str, target: str
) -> None:
    response = await client.get(f"/t?{query}")
    assert (response.status_code, response.headers["Location"]) == (303, target)
