"""Protects HEAD: wherever GET is, the same head and the same count, and no body."""

import httpx
import pytest

from api.serving.cached_answer_app import CachedAnswerApp
from tests.harness.api.routes import ROUTES, STREAMS
from tests.harness.api.sample_reports import MINED_AT_S, TOKEN
from tests.harness.api.world import PLANS, World

PATH = f"/token/1/{TOKEN}"

GETS = [path for method, path in ROUTES if method == "GET"]

OF_THE_MOMENT = {"/metrics", "/usage"}
"""Their bodies change with the calls."""


@pytest.mark.parametrize("with_key", [True, False])
async def test_head_is_get_without_its_body(
    world: World, client: httpx.AsyncClient, with_key: bool
) -> None:
    headers = {"X-API-Key": world.new_key(days=5)} if with_key else {}
    for path in GETS:
        get_response = await client.get(path, headers=headers)
        head_response = await client.head(path, headers=headers)
        assert (head_response.status_code, head_response.content) == (
            get_response.status_code,
            b"",
        ), path
        assert list(head_response.headers) == list(get_response.headers), path
        assert head_response.headers == get_response.headers or path in OF_THE_MOMENT, path


@pytest.mark.parametrize("rest", ["", "/summary", "?response_format=compat"])
async def test_a_tag_that_is_known_is_known_to_head(
    world: World, client: httpx.AsyncClient, rest: str
) -> None:
    key = {"X-API-Key": world.new_key()}
    tag = (await client.head(PATH + rest, headers=key)).headers["etag"]
    for _ in range(2):
        head_response = await client.head(PATH + rest, headers={**key, "If-None-Match": tag})
        assert (head_response.status_code, head_response.headers["etag"]) == (304, tag)


@pytest.mark.parametrize("plan", ["trial", "developer"])
async def test_head_counts_as_get_does(world: World, plan: str) -> None:
    """Counted in the router and from memory; a call beyond the limit is refused."""
    new = world.ledger.create_key(PLANS[plan], "test", MINED_AT_S)
    client = world.client()
    burst = {"trial": 5, "developer": 20}[plan]
    answers = [
        await client.head(PATH, headers={"X-API-Key": new.plaintext}) for _ in range(burst + 1)
    ]
    assert [answer.status_code for answer in answers] == [200] * burst + [429]
    assert answers[-1].headers["x-ratelimit-burst-limit"] == str(burst)
    assert answers[-1].content == b""
    await world.aclose()
    assert world.ledger.usage(new.row.key_id, MINED_AT_S).day == burst


async def test_each_route_names_its_methods(client: httpx.AsyncClient) -> None:
    for method, path in ROUTES:
        options_response, refused = await client.options(path), await client.patch(path)
        assert (options_response.status_code, refused.status_code) == (204, 405), path
        allowed = refused.headers["allow"].split(", ")
        assert allowed == sorted({*allowed, "OPTIONS", method})
        for named in (allowed, options_response.headers["allow"].split(", ")):
            assert ("HEAD" in named) is ("GET" in named), path


def test_every_route_is_tried(world: World) -> None:
    app: CachedAnswerApp = world.make_app()
    world.keep(app)
    known = {
        (method, route.path_format)
        for route in app.router.routes
        for method in route.methods
        if method != "OPTIONS"
    }
    assert len(known) == len(ROUTES) + len(STREAMS)
