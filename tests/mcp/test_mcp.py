"""Protects the tools for AI agents, as the official client sees them, and the guide for agents."""

import json
import re
from typing import Any

import httpx
import msgspec
import pytest
from mcp.shared.exceptions import MCPError
from mcp.types import INVALID_PARAMS

from config.settings import ApiSettings
from core.errors import TokenRefusedError
from core.report.report import EvidenceRow
from tests.harness.api.mcp_client import MODES, ONE, agent, call
from tests.harness.api.open_port import on_network
from tests.harness.api.sample_reports import (
    MINED_AT_S,
    OWNER_SHOWN,
    TOKEN,
    TOKEN_SHOWN,
    make_pool,
    make_power,
    make_record,
    make_report,
)
from tests.harness.api.specified_fields import check
from tests.harness.api.world import PLANS, World

JUDGING = ("check_token", "token_report", "token_evidence")

WATCHING = ("watch_tokens", "list_watches", "watch_messages", "remove_watch")

QUOTING = (
    *("quote_exit", "liquidity_holders", "hook_dossier", "sale_census", "trade_limits"),
    *("token_opening", "evidence_pack", "check_trade"),
)

BILLED = (*JUDGING, "token_kin", "token_disputes", "launch_forensics", *QUOTING, "watch_tokens")

ALL = (
    *JUDGING,
    *("list_chains", "usage", "token_kin", "token_disputes"),
    *QUOTING[:-1],
    "launch_forensics",
    *QUOTING[-1:],
    *WATCHING,
)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("form", ["X-API-Key: {}", "Authorization: Bearer {}", "Authorization: {}"])
async def test_each_tool_says_what_its_route_says(world: World, mode: str, form: str) -> None:
    key = world.new_key("pro")
    name, _, value = form.format(key).partition(": ")
    async with on_network(world) as base, httpx.AsyncClient(base_url=base) as http:

        async def route(path: str) -> Any:
            return (await http.get(path, headers={"X-API-Key": key})).json()

        async with agent(base, {name: value}, mode) as client:
            summary = await call(client, "check_token", **ONE)
            assert summary == (False, await route(f"/token/1/{TOKEN}/summary"))
            check(summary[1], "summary")
            assert await call(client, "token_report", **ONE) == (
                False,
                await route(f"/token/1/{TOKEN}"),
            )
            assert await call(client, "token_report", **ONE, response_format="compat") == (
                False,
                await route(f"/token/1/{TOKEN}?response_format=compat"),
            )
            _, evidence = await call(client, "token_evidence", **ONE)
            whole = await route(f"/token/1/{TOKEN}/evidence")
            assert {key: evidence[key] for key in whole} == whole
            assert await call(client, "usage") == (False, await route("/usage"))
            _, listed = await call(client, "list_chains")
            chains = listed["chains"]
            assert [(c["chain"], c["chain_id"], c["aliases"], c["is_served"]) for c in chains] == [
                ("ethereum", 1, ["eth"], True),
                ("chain_56", 56, ["bsc", "bnb"], False),
            ]


async def test_a_verdict_has_the_powers_and_the_track_record(world: World) -> None:
    world.analysis.outcome = make_report(powers=(make_power(),), track_record=make_record())
    async with (
        on_network(world) as base,
        agent(base, {"X-API-Key": world.new_key()}) as client,
    ):
        _, summary = await call(client, "check_token", **ONE)
        described = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert [(power["what"], power["holder"]) for power in summary["powers"]] == [
        ("stop", OWNER_SHOWN)
    ]
    assert summary["track_record"]["is_established"] is True
    assert "powers" in str(described["check_token"].description)


async def test_the_tools_are_described_read_only_and_warn(world: World) -> None:
    async with (
        on_network(world) as base,
        agent(base, {"X-API-Key": world.new_key()}) as client,
    ):
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert client.instructions is not None
        assert "never take them for safe" in client.instructions
    assert tuple(tools) == ALL
    for name, tool in tools.items():
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint is (name not in ("watch_tokens", "remove_watch"))
        assert tool.description is not None
        assert ("Counts as one call" in tool.description) is (name in BILLED)
        assert tool.input_schema["type"] == "object"
        assert tool.output_schema is not None
        assert tool.output_schema["type"] == "object"
        if name in JUDGING:
            assert "safe" in tool.description
            assert tool.input_schema["required"] == ["chain", "address"]
            assert {"chain", "address"} <= set(tool.input_schema["properties"])
            chain = tool.input_schema["properties"]["chain"]
            assert {one["type"] for one in chain["anyOf"]} == {"integer", "string"}


@pytest.mark.parametrize("mode", MODES)
async def test_a_tool_that_judges_counts_as_its_route_does(world: World, mode: str) -> None:
    new = world.ledger.create_key(PLANS["trial"], "test", MINED_AT_S)
    async with (
        on_network(world) as base,
        agent(base, {"X-API-Key": new.plaintext}, mode) as client,
    ):
        for tool in ("list_chains", "usage", "list_chains"):
            await call(client, tool)
        for tool in (*JUDGING, *JUDGING[:2]):
            is_error, _ = await call(client, tool, **ONE)
            assert not is_error
        assert await call(client, "check_token", **ONE) == (
            True,
            {
                "status": 429,
                "error_code": None,
                "error": "Limit of 5 calls in 10 seconds reached.",
                "retry_after_s": 11,
            },
        )
        _, seen = await call(client, "usage")
    assert seen["lifetime"]["used"] == 5
    assert world.ledger.usage(new.row.key_id, MINED_AT_S).lifetime == 5


async def test_a_spent_key_hears_402(world: World) -> None:
    new = world.ledger.create_key(PLANS["trial"], "test", MINED_AT_S)
    world.count(new.row.key_id, 100, at_s=MINED_AT_S)
    async with (
        on_network(world) as base,
        agent(base, {"X-API-Key": new.plaintext}) as client,
    ):
        is_error, answer = await call(client, "token_report", **ONE)
    assert (is_error, answer["status"], answer["error_code"]) == (True, 402, "free_quota_exhausted")


@pytest.mark.parametrize(
    ("tool", "arguments", "status", "shown"),
    [
        ("check_token", {**ONE, "chain": "9"}, 422, "chain: Unknown chain; one of ethereum"),
        ("check_token", {**ONE, "chain": "56"}, 503, "does not serve the chain chain_56"),
        ("check_token", {**ONE, "chain": "BSC"}, 503, "does not serve the chain chain_56"),
        ("check_token", {"chain": "1"}, 422, "missing required field `address`"),
        ("check_token", {**ONE, "chain": 9}, 422, "chain: Unknown chain; one of ethereum"),
        ("check_token", {**ONE, "chain": 56}, 503, "does not serve the chain chain_56"),
        ("check_token", {**ONE, "chain": 1.5}, 422, "Expected `int | str`, got `float`"),
        ("check_token", {**ONE, "chain": True}, 422, "Expected `int | str`, got `bool`"),
        ("check_token", {**ONE, "refresh": True}, 422, "unknown field `refresh`"),
        ("token_report", {**ONE, "response_format": "x"}, 422, "Invalid enum value 'x'"),
        ("usage", {"key": "other"}, 422, "unknown field `key`"),
    ],
)
async def test_what_is_asked_wrongly_is_an_error_of_the_tool(
    world: World, tool: str, arguments: dict[str, Any], status: int, shown: str
) -> None:
    async with (
        on_network(world) as base,
        agent(base, {"X-API-Key": world.new_key("pro")}) as client,
    ):
        is_error, answer = await call(client, tool, **arguments)
        _, seen = await call(client, "usage")
    assert (is_error, answer["status"]) == (True, status)
    assert shown in answer["error"]
    assert seen["day"]["used"] == 0


@pytest.mark.parametrize(
    ("outcome", "address", "code"),
    [
        (make_report(), "0x12", "invalid_address"),
        (TokenRefusedError(code="not_a_contract", reason="no code"), TOKEN, "not_a_contract"),
        (ValueError("secret"), TOKEN, "analysis_failed"),
    ],
)
async def test_a_refused_token_is_an_error_with_its_code(
    world: World, outcome: Any, address: str, code: str
) -> None:
    world.analysis.outcome = outcome
    async with (
        on_network(world) as base,
        agent(base, {"X-API-Key": world.new_key()}) as client,
    ):
        is_error, answer = await call(client, "check_token", chain="1", address=address)
    assert (is_error, answer["error_code"], answer["verdict"]) == (True, code, None)
    assert "secret" not in str(answer)


async def test_a_ledger_out_of_reach_is_an_error_of_the_tool(world: World) -> None:
    async with (
        on_network(world) as base,
        agent(base, {"X-API-Key": world.new_key("trial")}) as client,
    ):
        await call(client, "list_chains")
        world.ledger.close()
        is_error, answer = await call(client, "usage")
    assert (is_error, answer["status"]) == (True, 503)


async def test_a_fault_of_ours_tells_nothing(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    async with (
        on_network(world) as base,
        agent(base, {"X-API-Key": world.new_key("pro")}) as client,
    ):
        await call(client, "usage")

        def fail(*_: object) -> None:
            raise LookupError("secret")

        monkeypatch.setattr(world.ledger, "usage", fail)
        is_error, answer = await call(client, "usage")
    assert (is_error, answer["status"], answer["error"]) == (True, 500, "Internal server error.")


async def test_a_tool_that_does_not_exist_is_an_error_of_the_protocol(world: World) -> None:
    async with (
        on_network(world) as base,
        agent(base, {"X-API-Key": world.new_key()}) as client,
    ):
        with pytest.raises(MCPError) as raised:
            await client.call_tool("no_such_tool", {})
    assert raised.value.error.code == INVALID_PARAMS
    assert "no_such_tool; one of check_token" in raised.value.error.message


@pytest.mark.parametrize("chain", ["ethereum", "1", "eth", "ETH", 1])
async def test_a_chain_is_found_by_every_name_it_has(world: World, chain: str | int) -> None:
    async with (
        on_network(world) as base,
        agent(base, {"X-API-Key": world.new_key()}) as client,
    ):
        is_error, answer = await call(client, "check_token", chain=chain, address=TOKEN)
    assert (is_error, answer["chain"]) == (False, "ethereum")


async def test_a_report_shows_as_many_pools_as_can_be_read(world: World) -> None:
    pools = tuple(make_pool(ordinal=at, liquidity_usd=1e6 - at) for at in range(300))
    world.analysis.outcome = make_report(pools=pools)
    async with (
        on_network(world) as base,
        agent(base, {"X-API-Key": world.new_key()}) as client,
    ):
        result = await client.call_tool("token_report", ONE)
        assert result.structured_content is not None
        shown = result.structured_content["features"]["dex"]
    assert [pool["liquidity"] for pool in shown] == [1e6 - at for at in range(50)]
    assert [text.text for text in result.content if text.type == "text"][1:] == [
        f"The 50 deepest of 300 pools are shown. GET /token/ethereum/{TOKEN_SHOWN} has all."
    ]


async def test_long_evidence_is_read_in_parts(world: World) -> None:
    """A simulation of 300 KB: its outcome in the first part, the rest on request."""
    calls = [{"to": TOKEN, "data": f"0x{at:01000x}", "ok": at > 0} for at in range(250)]
    body = json.dumps({"request": calls, "calls": calls[:3], "outcome": {"reason": "no"}})
    rows = (
        EvidenceRow(key="is_proxy", body='{"slots":["0x1"]}'),
        EvidenceRow(key="sell:0x1", body=body),
        EvidenceRow(key="long", body=json.dumps({"text": "\u00e9" * 30_000}, ensure_ascii=False)),
    )
    world.analysis.outcome = msgspec.structs.replace(make_report(), evidence=rows)
    async with (
        on_network(world) as base,
        agent(base, {"X-API-Key": world.new_key()}) as client,
    ):
        is_error, answer = await call(client, "token_evidence", **ONE)
        assert not is_error
        assert answer["evidence"] == {
            "is_proxy": {"slots": ["0x1"]},
            "sell:0x1": {"outcome": {"reason": "no"}},
        }
        assert answer["left_out"] == {"sell:0x1": len(body), "long": 30_012}
        for key, size in answer["left_out"].items():
            text = ""
            for _ in range(-(-size // 20_000)):
                _, answer = await call(client, "token_evidence", **ONE, key=key, offset=len(text))
                part = answer["part"]
                text += part["text"]
                assert part["total_chars"] == size
                assert part["next_offset"] == (None if len(text) == size else len(text))
            assert json.loads(text) == json.loads(next(r.body for r in rows if r.key == key))
        is_error, answer = await call(client, "token_evidence", **ONE, key="nothing")
        assert (is_error, answer["status"]) == (True, 422)


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        (None, 200),
        ("https://assay.test", 200),
        ("http://localhost:3000", 200),
        ("http://127.0.0.1", 200),
        ("http://[::1]:8000", 200),
        ("https://evil.test", 403),
        ("http://assay.test", 403),  # as in Host, which a site can set
        ("http://localhost.evil.test", 403),
        ("http://[::1", 403),
        ("null", 403),
        ("", 403),
    ],
)
async def test_scripts_of_unknown_sites_are_refused(
    world: World, origin: str | None, status: int
) -> None:
    client = world.client(settings=ApiSettings(cors_origins=("https://assay.test",)))
    headers = {} if origin is None else {"Origin": origin}
    response = await post(client, world.new_key(), content=json.dumps(PING).encode(), **headers)
    assert response.status_code == status


# --- refused before the protocol is looked at --------------------------------------------------
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}

MODERN = {"Mcp_Protocol_Version": "2026-07-28"}

NO_METHOD = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "nothing",
    "params": {
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        }
    },
}


async def post(
    client: httpx.AsyncClient, key: str, *, content: bytes, **headers: str
) -> httpx.Response:
    sent = {"X-API-Key": key, "Content-Type": "application/json", "Accept": "application/json"}
    sent |= {name.replace("_", "-"): value for name, value in headers.items()}
    return await client.post("/mcp", content=content, headers=sent)


async def test_who_may_not_call_learns_nothing_of_the_tools(
    world: World, client: httpx.AsyncClient
) -> None:
    content = json.dumps(PING).encode()
    trial = world.new_key("trial")
    response = await post(client, "", content=content)
    assert (response.status_code, response.json()["error_code"]) == (401, "api_key_required")
    response = await post(client, "tsk_live_made_up", content=content)
    assert (response.status_code, response.json()) == (401, {"detail": "Unknown API key."})
    world.clock.now_s += 14 * 86_400
    response = await post(client, trial, content=content)
    assert (response.status_code, response.json()["error_code"]) == (401, "api_key_expired")


@pytest.mark.parametrize(
    ("content", "headers", "status"),
    [
        (json.dumps(PING).encode(), {}, 200),
        (b"{", {}, 400),
        (b"", {}, 400),
        (b"[]", {}, 400),
        (b'{"jsonrpc": "1.0"}', {}, 400),
        (json.dumps(PING).encode(), {"Content_Type": "text/plain"}, 400),
        (json.dumps(PING).encode(), {"Accept": "text/html"}, 406),
        (json.dumps(PING).encode(), {"Accept": "text/html", **MODERN}, 406),
        (json.dumps(PING).encode(), MODERN, 400),
        (json.dumps(NO_METHOD).encode(), {**MODERN, "Mcp_Method": "nothing"}, 404),
        (b'"' + b"a" * 70_000 + b'"', {}, 413),
    ],
)
async def test_what_is_not_of_the_protocol_gets_json_all_the_same(
    world: World,
    client: httpx.AsyncClient,
    content: bytes,
    headers: dict[str, str],
    status: int,
) -> None:
    response = await post(client, world.new_key(), content=content, **headers)
    assert response.status_code == status
    assert response.headers["content-type"].startswith("application/json")
    assert isinstance(response.json(), dict)
    documented = (await client.get("/schema")).json()["paths"]["/mcp"]["post"]["responses"]
    assert str(status) in documented


@pytest.mark.parametrize("method", ["GET", "DELETE"])
async def test_there_is_no_session_to_listen_to_or_to_end(
    world: World, client: httpx.AsyncClient, method: str
) -> None:
    response = await client.request(method, "/mcp", headers={"X-API-Key": world.new_key()})
    assert (response.status_code, response.headers["allow"]) == (405, "OPTIONS, POST")


# --- llms ---------------------------------------------------------------------------------------


async def text_of(client: httpx.AsyncClient) -> str:
    response = await client.get("/llms.txt")
    assert response.status_code == 200
    assert response.headers["content-type"].startswith("text/plain")
    return response.text


def section(text: str, title: str) -> list[str]:
    return text.split(f"\n## {title}\n")[1].split("\n## ", maxsplit=1)[0].strip().splitlines()


async def test_it_has_the_form_of_an_llms_txt(client: httpx.AsyncClient) -> None:
    lines = (await text_of(client)).splitlines()
    assert lines[0] == "# Assay"
    assert lines[2].startswith("> ")
    assert "](/schema)" in "\n".join(lines)


async def test_it_lists_every_route_of_the_schema_and_no_other(client: httpx.AsyncClient) -> None:
    listed = re.findall(r"`([A-Z]+) (/[^`]*)`", "\n".join(section(await text_of(client), "Routes")))
    paths = (await client.get("/schema")).json()["paths"]
    documented = [(method.upper(), path) for path, item in paths.items() for method in item]
    assert sorted(listed) == sorted(documented)
    assert ("POST", "/mcp") in listed


async def test_every_number_of_a_plan_is_that_of_the_plan(world: World) -> None:
    odd = msgspec.structs.replace(
        PLANS["trial"],
        burst_limit=3,
        burst_window_s=7,
        per_minute=13,
        per_day=17,
        lifetime=19,
        expires_after_days=23,
    )
    client = world.client(plans={"trial": odd, "admin": PLANS["admin"]})
    assert section(await text_of(client), "Plans") == [
        "- trial: 3 calls in 7 seconds, 13 a minute, 17 a day, 19 in all, ends after 23 days",
        "- admin: no limits",
    ]


async def test_it_names_the_chains_and_which_are_served(world: World) -> None:
    client = world.client(served=frozenset({"chain_56"}))
    assert section(await text_of(client), "Chains") == [
        "- ethereum (1, eth): ethereum, not here",
        "- chain_56 (56, bsc, bnb): chain_56",
    ]


@pytest.mark.parametrize("word", ["null", "pending", "unknown", "X-API-Key", "402", "Retry-After"])
async def test_it_warns_of_what_agents_get_wrong(client: httpx.AsyncClient, word: str) -> None:
    assert word in await text_of(client)
