"""Protects the key's deadline: every answer to the key states it, whatever its source."""

from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest

from core.errors import TokenRefusedError, UpstreamError
from sql.accounts.ledger import NewKey
from tests.harness.api.routes import ROUTES
from tests.harness.api.sample_reports import MINED_AT_S, TOKEN
from tests.harness.api.world import PLANS, World

PATH = f"/token/1/{TOKEN}"
DAY_S = 86_400
AT = "2026-10-05T14:13:20Z"

LEFT: list[tuple[int, dict[str, str]]] = [
    # seconds to live, stated headers
    (7 * DAY_S + 1, {"x-api-key-expires-at": AT}),
    (
        7 * DAY_S,
        {
            "x-api-key-expires-at": AT,
            "x-api-key-expires-in": "604800",
            "warning": f'299 - "API key expires at {AT}"',
        },
    ),
    (0, {"x-api-key-expires-at": AT}),
]

HEADERS = ("x-api-key-expires-at", "x-api-key-expires-in", "warning")


def deadline_headers(response: httpx.Response) -> dict[str, str]:
    """Return the deadline headers of a response, each present once."""
    names = [name for name, _ in response.headers.multi_items()]
    assert all(names.count(name) <= 1 for name in HEADERS)
    return {name: response.headers[name] for name in HEADERS if name in names}


@pytest.fixture
def key(world: World) -> NewKey:
    return world.ledger.create_key(PLANS["trial"], "test", MINED_AT_S)


@pytest.mark.parametrize(("left_s", "expected"), LEFT)
async def test_every_route_tells_it(
    world: World, client: httpx.AsyncClient, left_s: int, expected: dict[str, str]
) -> None:
    key = {"X-API-Key": world.new_key(days=14)}
    world.clock.now_s += 14 * DAY_S - left_s
    others = [("HEAD", PATH), ("OPTIONS", PATH), ("PUT", PATH), ("GET", "/nowhere")]
    for method, path in [*ROUTES, *others] * 2:  # the second time from memory
        response = await client.request(method, path, headers=key)
        assert deadline_headers(response) == expected, (method, path, response.status_code)


Ask = Callable[[World, httpx.AsyncClient, NewKey], Awaitable[httpx.Response]]


def asks(method: str, path: str, outcome: Exception | None = None, **sent: Any) -> Ask:
    async def ask(world: World, client: httpx.AsyncClient, key: NewKey) -> httpx.Response:
        if outcome is not None:
            world.analysis.outcome = outcome
        headers = {"X-API-Key": key.plaintext, **sent.get("headers", {})}
        return await client.request(method, path, **{**sent, "headers": headers})

    return ask


def repeated(ask: Ask, calls: int, *, pause_s: float = 0) -> Ask:
    async def repeat(world: World, client: httpx.AsyncClient, key: NewKey) -> httpx.Response:
        for _ in range(calls - 1):
            await ask(world, client, key)
            world.clock.now_s += pause_s
        return await ask(world, client, key)

    return repeat


def used(ask: Ask, calls: int) -> Ask:
    async def use(world: World, client: httpx.AsyncClient, key: NewKey) -> httpx.Response:
        world.count(key.row.key_id, calls, at_s=world.clock.now_s)
        return await ask(world, client, key)

    return use


async def fault(world: World, _: httpx.AsyncClient, key: NewKey) -> httpx.Response:
    """Cause an internal error outside of the analysis."""

    async def read_states() -> Any:
        raise LookupError

    client = world.client(read_states=read_states)
    return await client.get("/ready", headers={"X-API-Key": key.plaintext})


async def no_issuing(world: World, _: httpx.AsyncClient, key: NewKey) -> httpx.Response:
    client = world.client(has_billing=False)
    return await client.post("/agent-keys", headers={"X-API-Key": key.plaintext})


JSON = {"Content-Type": "application/json", "Accept": "application/json"}
RPC = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
GOPLUS = "/goplus/api/v1/token_security"

STATUSES: list[tuple[str, int, Ask]] = [
    ("findings", 200, asks("GET", PATH)),
    ("a batch", 200, asks("POST", "/tokens/1", json={"addresses": [TOKEN]})),
    ("tools", 200, asks("POST", "/mcp", json=RPC, headers=JSON)),
    ("GoPlus", 200, asks("GET", f"{GOPLUS}/1?contract_addresses={TOKEN}")),
    ("GoPlus refused", 200, asks("GET", f"{GOPLUS}/9")),
    ("a notice", 202, asks("POST", "/mcp", json={**RPC, "id": None}, headers=JSON)),
    ("methods", 204, asks("OPTIONS", PATH)),
    ("known", 304, asks("GET", PATH, headers={"If-None-Match": "*"})),
    ("known, from memory", 304, repeated(asks("GET", PATH, headers={"If-None-Match": "*"}), 2)),
    ("to a page", 303, asks("GET", f"/t?chain=1&address={TOKEN}")),
    ("no JSON", 400, asks("POST", "/tokens/1", content=b"{")),
    ("no JSON for tools", 400, asks("POST", "/mcp", content=b"{", headers=JSON)),
    ("no JSON for a key", 400, asks("POST", "/agent-keys", content=b"{")),
    ("spent", 402, used(asks("GET", PATH), 100)),
    ("spent, batch", 402, used(asks("POST", "/tokens/1", json={"addresses": [TOKEN]}), 100)),
    ("plan", 403, asks("GET", f"{PATH}?refresh=true")),
    ("no such route", 404, asks("GET", "/token")),
    ("no such tool", 200, asks("POST", "/mcp", json={**RPC, "method": "x"}, headers=JSON)),
    ("method", 405, asks("DELETE", PATH)),
    ("unreadable", 406, asks("POST", "/mcp", json=RPC, headers={"Accept": "text/html"})),
    ("issued", 409, repeated(asks("POST", "/agent-keys", json={"reason": "a"}), 2)),
    ("too large", 413, asks("POST", "/tokens/1", content=b"a" * 20_000)),
    ("too large for a key", 413, asks("POST", "/agent-keys", content=b"a" * 20_000)),
    ("unknown chain", 422, asks("GET", f"/token/9/{TOKEN}")),
    ("bad value", 422, asks("GET", f"{PATH}?refresh=maybe")),
    ("bad address", 422, asks("GET", "/token/1/0x12")),
    ("bad batch", 422, asks("POST", "/tokens/1", json={"addresses": []})),
    ("no token", 422, asks("GET", PATH, TokenRefusedError(code="not_a_token", reason="x"))),
    ("burst", 429, repeated(asks("GET", PATH), 6)),
    ("burst by the router", 429, repeated(asks("GET", f"{PATH}/evidence"), 6)),
    ("minute", 429, repeated(asks("GET", PATH), 21, pause_s=2.5)),
    ("day", 429, used(asks("GET", PATH), 25)),
    ("throttled", 429, repeated(asks("POST", "/agent-keys", json={"reason": "a"}), 6)),
    ("our failure", 500, asks("GET", PATH, UpstreamError(service="node", reason="gone"))),
    ("a fault", 500, fault),
    ("not served", 503, asks("GET", f"/token/56/{TOKEN}")),
    ("no issuing", 503, no_issuing),
    ("no signing in", 503, asks("GET", "/login")),
]


@pytest.mark.parametrize(
    ("status", "ask"), [row[1:] for row in STATUSES], ids=[row[0] for row in STATUSES]
)
async def test_every_status_tells_it(
    world: World, client: httpx.AsyncClient, key: NewKey, status: int, ask: Ask
) -> None:
    world.clock.now_s += 8 * DAY_S
    response = await ask(world, client, key)
    assert response.status_code == status
    assert set(deadline_headers(response)) == set(HEADERS)


@pytest.mark.parametrize("path", ["/nowhere", "/mcp", f"{GOPLUS}/1"])
async def test_a_key_sent_as_a_token_hears_it_too(
    client: httpx.AsyncClient, key: NewKey, path: str
) -> None:
    response = await client.get(path, headers={"Authorization": f"Bearer {key.plaintext}"})
    assert deadline_headers(response) == {"x-api-key-expires-at": AT}


@pytest.mark.parametrize("plan", ["pro", None])
@pytest.mark.parametrize("path", [PATH, "/nowhere", "/health"])
async def test_who_has_no_deadline_hears_of_none(
    world: World, client: httpx.AsyncClient, plan: str | None, path: str
) -> None:
    key = world.new_key(plan) if plan else "tsk_live_unknown"
    assert deadline_headers(await client.get(path, headers={"X-API-Key": key})) == {}


async def test_a_ledger_out_of_reach_costs_the_header_and_not_the_answer(
    world: World, client: httpx.AsyncClient, key: NewKey
) -> None:
    world.ledger.close()
    response = await client.get("/nowhere", headers={"X-API-Key": key.plaintext})
    assert (response.status_code, deadline_headers(response)) == (404, {})
