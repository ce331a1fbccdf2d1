"""Answers that cannot be true together are named as such; true ones pass."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.evm.primitives import ZERO_ADDRESS, Address, BlockRef, Hash32
from core.rpc.failures import DisagreementError
from core.rpc.headers import Header, LogsBloom
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
    "out of order, or one comes twice": lambda logs: [logs[1], logs[0]],
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
        ("out of order, or one comes twice", lambda logs: logs[::-1]),
        ("out of order, or one comes twice", lambda logs: [*logs, logs[-1]]),
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
