"""After any fault of an endpoint the client gets the answer elsewhere or a clear error."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from aiohttp import web
from structlog.testing import capture_logs

from core.errors import ConfigError, UpstreamError, WrongChainError
from core.rpc.client import RpcClient
from core.rpc.exchange_report import ExchangeReport
from core.rpc.failures import (
    AnswerTimeoutError,
    AnswerTooLargeError,
    DisagreementError,
    RateLimitedError,
)
from core.rpc.messages import RpcAnswer, RpcFault
from tests.harness.node.serve import (
    SETTINGS,
    Node,
    Reply,
    changed,
    cut_short,
    drop,
    faulty,
    hang,
    huge,
    refuses_batches,
    running,
    status,
    text,
)
from tests.harness.rpc.clients import SkippingClock, client_of, echo, texts

BAD_REPLIES: dict[str, Reply] = {
    "hangs": hang,
    "500": status(500),
    "502 page": status(502, "<html>bad gateway</html>"),
    "403": status(403),
    "redirect": status(302, Location="http://elsewhere.example/"),
    "429": status(429),
    "html": text("<html>"),
    "empty": text(""),
    "cut short": cut_short,
    "huge": huge,
    "drops": drop,
    "wrong ids": changed(lambda answers: [one | {"id": one["id"] + 1000} for one in answers]),
    "one missing": changed(lambda answers: answers[1:]),
    "one twice": changed(lambda answers: [answers[0], *answers]),
    "no result": changed(lambda answers: [{"id": one["id"]} for one in answers]),
    "rate limit": faulty(-32005, "rate limit exceeded"),
    "rate limit -32016": faulty(-32016, "over rate limit"),
    "rate limit of one": faulty(429, "slow down", at=1),
}


@pytest.mark.parametrize("reply", BAD_REPLIES.values(), ids=BAD_REPLIES)
async def test_a_bad_endpoint_is_replaced_by_a_good_one(reply: Reply) -> None:
    bad, fine = Node(), Node()
    bad.always = reply
    async with running(bad, fine), client_of(bad, fine) as client:
        for _ in range(3):
            assert texts(await client.batch(echo("a", "b"))) == ["a", "b"]
        assert len(fine.calls) == 6 or reply is BAD_REPLIES["rate limit of one"]
        assert len(bad.messages) <= 12, "the bad one is left alone after it failed"


@pytest.mark.parametrize(
    ("reply", "results", "is_answered"),
    [
        (hang, ["timeout"] * 2, False),
        (huge, ["refused"] * 2, False),
        (status(429), ["rate_limited"] * 2, False),
        (faulty(-32005, "rate limit exceeded"), ["rate_limited"] * 2, True),
        (faulty(429, "slow down", at=1), ["ok", "rate_limited"], True),
        (faulty(3, "execution reverted", at=0), ["error", "ok"], True),
        (status(500), ["failed"] * 2, False),
        (text("<html>"), ["failed"] * 2, False),
    ],
)
async def test_every_exchange_is_reported(
    reply: Reply, results: list[str], is_answered: bool
) -> None:
    node, reports = Node(), list[ExchangeReport]()
    async with running(node):
        client = await RpcClient.connect([node.url], 1, SETTINGS, observe=reports.append)
        node.misbehaviour = [reply]
        await client.batch(echo("a", "b"))
        await client.aclose()
    verified, first, *_ = reports
    assert verified.results == (("eth_chainId", "ok"),)
    assert first.results == tuple(("echo", result) for result in results)
    assert first.service in node.url
    assert first.sent_bytes > 40
    assert (first.received_bytes > 0) == is_answered


@pytest.mark.parametrize("reply", BAD_REPLIES.values(), ids=BAD_REPLIES)
async def test_a_lone_endpoint_gets_another_chance(reply: Reply) -> None:
    node = Node()
    node.misbehaviour = [reply, reply]
    clock = SkippingClock()
    async with running(node), client_of(node, clock=clock) as client:
        assert texts(await client.batch(echo("a", "b", "c"))) == ["a", "b", "c"]
    # One backs off once at least; the second time, if there is one, for longer.
    bounds = [(0.1, 0.25), (0.25, 0.5)]
    within = [low <= wait <= high for wait, (low, high) in zip(clock.waits, bounds, strict=False)]
    assert all(within)
    assert within or reply is huge, "a long batch is asked for in parts at once"


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (hang, AnswerTimeoutError),
        (huge, AnswerTooLargeError),
        (status(429), RateLimitedError),
        (status(503), UpstreamError),
        (text("{}"), UpstreamError),
    ],
)
async def test_when_all_fail_the_error_names_hosts_only(
    reply: Reply, kind: type[UpstreamError]
) -> None:
    one, two = Node(), Node()
    one.always = two.always = reply
    async with running(one, two), client_of(one, two) as client:
        with pytest.raises(kind) as caught:
            await client.batch(echo("a"))
        assert len(one.calls) + len(two.calls) == SETTINGS.attempts
    for url in (one.url, two.url):
        assert url.split("/")[2] in str(caught.value)
    shown = f"{caught.value!r} {caught.value} {client!r} {caught.value.__cause__}"
    assert "SECRET" not in shown


async def test_a_dead_port_is_an_upstream_error_that_keeps_the_key() -> None:
    client = await RpcClient.connect(
        ["http://user:SECRET@127.0.0.1:9/SECRET"], 1, SETTINGS, clock=SkippingClock()
    )
    try:
        with pytest.raises(UpstreamError, match=r"127\.0\.0\.1:9") as caught:
            await client.fetch_head()
        assert "SECRET" not in str(caught.value)
    finally:
        await client.aclose()


@pytest.mark.parametrize("url", ["ftp://host/SECRET", "nonsense SECRET", "http:///SECRET"])
async def test_a_bad_address_is_a_configuration_error(url: str) -> None:
    with pytest.raises(ConfigError, match="ASSAY_RPC_1") as caught:
        await RpcClient.connect([url], 1, SETTINGS)
    assert "SECRET" not in str(caught.value)


@pytest.mark.parametrize("demand", ["86400", "1e308", "99999999999999999999", "61"])
async def test_no_demanded_wait_is_longer_than_a_minute(demand: str) -> None:
    node, clock = Node(), SkippingClock()
    node.misbehaviour = [status(429, Retry_After=demand)]
    async with running(node), client_of(node, clock=clock) as client:
        with capture_logs() as entries:
            assert texts(await client.batch(echo("a"))) == ["a"]
        assert sum(clock.waits) <= 60
        clock.waits.clear()
        assert texts(await client.batch(echo("b"))) == ["b"]
        assert sum(clock.waits) == 0, "an answer ends the wait"
    assert [(entry["event"], entry["wait_s"]) for entry in entries] == [
        ("endpoint demands a wait", pytest.approx(60, abs=1))
    ]
    assert entries[0]["endpoint"].startswith("127.0.0.1:")


async def test_retry_after_is_honoured() -> None:
    node = Node()
    node.misbehaviour = [status(429, Retry_After="7")]
    clock = SkippingClock()
    async with running(node), client_of(node, clock=clock) as client:
        assert texts(await client.batch(echo("a"))) == ["a"]
        assert len(clock.waits) == 1
        assert 6.5 < clock.waits[0] <= 7


async def test_a_limited_endpoint_is_not_asked_before_its_time_when_another_is_there() -> None:
    limited, fine = Node(), Node()
    limited.always = status(429, Retry_After="60")
    clock = SkippingClock()
    async with running(limited, fine), client_of(limited, fine, clock=clock) as client:
        for _ in range(5):
            await client.batch(echo("a"))
        assert len(limited.calls) <= 1
        assert clock.waits == []


async def test_answers_that_came_are_not_asked_again_for_a_rate_limit() -> None:
    node = Node()
    node.misbehaviour = [faulty(-32005, "rate limit", at=1)]
    async with running(node), client_of(node) as client:
        assert texts(await client.batch(echo("a", "b", "c"))) == ["a", "b", "c"]
    assert [call["params"] for call in node.messages[-1]] == [["b"]]


async def test_a_revert_comes_back_and_is_not_asked_again() -> None:
    node = Node()
    node.always = faulty(3, "execution reverted: rate limit", at=0)
    async with running(node), client_of(node) as client:
        first, second = await client.batch(echo("a", "b"))
        assert first == RpcFault(code=3, message="execution reverted: rate limit")
        assert texts([second]) == ["b"]
    assert len(node.calls) == 2


async def test_a_method_that_one_endpoint_lacks_is_asked_of_another() -> None:
    plain, archive = Node(), Node()
    plain.always = faulty(-32601, "the method echo does not exist", at=0)
    clock = SkippingClock()
    async with running(plain, archive), client_of(plain, archive, clock=clock) as client:
        for _ in range(3):
            assert texts(await client.batch(echo("a", "b"))) == ["a", "b"]
        assert len(plain.calls) <= 2  # it is remembered
        assert clock.waits == []
        archive.always = status(500)
        lacking, second = await client.batch(echo("a", "b"))
        assert isinstance(lacking, RpcFault)  # the best that is to be had
        assert texts([second]) == ["b"]


async def test_a_method_that_nobody_knows_is_asked_of_each_once() -> None:
    nodes = Node(), Node()
    for node in nodes:
        node.always = faulty(-32601, "the method echo does not exist")
    async with running(*nodes), client_of(*nodes) as client:
        [answer] = await client.batch(echo("a"))
        assert isinstance(answer, RpcFault)
        assert [len(node.calls) for node in nodes] == [1, 1]


async def test_long_batches_are_split() -> None:
    node = Node()
    words = [str(number) for number in range(35)]
    async with running(node), client_of(node) as client:
        assert texts(await client.batch(echo(*words))) == words
    sizes = sorted(len(message) for message in node.messages if message[0]["method"] == "echo")
    assert sizes == [5, 10, 10, 10]


@pytest.mark.parametrize("number", [200, 400, 413])
@pytest.mark.parametrize("most", [1, 4])
async def test_a_node_that_refuses_batches_gets_smaller_ones(most: int, number: int) -> None:
    node = Node()
    node.always = refuses_batches(most, number=number)
    words = [str(at) for at in range(20)]
    async with running(node), client_of(node) as client:
        assert texts(await client.batch(echo(*words))) == words
        node.messages.clear()
        assert texts(await client.batch(echo(*words))) == words
    assert max(len(message) for message in node.messages) <= most


async def test_nothing_asked_is_nothing_answered() -> None:
    node = Node()
    async with running(node), client_of(node) as client:
        assert await client.batch([]) == []
    assert node.calls == []


async def test_an_answer_that_is_not_believed_is_asked_elsewhere() -> None:
    liar, honest = Node(), Node()
    liar.always = changed(lambda answers: answers[0] | {"result": "a lie"})

    def believe(answers: Sequence[RpcAnswer]) -> object:
        if texts(answers) != ["truth"]:
            raise DisagreementError(first="this", second="that", difference="a lie")
        return "believed"

    async with running(liar, honest), client_of(liar, honest) as client:
        for _ in range(3):
            assert await client.ask(echo("truth"), believe) == "believed"
        honest.always = liar.always
        with pytest.raises(UpstreamError, match="this and that disagree: a lie"):
            await client.ask(echo("truth"), believe)
    assert len(liar.calls) <= 4


async def test_the_wrong_chain_everywhere_is_said_at_once() -> None:
    one, two = Node(chain_id=5), Node(chain_id=5)
    async with running(one, two):
        with pytest.raises(WrongChainError, match="serves chain id 5, expected 1"):
            async with client_of(one, two):
                pass


async def test_an_endpoint_of_another_chain_is_excluded() -> None:
    wrong, right = Node(chain_id=5), Node()
    async with running(wrong, right), client_of(wrong, right) as client:
        for _ in range(5):
            await client.batch(echo("a"))
    assert wrong.calls == []


async def test_the_chain_is_checked_again_when_an_endpoint_comes_back() -> None:
    node = Node()
    clock = SkippingClock()
    async with running(node), client_of(node, clock=clock) as client:
        await client.batch(echo("a"))
        node.chain_id = 5
        node.misbehaviour = [status(500)]
        with pytest.raises(WrongChainError, match="serves chain id 5, expected 1"):
            await client.batch(echo("b"))
        with pytest.raises(WrongChainError):
            await client.batch(echo("c"))
        node.chain_id = 1
        clock.skipped_s += 61
        assert texts(await client.batch(echo("d"))) == ["d"]
    assert [
        message[0]["params"] for message in node.messages if message[0]["method"] == "echo"
    ] == [
        ["a"],
        ["b"],
        ["d"],
    ]


async def test_a_slow_endpoint_loses_to_a_fast_one() -> None:
    slow, fast = Node(), Node()

    async def tardy(node: Node, calls: list[dict[str, Any]]) -> web.StreamResponse:
        await asyncio.sleep(0.05)
        return await changed(lambda answers: answers[0])(node, calls)

    slow.always = tardy
    async with running(slow, fast), client_of(slow, fast) as client:
        for _ in range(6):
            await client.batch(echo("a"))
    assert len(slow.calls) <= 2
