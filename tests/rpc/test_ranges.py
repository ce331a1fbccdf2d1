"""Log ranges shrink when a node refuses and grow when it does not, within their bounds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.rpc.messages import RpcFault
from core.rpc.ranges import (
    LogRange,
    is_address_refusal,
    is_range_refusal,
    parse_suggestion,
)
from core.rpc.wire import is_passing

# Error texts of nodes and gateways, as their users report them; (first, last) requested from block
# 100.
REFUSALS = [
    ("query returned more than 10000 results", None),
    (
        "query returned more than 10000 results. Try with this block range [0x64, 0x80].",
        (0x64, 0x80),
    ),
    (
        "Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range "
        "and no limit on the response size, or you can request any block range with a cap of 10K "
        "logs in the response. Based on your parameters and the response size limit, this block "
        "range should work: [0x64, 0xff]",
        (0x64, 0xFF),
    ),
    ("query exceeds max results 20000, retry with the range 100-160", (100, 160)),
    ("query exceeds max block range 1000", (100, 1099)),
    ("eth_getLogs is limited to a 10,000 range", (100, 10_099)),
    ("eth_getLogs is limited to 0 - 10000 blocks range", (100, 10_099)),
    ("requested too many blocks from 0 to 10000, maximum is set to 2048", (100, 2147)),
    ("exceed maximum block range: 5000", (100, 5099)),
    ("Max range: 800", (100, 899)),
    ("block range is too wide", None),
    ("block range too large", None),
    ("Block range limit exceeded.", None),
    ("please limit the query to at most 1000 blocks", (100, 1099)),
    ("Maximum allowed number of requested blocks is 500", (100, 599)),
    ("exceeds the range allowed for your plan (5000 > 1000)", (100, 1099)),
    ("ranges over 10000 blocks are not supported on freetier", (100, 10_099)),
    ("query timeout exceeded", None),
    ("backend response size exceeded", None),
    ("too many logs in range", None),
]
# As PublicNode and Forest word it, and as others may.
NO_ADDRESS = [
    "Please specify an address in your request or, to remove restrictions, order a dedicated full "
    "node here: https://www.allnodes.com/eth/host",
    "error deserializing parameter: missing field `address`",
    "eth_getLogs without address is not supported",
    "address is required",
    "You must provide at least one contract address",
    "address filter is mandatory",
]
OTHERS = [
    "rate limit exceeded",
    "header not found",
    "execution reverted: range",
    "the method eth_getLogs does not exist/is not available",
    "Too Many Requests",
]


@pytest.mark.parametrize(("message", "suggested"), REFUSALS)
def test_refusals_are_known_with_their_suggestion(
    message: str, suggested: tuple[int, int] | None
) -> None:
    assert is_range_refusal(RpcFault(code=-32000, message=message))
    assert parse_suggestion(message, first=100) == suggested


@pytest.mark.parametrize("message", OTHERS)
def test_other_errors_are_not_about_the_range(message: str) -> None:
    assert not is_range_refusal(RpcFault(code=-32005, message=message))


@pytest.mark.parametrize("message", NO_ADDRESS)
def test_refusals_without_addresses_are_known(message: str) -> None:
    for code in (-32701, -32602, -32005):
        fault = RpcFault(code=code, message=message)
        assert is_address_refusal(fault)
        assert not is_range_refusal(fault)
        assert not is_passing(fault), "another try brings the same"


@pytest.mark.parametrize(
    "message",
    [
        *(message for message, _ in REFUSALS),
        *OTHERS,
        "Please, specify less number of addresses",
        "exceed max addresses or topics per search position",
        "invalid argument 0: hex string has length 38, want 40 for common.Address",
        "the node is syncing, address any questions to its owner",
    ],
)
def test_other_errors_are_not_about_addresses(message: str) -> None:
    assert not is_address_refusal(RpcFault(code=-32000, message=message))


@given(
    largest=st.integers(1, 50_000),
    limit=st.integers(1, 60_000),
    start=st.integers(1, 50_000),
    steps=st.integers(20, 60),
)
def test_every_size_is_within_bounds_and_a_limit_is_found(
    largest: int, limit: int, start: int, steps: int
) -> None:
    logs = LogRange(size=min(start, largest), largest=largest)
    answered = 0
    for _ in range(steps):
        assert 1 <= logs.size <= largest
        blocks_requested = logs.last_block(1000, bound=10**9) - 1000 + 1
        if blocks_requested > limit:
            logs = logs.after_refusal(blocks_requested)
        else:
            logs = logs.after_success(blocks_requested)
            answered += 1
    assert answered > 0
    assert logs.size >= min(limit, largest) / 2 or logs.rest or logs.size == largest


def test_a_suggestion_is_taken_when_it_is_smaller() -> None:
    logs = LogRange(size=1000, largest=1000)
    assert logs.after_refusal(1000, suggested=123).size == 123
    assert logs.after_refusal(1000, suggested=5000).size == 500
    assert logs.after_refusal(1, suggested=None).size == 1


@pytest.mark.parametrize(
    ("logs", "size"), [(0, 200), (15_000, 200), (15_001, 100), (30_000, 100), (60_000, 50)]
)
def test_answers_of_many_logs_bound_the_range(logs: int, size: int) -> None:
    assert LogRange(size=100, largest=1000).after_success(100, logs=logs).size == size


def test_one_block_of_too_many_logs_is_still_asked_for() -> None:
    assert LogRange(size=1, largest=1000).after_success(1, logs=10**6).size == 1


def test_a_short_last_query_does_not_let_it_grow() -> None:
    logs = LogRange(size=100, largest=1000)
    assert logs.after_success(10).size == 100
    assert logs.after_success(100).size == 200
    assert logs.last_block(50, bound=60) == 60
