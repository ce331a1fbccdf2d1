"""Protects the form of a request, and the names of chains: accepted values, and refused ones."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import httpx
import pytest

from config.burn import BURN_ADDRESSES
from config.settings import ApiSettings
from core.evm.primitives import checksum
from tests.harness.api.sample_reports import MINED_AT_S, TOKEN, TOKEN_SHOWN
from tests.harness.api.world import CLIENT, PLANS, World

PATH = f"/token/1/{TOKEN}"

KEYED = (PATH, f"{PATH}/summary", f"{PATH}/evidence", "/usage")

OF_A_CHAIN = ("/token/{}/" + TOKEN, "/token/{}/" + TOKEN + "/summary", "/token/{}/0x12/evidence")

DETAIL = ["detail"]

CODED = ["error_code", "error", "detail", "next_step"]


# --- keys ----------------------------------------------------------------------------------------
def trial(world: World) -> str:
    return world.new_key("trial")


def revoked(world: World) -> str:
    new = world.ledger.create_key(PLANS["pro"], "test", MINED_AT_S)
    world.ledger.revoke(new.row.key_id, MINED_AT_S)
    return new.plaintext


KEYS: list[tuple[str, Any, list[str], str | None]] = [
    # what is sent, keys of the body, error_code
    ("none", lambda _: None, CODED, "api_key_required"),
    ("empty", lambda _: "", CODED, "api_key_required"),
    ("blank", lambda _: " \t ", CODED, "api_key_required"),
    ("unknown", lambda _: "tsk_live_unknown", DETAIL, None),
    ("half of one", lambda world: trial(world)[:-1], DETAIL, None),
    ("more than one", lambda world: trial(world) + "A", DETAIL, None),
    ("in other letters", lambda world: trial(world).swapcase(), DETAIL, None),
    ("its digest", lambda world: world.ledger.list_keys()[0].digest, DETAIL, None),
    ("revoked", revoked, DETAIL, None),
    ("expired", trial, CODED, "api_key_expired"),
]


@pytest.mark.parametrize(
    ("make", "fields", "code"), [row[1:] for row in KEYS], ids=[row[0] for row in KEYS]
)
async def test_a_key_that_does_not_open(
    world: World,
    client: httpx.AsyncClient,
    make: Any,
    fields: list[str],
    code: str | None,
) -> None:
    """On every route that needs one, before anything else that is wrong with the call."""
    world.new_key()
    key = make(world)
    world.clock.now_s += 14 * 86_400
    for path in [*KEYED, "/token/9/0x12?refresh=what"] * 2:
        response = await client.get(path, headers={} if key is None else {"X-API-Key": key})
        body = response.json()
        assert (response.status_code, list(body), body.get("error_code")) == (401, fields, code)


async def test_spaces_around_a_key_are_not_part_of_it(
    world: World, client: httpx.AsyncClient
) -> None:
    response = await client.get(PATH, headers={"X-API-Key": f"  {world.new_key()} "})
    assert response.status_code == 200


async def test_of_two_keys_the_answer_does_not_hang_on_memory(
    world: World, client: httpx.AsyncClient
) -> None:
    good, bad = world.new_key(), "tsk_live_unknown"
    for pair in ((good, bad), (bad, good)):
        statuses = {
            (await client.get(PATH, headers=[("X-API-Key", key) for key in pair])).status_code
            for _ in range(3)
        }
        assert len(statuses) == 1


@pytest.mark.parametrize("path", ["/mcp", "/goplus/api/v1/token_security/1"])
async def test_who_takes_tokens_says_so(client: httpx.AsyncClient, path: str) -> None:
    response = await (client.post if path == "/mcp" else client.get)(path)
    assert "X-API-Key" in response.text
    assert "Authorization: Bearer" in response.text


# --- chains and addresses ------------------------------------------------------------------------
@pytest.mark.parametrize(
    "named", ["1", "ethereum", "%31", "ethereu%6d", "eth", "Ethereum", "%65TH"]
)
async def test_the_answer_names_the_slug_whatever_the_path_names(
    world: World, client: httpx.AsyncClient, named: str
) -> None:
    key = {"X-API-Key": world.new_key()}
    written = (TOKEN, TOKEN.upper(), "0x" + TOKEN[2:].upper(), TOKEN_SHOWN)
    for address, rest in product(written, ("", "/summary", "?response_format=compat")):
        body = (await client.get(f"/token/{named}/{address}{rest}", headers=key)).json()
        assert (body["chain"], body["contract_address"]) == ("ethereum", TOKEN_SHOWN)


async def test_a_chain_that_is_not_served_is_503_everywhere(
    world: World, client: httpx.AsyncClient
) -> None:
    key = {"X-API-Key": world.new_key()}
    for path, chain in product(OF_A_CHAIN, ("56", "chain_56", "bsc", "BNB")):
        response = await client.get(path.format(chain), headers=key)
        assert (response.status_code, list(response.json())) == (503, DETAIL)


@pytest.mark.parametrize(
    "chain",
    [
        "0",
        "-1",
        "+1",
        "1.0",
        "\N{ARABIC-INDIC DIGIT ONE}",
        "\N{FULLWIDTH DIGIT ONE}",
        "1 ",
        "ether",
        "\N{KELVIN SIGN}eth",
        "e th",
        "ethereum%00",
    ],
)
async def test_what_is_no_chain_is_422_everywhere(
    world: World, client: httpx.AsyncClient, chain: str
) -> None:
    key = {"X-API-Key": world.new_key()}
    for path in OF_A_CHAIN:
        response = await client.get(path.format(chain), headers=key)
        (item,) = response.json()["detail"]
        assert (response.status_code, item["loc"]) == (422, ["path", "chain"])


def _not_addresses() -> Iterator[str]:
    yield from (f"%20{TOKEN}", f"{TOKEN}%20", f"%09{TOKEN}", f"{TOKEN}%0a", f"{TOKEN}%00")
    yield from (TOKEN[2:], "0x", "x" + TOKEN, TOKEN[:-1], TOKEN + "0", "0x0" + TOKEN[2:])
    yield from (
        "0x" + "g" * 40,
        "0x" + "\N{ARABIC-INDIC DIGIT ONE}" * 40,
        "0x-" + TOKEN[3:],
        "0x_" + TOKEN[3:],
        "vitalik.eth",
    )
    yield from (f"{TOKEN},{TOKEN}", f'"{TOKEN}"', f"{TOKEN};x=1", "0x" + "0" * 64, "%2e%2e", "null")


@pytest.mark.parametrize("rest", ["", "/summary", "/evidence"])
async def test_what_is_no_address_is_invalid(
    world: World, client: httpx.AsyncClient, rest: str
) -> None:
    key = {"X-API-Key": world.new_key()}
    for address in _not_addresses():
        response = await client.get(f"/token/1/{address}{rest}", headers=key)
        outcome = (response.status_code, response.json()["error_code"])
        assert outcome == (422, "invalid_address"), address
    assert world.analysis.requests == []


@pytest.mark.parametrize("rest", ["", "?response_format=compat", "/summary"])
async def test_each_burn_address_is_refused(
    world: World, client: httpx.AsyncClient, rest: str
) -> None:
    key = {"X-API-Key": world.new_key()}
    assert len(BURN_ADDRESSES) == 5
    for burnt in BURN_ADDRESSES:
        for address in (burnt, burnt.upper(), checksum(burnt)):
            response = await client.get(f"/token/1/{address}{rest}", headers=key)
            assert (response.status_code, response.json()["error_code"]) == (422, "burn_address")
    assert world.analysis.requests == []


# --- paths and queries ---------------------------------------------------------------------------
PATHS: list[tuple[str, int]] = [
    (f"{PATH}/", 200),
    (f"{PATH}/summary/", 200),
    (f"{PATH}?", 200),
    (f"/token//{TOKEN}", 404),
    (f"/token/1/{TOKEN}//summary", 200),
    (f"/Token/1/{TOKEN}", 404),
    (f"/token/1/{TOKEN}/Summary", 404),
    (f"/api/token/1/{TOKEN}", 404),
    ("/token/1/", 404),
    ("/tokens/1", 405),
]


async def test_paths(world: World, client: httpx.AsyncClient) -> None:
    key = {"X-API-Key": world.new_key()}
    for path, status in PATHS:
        response = await client.get(path, headers=key)
        outcome = (response.status_code, response.headers["content-type"])
        assert outcome == (status, "application/json"), path


BOOLEANS: list[tuple[str, bool | None]] = [
    *((text, True) for text in ("true", "True", "TRUE", "1")),
    *((text, False) for text in ("false", "False", "FALSE", "0")),
    *((text, None) for text in ("yes", "no", "on", "off", "t", "2", "", "%20true", "null", "[]")),
]


@pytest.mark.parametrize("name", ["refresh", "redecompile"])
async def test_booleans_that_need_a_plan(
    world: World, client: httpx.AsyncClient, name: str
) -> None:
    """A bad one is refused before the plan is checked."""
    for plan, refusal in (("admin", 200), ("pro", 403)):
        key = {"X-API-Key": world.new_key(plan)}
        for text, value in BOOLEANS:
            scans_before = len(world.analysis.requests)
            world.clock.now_s += 121
            response = await client.get(f"{PATH}?{name}={text}", headers=key)
            status = 422 if value is None else refusal if value else 200
            assert response.status_code == status, text
            if status == 200:
                assert world.analysis.requests[scans_before][name] is value
            else:
                assert len(world.analysis.requests) == scans_before


async def test_the_boolean_that_asks_for_a_price(world: World) -> None:
    price_requests = []

    async def read_price(*_: object) -> None:
        price_requests.append(True)

    client, key = world.client(read_price=read_price), {"X-API-Key": world.new_key()}
    for text, value in BOOLEANS:
        price_requests.clear()
        world.clock.now_s += 121
        response = await client.get(f"{PATH}?include_token_price={text}", headers=key)
        assert response.status_code == (422 if value is None else 200), text
        assert bool(price_requests) is bool(value), text
        if value is None:
            assert response.json()["detail"][0]["loc"] == ["query", "include_token_price"]


DOUBLED: list[tuple[str, int, bool]] = [
    # query, status, whether the answer is compat
    ("response_format=native&response_format=compat", 200, True),
    ("response_format=compat&response_format=native", 200, False),
    ("response_format=compat&response_format=xml", 422, False),
    ("response_format=xml&response_format=compat", 200, True),
    ("response_format=compat&Response_Format=native", 200, True),
    ("response%5Fformat=compat", 200, True),
    ("response_format=com%70at", 200, True),
    ("response_format=compat%20", 422, False),
    ("response_format=Compat", 422, False),
    ("response_format[]=compat", 200, False),
    ("response_format", 422, False),
    ("&&=&response_format=compat&", 200, True),
    ("response_format=compat#response_format=native", 200, True),
]


async def test_of_a_doubled_parameter_the_last_counts(
    world: World, client: httpx.AsyncClient
) -> None:
    key = {"X-API-Key": world.new_key()}
    for query, status, is_compat in DOUBLED * 2:  # the second time from memory
        response = await client.get(f"{PATH}?{query}", headers=key)
        assert response.status_code == status, query
        if status == 200:
            assert ("token_name" in response.json()["features"]) is is_compat, query


# --- bodies --------------------------------------------------------------------------------------
BODIES: list[tuple[bytes, int]] = [
    (b'{"reason": "a", "reason": "b"}', 200),
    (b'{"reason": "a", "more": [1, {"b": null}]}', 200),
    (b' \n{"reason": "a"}\t', 200),
    (b'{"reason": "\\u0000\\u001b[31m"}', 200),
    ('{"reason": "\N{GRINNING FACE}\\ud83d\\ude00"}'.encode(), 200),
    (b'{"reason": NaN}', 400),
    (b'{"reason": "a", "x": Infinity}', 400),
    (b'{"reason": "a",}', 400),
    (b'{"reason": "a"} {}', 400),
    (b"{'reason': 'a'}", 400),
    (b'\xef\xbb\xbf{"reason": "a"}', 400),
    ('{"reason": "a"}'.encode("utf-16"), 400),
    (b'{"reason": "\\ud800"}', 400),
    (b'{"reason": "a\nb"}', 400),
    (b'{"reason": ' + b"9" * 5_000 + b"}", 400),  # a number that nobody can hold
    (b'{"reason": 1e999}', 400),
    (b'{"reason": 99999999999999999999}', 422),
    (b'{"reason": ["a"]}', 422),
    (b'{"Reason": "a"}', 422),
    (b'["reason"]', 422),
    (b"null", 422),
    (b"1", 422),
]


async def test_bodies(world: World) -> None:
    client = world.client(settings=ApiSettings(trusted_proxies=(CLIENT,)))
    for at, (body, status) in enumerate(BODIES):
        of_its_own = {"X-Forwarded-For": f"192.0.2.{at}"}
        response = await client.post("/agent-keys", content=body, headers=of_its_own)
        assert response.status_code == status, body[:40]
        assert status == 200 or list(response.json()) == DETAIL, body[:40]


# --- chain names --------------------------------------------------------------------------------

NAMES = ("ethereum", "eth", "ETH", "Eth", "1")

"""Names of the one served chain."""

GOPLUS = f"/goplus/api/v1/token_security/{{}}?contract_addresses={TOKEN}"

SINGLE = ("", "?response_format=compat", "/summary", "/evidence")


async def test_every_name_gives_the_same_bytes(world: World, client: httpx.AsyncClient) -> None:
    key = {"X-API-Key": world.new_key()}
    paths = [f"/token/{{}}/{TOKEN}{rest}" for rest in SINGLE]
    for path in (*paths, GOPLUS):
        answers = [await client.get(path.format(name), headers=key) for name in NAMES]
        assert {answer.status_code for answer in answers} == {200}, path
        assert len({answer.content for answer in answers}) == 1, path
    batches = [
        await client.post(f"/tokens/{name}", headers=key, json={"addresses": [TOKEN]})
        for name in NAMES
    ]
    assert {batch.json()["chain"] for batch in batches} == {"ethereum"}
    assert len({batch.content for batch in batches}) == 1


async def test_the_names_share_one_cache(world: World, client: httpx.AsyncClient) -> None:
    key = {"X-API-Key": world.new_key()}
    for name in NAMES:
        assert (await client.get(f"/token/{name}/{TOKEN}", headers=key)).status_code == 200
    assert len(world.analysis.requests) == 1


async def test_another_name_is_no_way_past_a_limit(world: World, client: httpx.AsyncClient) -> None:
    new = world.ledger.create_key(PLANS["trial"], "test", MINED_AT_S)
    key = {"X-API-Key": new.plaintext}
    allowed = PLANS["trial"].burst_limit
    assert allowed is not None
    statuses = [
        (await client.get(f"/token/{NAMES[at % 5]}/{TOKEN}", headers=key)).status_code
        for at in range(allowed + 1)
    ]
    assert statuses == [200] * allowed + [429]


@pytest.mark.parametrize("name", NAMES)
async def test_a_page_is_reached_by_every_name(client: httpx.AsyncClient, name: str) -> None:
    assert (await client.get(f"/t/{name}/{TOKEN}")).status_code == 200
    form = await client.get("/t", params={"chain": name, "address": TOKEN})
    assert form.headers["location"] == f"/t/{name}/{TOKEN}"
