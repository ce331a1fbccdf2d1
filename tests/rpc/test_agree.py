"""Protects answers of nodes: contradictions are named, and log ranges stay within their bounds."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.evm.primitives import ZERO_ADDRESS, Address, BlockRef, Hash32
from core.rpc.failures import DisagreementError
from core.rpc.headers import Header, LogsBloom
from core.rpc.messages import RpcFault
from core.rpc.ranges import (
    LogRange,
    is_address_refusal,
    is_range_refusal,
    parse_suggestion,
)
from core.rpc.wire import is_passing
from indexer.answer_checks import (
    check_block_logs,
    check_link,
    check_number,
    check_range_logs,
    is_suspiciously_empty,
    may_contain,
)
from indexer.block_spans import TOPICS
from indexer.decode.log_columns import LogColumns
from indexer.decode.logs import decode_logs
from tests.harness.node.chain import Block, Event, Log, Pair, Sent, address, bloom_of, make_block

EVENTS = (Pair(0, 1), Sent(0, 7), Sent(1, 8))

FIRST = make_block(None, EVENTS, "a")

SECOND = make_block(FIRST, EVENTS, "b")


def header_of(block: Block, bloom: int | None = None) -> Header:
    return Header(
        ref=BlockRef(
            number=block.number,
            hash=Hash32(block.hash),
            parent_hash=Hash32(block.parent_hash),
            time_s=0,
        ),
        logs_bloom=LogsBloom(bloom_of(block.logs) if bloom is None else bloom),
        proposer=ZERO_ADDRESS,
        base_fee_wei=None,
    )


def columns(logs: Sequence[Log]) -> LogColumns:
    return decode_logs(msgspec.json.encode(list(logs)))


def changed(at: int, **changes: Any) -> Callable[[list[Log]], list[Log]]:
    return lambda logs: [log | changes if number == at else log for number, log in enumerate(logs)]


CONTRADICTIONS: dict[str, Callable[[list[Log]], list[Log]]] = {
    "of block 0x6666": changed(1, blockHash="0x" + "66" * 32),
    "of block 9": changed(2, blockNumber="0x9"),
    "not requested": changed(0, topics=["0x" + "99" * 32]),
    "none was not requested": changed(0, topics=[]),
    "a log comes twice": lambda logs: [*logs, logs[-1]],
    "bloom filter excludes": changed(2, address=address("stranger")),
}


@pytest.mark.parametrize(("words", "change"), CONTRADICTIONS.items(), ids=CONTRADICTIONS)
def test_a_contradiction_is_named(words: str, change: Callable[[list[Log]], list[Log]]) -> None:
    check_block_logs(columns(SECOND.logs), header_of(SECOND), topics=TOPICS)
    with pytest.raises(DisagreementError, match=words) as caught:
        check_block_logs(columns(change(SECOND.logs)), header_of(SECOND), topics=TOPICS)
    assert SECOND.hash in str(caught.value), "the request is named"


@pytest.mark.parametrize(
    ("words", "change"),
    [
        ("of block 9", changed(5, blockNumber="0x9")),
        ("one block number has two hashes", changed(1, blockHash="0x" + "66" * 32)),
        ("a log is of block 0x66", lambda logs: changed_all(logs, 1, "0x" + "66" * 32)),
        ("a log comes twice", lambda logs: [*logs, logs[-1]]),
        ("a log comes twice", lambda logs: [logs[0], *logs]),
        ("not requested", changed(3, topics=["0x" + "99" * 32])),
    ],
)
def test_a_contradiction_in_a_range_is_named(
    words: str, change: Callable[[list[Log]], list[Log]]
) -> None:
    logs = FIRST.logs + SECOND.logs
    where = {"first": 0, "last": 1, "topics": TOPICS, "headers": [header_of(SECOND)]}
    check_range_logs(columns(logs), **where)  # type: ignore[arg-type]  # mixed keywords
    with pytest.raises(DisagreementError, match=words):
        check_range_logs(columns(change(logs)), **where)  # type: ignore[arg-type]  # mixed keywords


def test_a_stranger_among_one_contracts_logs_is_named() -> None:
    logs = [log for log in SECOND.logs if log["address"] == SECOND.logs[0]["address"]]
    own = Address(str(logs[0]["address"]))
    check_range_logs(columns(logs), first=0, last=1, topics=TOPICS, headers=[], address=own)
    with pytest.raises(DisagreementError, match="which was not requested"):
        check_range_logs(
            columns(SECOND.logs), first=0, last=1, topics=TOPICS, headers=[], address=own
        )


def changed_all(logs: list[Log], number: int, block_hash: str) -> list[Log]:
    return [
        log | {"blockHash": block_hash} if log["blockNumber"] == hex(number) else log
        for log in logs
    ]


def test_headers_are_of_the_height_asked_and_follow_each_other() -> None:
    check_number(header_of(SECOND), number=1)
    with pytest.raises(DisagreementError, match="it is block 1"):
        check_number(header_of(SECOND), number=2)
    check_link(header_of(FIRST).ref, header_of(SECOND).ref)
    other = make_block(make_block(None, (), "z"), (), "z")
    with pytest.raises(DisagreementError, match="the parent of the second is"):
        check_link(header_of(FIRST).ref, header_of(other).ref)


def test_no_logs_under_a_filter_that_lets_them_in_are_suspicious() -> None:
    nothing = columns([])
    assert is_suspiciously_empty(nothing, header_of(SECOND), topics=TOPICS)
    assert not is_suspiciously_empty(nothing, header_of(SECOND, bloom=0), topics=TOPICS)
    assert not is_suspiciously_empty(columns(SECOND.logs), header_of(SECOND), topics=TOPICS)


EVENTS_OF_BLOCKS: st.SearchStrategy[list[Event]] = st.lists(
    st.builds(Sent, st.integers(0, 3), st.integers(0, 2**256 - 1)), max_size=8
)


@given(EVENTS_OF_BLOCKS)
def test_a_true_block_is_never_accused(events: list[Event]) -> None:
    block = make_block(FIRST, events, "c")
    check_block_logs(columns(block.logs), header_of(block), topics=TOPICS)
    assert all(
        may_contain(header_of(block).logs_bloom, bytes.fromhex(text[2:]))
        for log in block.logs
        for text in (log["address"], *log["topics"])
    )


# --- ranges -------------------------------------------------------------------------------------

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
