"""Answers are matched to requests by id alone; anything but one answer each is an error."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.rpc.failures import BatchRefusedError, MalformedAnswerError, RateLimitedError
from core.rpc.messages import RpcFault, RpcRequest
from core.rpc.wire import decode_answers, encode_requests, is_passing


def answer(number: object, **more: object) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": number, **(more or {"result": number})}


def decode(body: object, *, count: int) -> list[object]:
    raw = body if isinstance(body, bytes) else msgspec.json.encode(body)
    answers = decode_answers(raw, first_id=10, count=count, service="node:1")
    return [msgspec.json.decode(one) if isinstance(one, msgspec.Raw) else one for one in answers]


def test_a_single_request_is_not_wrapped() -> None:
    one = RpcRequest("eth_call", ({"to": "0x1"}, "latest"))
    assert msgspec.json.decode(encode_requests([one], first_id=7)) == {
        "jsonrpc": "2.0",
        "id": 7,
        "method": "eth_call",
        "params": [{"to": "0x1"}, "latest"],
    }
    many = msgspec.json.decode(encode_requests([one, one], first_id=7))
    assert [message["id"] for message in many] == [7, 8]


@given(st.permutations(range(10, 18)))
def test_any_order_of_answers_is_put_right(order: list[int]) -> None:
    assert decode([answer(number) for number in order], count=8) == list(range(10, 18))


def padded(count: int) -> list[dict[str, object]]:
    """More bytes than a long message has at least; with brackets as texts may have them."""
    return [{"name": f'"}}]}}{at}', "list": [{}]} for at in range(count)]


LONG = padded(8_000)
SHORT: list[object] = [7, "text", None, {"list": [{}]}, [{"a": 1}], []]


@given(
    rest=st.lists(st.sampled_from(SHORT), max_size=3),
    order=st.permutations(range(4)),
    is_spaced=st.booleans(),
)
def test_a_long_list_is_where_it_was_asked_for(
    rest: list[object], order: list[int], is_spaced: bool
) -> None:
    """Anywhere among other answers, another list among them."""
    results = [*rest, LONG]
    numbered = [answer(10 + at, result=results[at]) for at in order if at < len(results)]
    body: bytes = msgspec.json.encode(numbered)
    if is_spaced:
        body = b" " * 70 + msgspec.json.format(body, indent=1)
    assert decode(body, count=len(results)) == results


@pytest.mark.parametrize("key", ["result", "id", "error", "other"])
def test_an_answer_that_goes_on_behind_a_long_list_is_no_other_answer(key: str) -> None:
    """A key that comes twice, or one that nobody knows: no node was seen to send it."""
    body: bytes = msgspec.json.encode(answer(10, result=LONG))
    body = body[:-1] + b',"%s":[{}]}' % key.encode()
    with pytest.raises((MalformedAnswerError, msgspec.DecodeError)):
        decode(body, count=1)


def test_a_long_list_is_neither_read_nor_copied() -> None:
    body = bytearray(msgspec.json.encode(answer(10, result=LONG)))
    (found,) = decode_answers(body, first_id=10, count=1, service="node:1")
    assert isinstance(found, msgspec.Raw)
    assert msgspec.json.decode(found) == LONG
    body[body.index(b"[{")] = ord("!")
    assert bytes(found).startswith(b"!{")


def test_a_long_list_that_is_cut_short_is_no_answer() -> None:
    body: bytes = msgspec.json.encode(answer(10, result=LONG))
    for end in (-1, -2, -3, -1_000, 150_000):
        with pytest.raises((MalformedAnswerError, msgspec.DecodeError)):
            decode(body[:end], count=1)


@pytest.mark.parametrize(
    "body",
    [
        [answer(10), answer(10)],
        [answer(10), answer(11), answer(11)],
        [answer(10), answer(12)],
        [answer(10), answer("x11")],
        [answer(10), answer(11.5)],
        [answer(10), answer(None)],
        [answer(10), {"jsonrpc": "2.0", "id": 11}],
        b"",
        b"<html>",
        b"[1, 2]",
        b'{"jsonrpc": "2.0", "id": 10, "result": ',
        b"\xff\xfe",
    ],
    ids=str,
)
def test_anything_but_one_answer_each_is_malformed(body: object) -> None:
    with pytest.raises(MalformedAnswerError, match="node:1"):
        decode(body, count=2)


@pytest.mark.parametrize("body", [[answer(10)], [], answer(10)], ids=str)
def test_a_batch_that_is_not_answered_whole_is_refused(body: object) -> None:
    with pytest.raises(BatchRefusedError, match="of 2 requests were not answered"):
        decode(body, count=2)
    with pytest.raises(MalformedAnswerError):
        decode([], count=1)


def test_ids_may_be_text_or_have_a_fraction() -> None:
    body = [answer("11", result="b"), answer(10.0, result="a")]
    assert decode(body, count=2) == ["a", "b"]


def test_an_answer_nested_without_end_is_malformed() -> None:
    depth = 100_000
    body = b'{"id":10,"result":' + b"[" * depth + b"]" * depth + b"}"
    with pytest.raises(MalformedAnswerError, match="recursion"):
        decode_answers(body, first_id=10, count=1, service="node:1")


def test_null_is_a_result() -> None:
    assert decode(answer(10, result=None), count=1) == [None]
    assert decode(answer(10, result="0x", error=None), count=1) == ["0x"]


def test_a_revert_is_an_answer() -> None:
    error: dict[str, object] = {
        "code": 3,
        "message": "execution reverted",
        "data": "0x08c379a0",
    }
    assert decode(answer(10, error=error), count=1) == [
        RpcFault(code=3, message="execution reverted", data="0x08c379a0")
    ]
    error["data"] = {"reason": "an object"}
    assert decode(answer(10, error=error), count=1) == [
        RpcFault(code=3, message='execution reverted ({"reason":"an object"})')
    ]


def test_an_error_without_id_answers_a_lone_request() -> None:
    error = {"code": -32700, "message": "parse error"}
    assert decode(answer(None, error=error), count=1) == [
        RpcFault(code=-32700, message="parse error")
    ]


def test_one_error_for_a_whole_batch_says_why() -> None:
    with pytest.raises(BatchRefusedError, match="batch too large"):
        decode(answer(None, error={"code": -32600, "message": "batch too large"}), count=2)
    with pytest.raises(RateLimitedError, match="slow down"):
        decode(answer(None, error={"code": 429, "message": "slow down"}), count=2)


@pytest.mark.parametrize(
    ("code", "message", "passing"),
    [
        (-32005, "daily request count exceeded, request rate limited", True),
        (-32005, "limit exceeded", True),
        (-32016, "over rate limit", True),
        (429, "Your app has exceeded its compute units per second capacity", True),
        (-32000, "Too Many Requests", True),
        (-32003, "response too large", True),
        (-32005, "query returned more than 10000 results", False),
        (3, "execution reverted", False),
        (-32000, "execution reverted: transfer amount exceeds balance", False),
        (3, "execution reverted: rate limit, try again later", False),
        (-32000, "VM Exception: reverted with reason string 'too many requests'", False),
        (-32601, "method not found", False),
    ],
)
def test_only_rate_limits_pass(code: int, message: str, *, passing: bool) -> None:
    assert is_passing(RpcFault(code=code, message=message)) is passing
