"""Protects the routes of quotes and checks: their input, their counts, and missing data."""

import base64
import hashlib
from typing import Any

import pytest
from mcp.types import BlobResourceContents

from analysis.pipeline.analyser import KnownReport
from analysis.quotes.exit_quote import RequestedSize
from analysis.quotes.unsigned_trade import TradeRefusedError
from config.settings import PublicSettings
from core.errors import TokenRefusedError, UpstreamError
from core.evm.primitives import Address, checksum
from tests.harness.api.mcp_client import ONE, agent, call
from tests.harness.api.open_port import on_network
from tests.harness.api.sample_reports import MINED_AT_S, TOKEN, TOKEN_SHOWN, make_report
from tests.harness.api.world import PLANS, Get, World

EXIT, CHECK = f"{TOKEN}/exit", f"/token/1/{TOKEN}/trade-check"
CENSUS, LIMITS = f"{TOKEN}/census", f"{TOKEN}/limits"
OPENING = f"{TOKEN}/opening"
LIQUIDITY, PACK = f"{TOKEN}/liquidity", f"{TOKEN}/evidence-pack"
SIGNER = checksum(Address("0x" + "a3" * 20))
TRADE = {"side": "sell", "amount_raw": "5", "router": "Uniswap V2", "sender": TOKEN}


async def check(world: World, body: Any, *, key: str | None = None) -> tuple[int, Any]:
    headers = {"X-API-Key": world.new_key() if key is None else key}
    answer = await world.client().post(CHECK, json=body, headers=headers)
    return answer.status_code, answer.json()


async def test_a_quote_says_what_sells_and_why_the_rest_does_not(world: World, get: Get) -> None:
    answer = await get(f"{EXIT}?usd=250")
    body = answer.json()
    assert answer.status_code == 200
    assert [size["outcome"] for size in body["sizes"]] == ["sold", "refused", "sold"]
    refused = body["sizes"][1]
    assert refused["reason"] == "sale too large"
    assert {refused[key] for key in ("proceeds_usd", "net_usd", "tax_pct", "gas_used")} == {None}
    assert (body["sizes"][0]["amount"], body["sizes"][0]["gas_coin"]) == ("100", "0.00019")
    assert world.quotes.requests == [("ethereum", TOKEN, RequestedSize(usd=250.0))]


@pytest.mark.parametrize(
    ("amount_text", "raw"),
    [("1", 10**18), ("0.000000000000000001", 1), ("1250.50", 125_050 * 10**16)],
)
async def test_an_amount_is_in_whole_tokens(
    world: World, get: Get, amount_text: str, raw: int
) -> None:
    world.analysis.outcome = make_report(decimals=18)
    assert (await get(f"{EXIT}?amount={amount_text}")).status_code == 200
    assert world.quotes.requests[0][2] == RequestedSize(amount_raw=raw)  # type: ignore[arg-type]  # an int is one


@pytest.mark.parametrize(
    "query",
    [
        *("usd=0", "usd=-1", "usd=nan", "usd=inf", "usd=1e10", "usd=x"),
        *("amount=0", "amount=-1", "amount=1e5", "amount=1,5", "amount=.", "amount=" + "9" * 200),
        "usd=1&amount=1",
    ],
)
async def test_a_size_that_is_none_is_refused(world: World, get: Get, query: str) -> None:
    answer = await get(f"{EXIT}?{query}")
    assert answer.status_code == 422
    assert answer.json()["detail"][0]["loc"][0] == "query"
    assert world.quotes.requests == []


async def test_a_check_has_the_stored_verdict_and_starts_no_analysis(world: World) -> None:
    _, without = await check(world, TRADE)
    assert (without["verdict"], without["verdict_block"]) == (None, None)
    report = make_report()
    world.analysis.known = KnownReport(report=report, is_recent=False, is_running=False)
    status, body = await check(world, TRADE)
    assert status == 200
    assert body["verdict"] is not None
    assert body["verdict_block"] == report.token.block_number
    assert (body["outcome"], body["is_hypothetical"]) == ("passed", True)
    assert body["balances"][0]["change_raw"] == str(10**18)
    assert world.analysis.requests == []


@pytest.mark.parametrize(
    "change",
    [
        {"side": "hold"},
        {"amount_raw": "0"},
        {"amount_raw": "-1"},
        {"amount_raw": str(2**256)},
        {"sender": "0x12"},
        {"sender": "0x" + "00" * 20},
        {"calldata": "0x1"},
        {"calldata": "0x" + "00" * 32_769},
        {"value_wei": str(2**256)},
        {"pays_with": "weth"},
        {"router": "a" * 65},
        {"slippage": 1},
    ],
)
async def test_a_hostile_trade_is_refused(world: World, change: dict[str, Any]) -> None:
    status, body = await check(world, {**TRADE, **change})
    assert status == 422
    assert body["detail"][0]["loc"][0] == "body"
    assert world.quotes.requests == []


async def test_a_trade_that_is_no_call_names_the_argument(world: World) -> None:
    world.quotes.failure = TradeRefusedError(argument="router", reason="give the calldata")
    status, body = await check(world, TRADE)
    assert (status, body["detail"][0]["loc"]) == (422, ["body", "router"])


@pytest.mark.parametrize(
    ("failure", "status", "code"),
    [
        (UpstreamError(service="node", reason="gone"), 500, "analysis_failed"),
        (TokenRefusedError(code="not_a_token", reason="no symbol"), 422, "not_a_token"),
    ],
)
async def test_what_fails_says_so(
    world: World, get: Get, failure: Exception, status: int, code: str
) -> None:
    world.quotes.failure = failure
    got = [await get(EXIT), await get(PACK)]
    answers = [(one.status_code, one.json()) for one in got] + [await check(world, TRADE)]
    assert [(seen, body["error_code"]) for seen, body in answers] == [(status, code)] * 3


async def test_shares_of_the_liquidity_are_told_with_what_is_not_known(
    world: World, get: Get
) -> None:
    answer = await get(LIQUIDITY)
    body = answer.json()
    (pool,) = body["pools"]
    shares = ("burnt", "locked", "withdrawable", "unknown", "unaccounted")
    assert [pool[f"{name}_share"] for name in shares] == [0.1, 0.5, 0.2, 0.15, 0.05]
    assert [one["kind"] for one in pool["holders"]] == ["locker", "creator"]
    assert pool["locks"][0]["until"] == 1_800_000_000
    left = pool["withdrawal"]
    assert (left["outcome"], left["token"], left["quote_raw"]) == ("passed", "5", str(10**17))
    assert (left["sale_before"]["outcome"], left["sale_after"]["outcome"]) == ("passed", "refused")
    assert left["sale_after"]["proceeds_usd"] is None
    assert (await get(f"{TOKEN[:-1]}/liquidity")).status_code == 422


async def test_of_a_hook_whose_code_was_not_found_nothing_is_denied(get: Get) -> None:
    body = (await get(f"{TOKEN}/hooks")).json()
    (pool,) = body["pools"]
    assert (pool["permissions"], pool["has_dynamic_fee"]) == (["before_swap"], True)
    code = pool["code"]
    assert code.pop("is_proxy") is True
    assert code.pop("owner_set_conditions") == 0
    assert set(code.values()) == {None}
    control = pool["control"]
    assert (control["wallets"], control["is_renounced"]) == (None, False)
    assert control["owner"] == checksum(Address("0x" + "a4" * 20))
    trading = pool["trading"]
    outcomes = [(each["outcome"], each["tax_pct"]) for each in trading["trades"]]
    assert outcomes == [("passed", 2.0), ("unknown", None), ("refused", None)]
    unrun, sold = trading["trades"][1:]
    assert (unrun["amount_raw"], unrun["block_number"]) == (None, None)
    assert (sold["reason"], sold["blocks_left_out"]) == ("closed", 62)
    (left,) = pool["leaving"]["withdrawals"]
    assert (left["outcome"], left["is_controller"], left["brought_share"]) == ("passed", True, 1)
    assert pool["leaving"]["is_refused"] is None
    assert {trading[f"varies_by_{what}"] for what in ("size", "time", "side")} == {None}
    assert (body["pools_left_out"], body["pools_without_hooks"]) == (1, 2)
    assert (await get(f"{TOKEN[:-1]}/hooks")).status_code == 422


async def test_a_census_names_the_list_and_its_writer(world: World, get: Get) -> None:
    body = (await get(CENSUS)).json()
    assert (body["sold"], body["failed"], body["other_tax"], body["unknown"]) == (1, 1, 0, 0)
    (listed,) = body["lists"]
    assert (listed["contract"], listed["holders"]) == (TOKEN_SHOWN, 1)
    sold, held_back = body["sellers"]
    assert (sold["decided_by"], sold["amount"]) == ([], "1")
    (entry,) = held_back["decided_by"]
    assert entry["written_by"]["function"] == "0x12345678"
    assert entry["slot"] != entry["list_slot"]
    (failed,) = body["failed_sales"]
    assert (failed["trader"], failed["in_census"]) == (held_back["address"], "failed")
    page = await world.client().get(f"/t/1/{CENSUS}", headers=READER)
    assert page.status_code == 200
    assert "Works, at 3 % tax: 1. Fails: 1. Costs more tax: 0." in page.text
    assert f'title="{entry["written_by"]["sender"]}"' in page.text


async def test_limits_are_in_tokens_and_percent(world: World, get: Get) -> None:
    body = (await get(LIMITS)).json()
    sale = next(one for one in body["limits"] if one["kind"] == "sale")
    assert sale["largest"] == {"tokens": "10000", "supply_pct": 1}
    assert sale["refused"]["tokens"] == "10000.000000000000000001"
    assert (sale["is_exact"], sale["floor"]["supply_pct"]) == (True, 0.1)
    transfer = next(one for one in body["limits"] if one["kind"] == "transfer")
    assert (transfer["largest"], transfer["is_limited"]) == (None, False)
    page = await world.client().get(f"/t/1/{LIMITS}", headers=READER)
    assert page.status_code == 200
    assert "10,000 (1 % of the supply)" in page.text
    assert "no limit" in page.text
    assert "120,000 for a buy" in page.text


async def test_an_opening_is_told_in_words_and_no_liquidity(world: World, get: Get) -> None:
    body = (await get(OPENING)).json()
    account = checksum(Address("0x" + "a4" * 20))
    assert body["summary"] == (
        f"The call enableTrading() of {account} opens trading. Buys then pass untaxed, and sales "
        "are taxed 3 %. A day later, sales are refused."
    )
    assert (body["call"]["signature"], body["call"]["sender"]) == ("enableTrading()", account)
    assert body["trades_before"]["buy"]["outcome"] == "refused"
    page = await world.client().get(f"/t/1/{OPENING}", headers=READER)
    assert page.status_code == 200
    assert body["summary"] in page.text
    assert "no pool exists" in page.text


async def test_a_pack_is_a_file(world: World, get: Get) -> None:
    answer = await get(PACK)
    assert (answer.status_code, answer.content) == (200, b"a pack")
    assert answer.headers["content-type"] == "application/zstd"
    name = f'filename="ethereum-{TOKEN}.pack.zst"'
    assert answer.headers["content-disposition"] == f"attachment; {name}"
    assert world.quotes.requests == [("ethereum", TOKEN, "pack")]


async def test_each_counts_as_one_call(world: World) -> None:
    new = world.ledger.create_key(PLANS["developer"], "test", MINED_AT_S)
    client, headers = world.client(), {"X-API-Key": new.plaintext}
    assert (await client.get(f"/token/1/{EXIT}", headers=headers)).status_code == 200
    assert (await client.get(f"/token/1/{LIQUIDITY}", headers=headers)).status_code == 200
    assert (await client.get(f"/token/1/{PACK}", headers=headers)).status_code == 200
    assert (await client.post(CHECK, json=TRADE, headers=headers)).status_code == 200
    await world.aclose()
    assert world.ledger.usage(new.row.key_id, MINED_AT_S).day == 4


async def test_the_tools_say_what_the_routes_say(world: World, get: Get) -> None:
    key = world.new_key()
    async with on_network(world) as base, agent(base, {"X-API-Key": key}) as client:
        checked = await call(client, "check_trade", **ONE, **TRADE)
        assert checked == (False, (await check(world, TRADE))[1])
        quote = await call(client, "quote_exit", **ONE, usd=5)
        assert quote == (False, (await get(f"{EXIT}?usd=5")).json())
        tool_answer = await call(client, "liquidity_holders", **ONE)
        assert tool_answer == (False, (await get(LIQUIDITY)).json())
        hooks = await call(client, "hook_dossier", **ONE)
        assert hooks == (False, (await get(f"{TOKEN}/hooks")).json())
        census = await call(client, "sale_census", **ONE)
        assert census == (False, (await get(CENSUS)).json())
        wrong = await call(client, "check_trade", **ONE, **{**TRADE, "side": "hold"})
        assert (wrong[0], wrong[1]["status"]) == (True, 422)


async def test_the_tool_of_packs_hands_out_the_file_that_it_describes(world: World) -> None:
    async with on_network(world) as base, agent(base, {"X-API-Key": world.new_key()}) as client:
        answer = await client.call_tool("evidence_pack", ONE)
        world.quotes.failure = UpstreamError(service="node", reason="gone")
        failed = await call(client, "evidence_pack", **ONE)
    _, resource = answer.content
    assert resource.type == "resource"
    assert isinstance(resource.resource, BlobResourceContents)
    file = base64.b64decode(resource.resource.blob)
    described = answer.structured_content
    assert described is not None
    assert (described["sha256"], described["size_bytes"]) == (
        hashlib.sha256(file).hexdigest(),
        len(file),
    )
    assert (file, described["block_number"], described["signer"]) == (b"a pack", 21_000_000, SIGNER)
    assert (failed[0], failed[1]["error_code"]) == (True, "analysis_failed")


async def test_people_get_the_pack_without_a_key_or_a_page_that_says_why_not(world: World) -> None:
    page = f"/t/1/{PACK}"
    client = world.client(public=PublicSettings(analyses_per_hour=2))
    answer = await client.get(page, headers=READER)
    assert (answer.status_code, answer.content) == (200, b"a pack")
    assert answer.headers["content-type"] == "application/zstd"
    assert answer.headers["x-content-type-options"] == "nosniff"
    world.quotes.failure = UpstreamError(service="node", reason="gone")
    assert (await client.get(page, headers=READER)).content == b"a pack"  # of the same minute
    world.clock.now_s += 61
    failed = await client.get(page, headers=READER)
    assert (failed.status_code, "could not be made" in failed.text) == (500, True)
    assert (await client.get(page, headers=READER)).content == b"a pack"  # no other may be had
    token_page = await world.client().get(f"/t/1/{TOKEN}", headers=READER)
    assert f'href="/t/ethereum/{TOKEN_SHOWN}/evidence-pack"' in token_page.text


PAGE = f"/t/1/{EXIT}"
READER = {"User-Agent": "Mozilla/5.0", "Accept": "text/html"}


async def test_the_page_has_a_row_for_each_size(world: World) -> None:
    answer = await world.client().get(PAGE, headers=READER)
    assert answer.status_code == 200
    rows = answer.text.split("<tbody>")[1].split("</tbody>")[0].split("</tr>")
    assert "96.50" in rows[0]
    assert "Cannot be sold: sale too large" in rows[1]
    assert "Half the depth" in rows[2]
    token_page = await world.client().get(f"/t/1/{TOKEN}", headers=READER)
    assert token_page.text.lower().count(f"/t/ethereum/{EXIT}") == 1


async def test_the_page_of_liquidity_has_a_bar_and_what_a_withdrawal_does(world: World) -> None:
    answer = await world.client().get(f"/t/1/{LIQUIDITY}", headers=READER)
    assert answer.status_code == 200
    parts = answer.text.split('class="supply"')[1].split("</svg>")[0]
    assert [parts.count(f'"part {kind}"') for kind in ("burn", "lock", "owner", "contract")] == [
        1
    ] * 4
    assert 'x="100.00" width="500.00"' in parts
    assert "nothing: it fails (no liquidity left)" in answer.text
    assert '50.00 % unlocks on <time title="2027-01-15 08:00 UTC">15 January 2027' in answer.text
    world.quotes.failure = UpstreamError(service="node", reason="gone")
    failed = await world.client().get(f"/t/1/{LIQUIDITY}", headers=READER)
    assert (failed.status_code, "Unknown: " in failed.text) == (500, True)


async def test_the_page_of_hooks_says_what_passed_and_what_is_not_known(world: World) -> None:
    answer = await world.client().get(f"/t/1/{TOKEN}/hooks", headers=READER)
    assert answer.status_code == 200
    bought, unrun, sold = answer.text.split("<tbody>")[1].split("</tbody>")[0].split("</tr>")[:3]
    assert "2.00 %" in bought
    assert "0.30 %" in bought
    assert "unknown: the size is more than the pool holds" in unrun
    assert "%" not in unrun
    assert 'after 1 hour</td><td data-label="Outcome">fails: closed' in sold
    assert "is refused, or kept in part: unknown" in answer.text
    assert "who controls hook or token, next block: works" in answer.text
    world.quotes.failure = UpstreamError(service="node", reason="gone")
    failed = await world.client().get(f"/t/1/{TOKEN}/hooks", headers=READER)
    assert (failed.status_code, "Unknown: " in failed.text) == (500, True)


async def test_a_page_without_a_quote_says_why(world: World) -> None:
    world.quotes.failure = UpstreamError(service="node", reason="gone")
    answer = await world.client().get(PAGE, headers=READER)
    assert (answer.status_code, "No quote" in answer.text) == (500, True)


async def test_pages_of_people_without_a_key_are_bounded_as_analyses_are(world: World) -> None:
    settings = PublicSettings(analyses_per_hour=2)
    client = world.client(public=settings)
    seen = [
        (await client.get(f"/t/1/{TOKEN}/{path}", headers=READER)).status_code
        for path in ("exit", "hooks", "liquidity", "exit")
    ]
    assert seen == [200, 200, 429, 200]
    assert len(world.quotes.requests) == 2
    robot = await world.client().get(PAGE, headers={**READER, "User-Agent": "Googlebot/2.1"})
    assert robot.status_code == 404
    closed = await world.client(public=PublicSettings(is_open=False)).get(PAGE, headers=READER)
    assert closed.status_code == 401
