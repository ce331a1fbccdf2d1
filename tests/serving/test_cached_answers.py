"""Protects the hot path: cached answers equal the router's."""

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.serving.cached_answer_app import CachedAnswerApp
from core.errors import StoreError
from sql.accounts.ledger import Ledger
from tests.harness.api.sample_reports import MINED_AT_S, TOKEN, make_pool, make_report
from tests.harness.api.world import CLIENT, PLANS, World

PATH = f"/token/1/{TOKEN}"
FORMS = ["", "?response_format=compat", "?response_format=native", "/summary", "/summary?x=1"]
LARGE = make_report(pools=tuple(make_pool(ordinal=at) for at in range(300)))


def client_of(app: Any) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(app=app, client=(CLIENT, 1), raise_app_exceptions=False)
    return httpx.AsyncClient(transport=transport, base_url="http://assay.test")


@pytest.fixture
def app(world: World) -> CachedAnswerApp:
    made = world.make_app()
    world.keep(made)
    return made


async def ask(
    app: Any, key: str, rest: str = "", **headers: str
) -> tuple[int, bytes, dict[str, str]]:
    """Status, body as sent, headers."""
    sent = {"X-API-Key": key, "Accept-Encoding": "identity"}
    sent |= {name.replace("_", "-"): value for name, value in headers.items()}
    async with (
        client_of(app) as client,
        client.stream("GET", PATH + rest, headers=sent) as response,
    ):
        body = b"".join([part async for part in response.aiter_raw()])
        return response.status_code, body, dict(response.headers)


def shut_router(app: CachedAnswerApp) -> None:
    """Make every use of the router fail from now on."""

    async def nobody(*_: object) -> None:
        raise LookupError

    app.router = nobody  # type: ignore[assignment]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("plan", ["admin", "developer", "pro"])
async def test_what_is_in_memory_needs_no_router_and_no_ledger(
    world: World, app: CachedAnswerApp, form: str, plan: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = world.new_key(plan)
    first = await ask(app, key, form)
    shut_router(app)
    for name in ("find", "usage", "spend", "list_keys"):
        monkeypatch.delattr(Ledger, name)
    assert await ask(app, key, form) == first
    assert first[0] == 200


VARIANTS: list[tuple[str, dict[str, str]]] = [
    *((form, {}) for form in FORMS),
    ("", {"Accept_Encoding": "gzip"}),
    ("", {"Accept_Encoding": "zstd, gzip"}),
    ("/summary", {"Accept_Encoding": "gzip"}),
    ("", {"If_None_Match": "*"}),
    ("", {"If_None_Match": '"x"'}),
    ("", {"Accept_Encoding": "gzip", "If_None_Match": "*"}),
]


@pytest.mark.parametrize(("rest", "headers"), VARIANTS)
@pytest.mark.parametrize("days_left", [None, pytest.param(14, marks=pytest.mark.exhaustive), 3])
@pytest.mark.parametrize("calls", [3, 30])
async def test_the_router_gives_the_same_answer(
    world: World,
    app: CachedAnswerApp,
    rest: str,
    headers: dict[str, str],
    days_left: int | None,
    calls: int,
) -> None:
    """Calls of two keys alike, one always by the router; 30 calls run into the burst's limit."""
    world.analysis.outcome = LARGE
    plan = "pro" if days_left is None else "developer"
    keys = [world.new_key(plan) for _ in range(2)]
    if days_left is not None:
        world.clock.now_s += (365 - days_left) * 86_400
    by_router = await ask(app.router, keys[0], rest, **headers)
    assert await ask(app, keys[1], rest, **headers) == by_router
    for _ in range(calls - 1):
        by_router = await ask(app.router, keys[0], rest, **headers)
        assert await ask(app, keys[1], rest, **headers) == by_router
    status = 429 if plan == "developer" and calls == 30 else 304 if "*" in headers.values() else 200
    assert by_router[0] == status


async def test_a_call_answered_here_is_counted(world: World, app: CachedAnswerApp) -> None:
    new = world.ledger.create_key(PLANS["pro"], "test", MINED_AT_S)
    await ask(app, new.plaintext)
    shut_router(app)
    for _ in range(9):
        await ask(app, new.plaintext)
    await app.aclose()
    assert world.ledger.usage(new.row.key_id, MINED_AT_S).day == 10


async def test_a_refusal_here_is_not_counted(world: World, app: CachedAnswerApp) -> None:
    new = world.ledger.create_key(PLANS["developer"], "test", MINED_AT_S)
    statuses = [(await ask(app, new.plaintext))[0] for _ in range(25)]
    assert statuses == [200] * 20 + [429] * 5
    await app.aclose()
    assert world.ledger.usage(new.row.key_id, MINED_AT_S).day == 20


async def test_a_key_revoked_here_is_unknown_at_once(world: World, app: CachedAnswerApp) -> None:
    new = world.ledger.create_key(PLANS["pro"], "test", MINED_AT_S)
    for _ in range(2):
        assert (await ask(app, new.plaintext))[0] == 200
    world.ledger.revoke(new.row.key_id, MINED_AT_S)
    assert (await ask(app, new.plaintext))[0] == 401


async def test_a_key_revoked_by_another_process_is_unknown_in_seconds(
    world: World, app: CachedAnswerApp, tmp_path: Path
) -> None:
    new = world.ledger.create_key(PLANS["pro"], "test", MINED_AT_S)
    assert (await ask(app, new.plaintext))[0] == 200
    other = Ledger.open(tmp_path / "ledger.sqlite")
    other.revoke(new.row.key_id, MINED_AT_S)
    other.close()
    async with asyncio.timeout(3):
        status = 200
        while status == 200:
            await asyncio.sleep(0.05)
            status, _, _ = await ask(app, new.plaintext)
    assert status == 401


async def test_an_expired_key_is_refused_here_too(world: World, app: CachedAnswerApp) -> None:
    key = world.new_key("developer")
    assert (await ask(app, key))[0] == 200
    world.clock.now_s += 365 * 86_400 - 1
    await ask(app, key)
    world.clock.now_s += 1
    assert (await ask(app, key))[0] == 401


async def test_a_refresh_replaces_every_coding(world: World, app: CachedAnswerApp) -> None:
    world.analysis.outcome = LARGE
    key = world.new_key()
    before = [await ask(app, key, Accept_Encoding=coding) for coding in ("gzip", "zstd")]
    world.analysis.outcome = make_report(pools=LARGE.pools, symbol="NEW")
    await ask(app, key, "?refresh=true")
    after = [await ask(app, key, Accept_Encoding=coding) for coding in ("gzip", "zstd")]
    assert len({headers["etag"] for _, _, headers in before + after}) == 2
    assert before[0][2]["etag"] == before[1][2]["etag"] != after[0][2]["etag"]


async def test_two_keys_or_another_method_are_left_to_the_router(
    world: World, app: CachedAnswerApp
) -> None:
    key = world.new_key()
    await ask(app, key)
    shut_router(app)
    async with client_of(app) as client:
        for method, headers in (
            ("HEAD", [("X-API-Key", key)]),
            ("POST", [("X-API-Key", key)]),
            ("GET", [("X-API-Key", key), ("X-API-Key", key)]),
            ("GET", [("X-API-Key", "")]),
            ("GET", []),
        ):
            answer = await client.request(method, PATH, headers=headers)
            assert answer.status_code == 500, (method, headers)


async def test_counts_that_cannot_be_written_stop_the_calls(
    world: World, app: CachedAnswerApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody is let through unseen; and the ledger's return ends it, with every call counted."""
    new = world.ledger.create_key(PLANS["pro"], "test", MINED_AT_S)
    assert (await ask(app, new.plaintext))[0] == 200

    def broken(*_: object) -> None:
        raise StoreError(path="ledger", reason="the disk is full")

    answered = 1
    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "add_calls", broken)
        async with asyncio.timeout(5):
            while True:
                status, body, _ = await ask(app, new.plaintext)
                if status != 200:
                    break
                answered += 1
                await asyncio.sleep(0.02)
    assert status == 503
    assert body == b'{"detail":"API keys cannot be checked right now. Try again later."}'
    assert (await ask(app, new.plaintext))[0] == 200
    await app.aclose()
    assert world.ledger.usage(new.row.key_id, MINED_AT_S).day == answered + 1


@pytest.mark.parametrize(("plan", "let_through"), [("trial", 5), ("developer", 20), ("pro", 100)])
async def test_two_hundred_at_once_get_no_more_than_the_limit(
    world: World, app: CachedAnswerApp, plan: str, let_through: int
) -> None:
    key = world.new_key(plan)
    answers = await asyncio.gather(*(ask(app, key) for _ in range(200)))
    assert [status for status, _, _ in answers].count(200) == let_through
    assert {status for status, _, _ in answers} == {200, 429}


async def test_a_day_ends_while_calls_are_counted(world: World, app: CachedAnswerApp) -> None:
    new = world.ledger.create_key(PLANS["pro"], "test", MINED_AT_S)
    midnight_s = (MINED_AT_S // 86_400 + 1) * 86_400
    for now_s in (midnight_s - 2, midnight_s - 1, midnight_s, midnight_s + 1, midnight_s + 2):
        world.clock.now_s = float(now_s)
        assert (await ask(app, new.plaintext))[0] == 200
    await app.aclose()
    before, after = (world.ledger.usage(new.row.key_id, midnight_s + at) for at in (-1, 0))
    assert (before.day, after.day, after.lifetime) == (2, 3, 5)
