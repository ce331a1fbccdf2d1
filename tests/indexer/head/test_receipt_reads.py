"""A node that answers no query for all contracts' logs is read by its receipts, with the same rows.

And receipts that cannot be true are refused.
"""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.settings import IndexerSettings
from core.errors import UpstreamError
from core.rpc.failures import RangeRefusedError
from indexer.block_spans import TOPICS, BlockSpan, fetch_headers
from indexer.decode.receipts import decode_receipts
from indexer.head.follower import Follower
from indexer.history.backfill import backfill
from indexer.log_reader import LogReader
from sql.engine.store import Store
from tests.harness.indexer.wire_logs import rows_of, wire_log
from tests.harness.node.chain import (
    CHAIN,
    TOKENS,
    Event,
    InstantClock,
    Log,
    Minted,
    Odd,
    Pair,
    Pool,
    ScriptedNode,
    Sent,
    client_of,
)
from tests.harness.store.empty_files import new_store
from tests.harness.store.store_contents import read_rows, transfers_of, undecoded_in

REFUSAL = "Please specify an address in your request"
SETTINGS = IndexerSettings(initial_log_range=40, max_log_range=200)


def node_of(blocks: int, *, needs_address: str | None = REFUSAL) -> ScriptedNode:
    node = ScriptedNode()
    node.extend([Pair(0, 1), Pool(1, 2), Minted(0, 7)])
    for number in range(blocks - 1):
        events: list[Event] = [Sent(number % 3, number), Odd(0), Sent(3, 1)]
        node.extend(events[: number % 4])
    node.needs_address = needs_address
    return node


def rows_in(store: Store) -> list[object]:
    """Everything that logs brought."""
    pools = read_rows(store, "select * from pool order by block_number, log_index")
    return [pools, undecoded_in(store), *(transfers_of(store, token) for token in TOKENS)]


async def followed(node: ScriptedNode, path: Path) -> list[object]:
    client = client_of(node)
    store = new_store(path)
    follower = Follower(CHAIN, client, store, SETTINGS)
    await follower.load()
    async for _ in follower.advance(await client.fetch_head_header()):
        pass
    rows = rows_in(store)
    store.close()
    return rows


async def filled(node: ScriptedNode, path: Path) -> list[object]:
    store = new_store(path)
    await backfill(
        msgspec.structs.replace(CHAIN, finality_blocks=0),
        client_of(node),
        store,
        SETTINGS,
        from_block=0,
        to_block=node.head.number,
        clock=InstantClock(),
    )
    rows = rows_in(store)
    store.close()
    return rows


@pytest.mark.parametrize("read", [followed, filled])
async def test_receipts_bring_the_rows_that_queries_bring(
    read: Callable[[ScriptedNode, Path], Any], tmp_path: Path
) -> None:
    expected = await read(node_of(150, needs_address=None), tmp_path / "queries.duckdb")
    refusing = node_of(150)
    assert await read(refusing, tmp_path / "receipts.duckdb") == expected
    assert "eth_getBlockReceipts" in refusing.requests
    assert "eth_getLogs" not in refusing.requests
    assert refusing.requests.count("refused") <= 8, "it is remembered"


async def blocks_of(reader: LogReader, node: ScriptedNode, *others: ScriptedNode) -> BlockSpan:
    client = client_of(node, *others)
    found = await fetch_headers(client, 0, node.head.number)
    return await reader.fetch_blocks([header for header in found if header is not None])


def untimed(piece: BlockSpan) -> list[tuple[object, ...]]:
    """Return the logs without their time, which receipts do not have."""
    return [row[:3] + row[4:] for row in rows_of(piece.logs)]


async def test_another_endpoint_is_asked_before_receipts_are() -> None:
    refusing, willing = node_of(9), node_of(9, needs_address=None)
    reader = LogReader(client_of(refusing, willing), clock=InstantClock())
    piece = await blocks_of(reader, willing)
    assert len(piece.logs)
    assert "eth_getBlockReceipts" not in refusing.requests + willing.requests


async def test_queries_are_tried_again_later() -> None:
    node, clock = node_of(9), InstantClock()
    reader = LogReader(client_of(node), clock=clock)
    by_receipts = await blocks_of(reader, node)
    node.needs_address = None
    node.requests.clear()
    await blocks_of(reader, node)
    assert "eth_getLogs" not in node.requests
    clock.time_s += 601.0
    by_queries = await blocks_of(reader, node)
    assert untimed(by_queries) == untimed(by_receipts)
    assert "eth_getLogs" in node.requests


async def test_ranges_by_receipts_are_short_and_tell_all_times() -> None:
    node = node_of(100)
    reader = LogReader(client_of(node), clock=InstantClock())
    with pytest.raises(RangeRefusedError) as caught:
        await reader.fetch_range(10, 90)
    assert caught.value.suggested == (10, 73)
    piece = await reader.fetch_range(10, 73)
    assert (piece.first, piece.last, len(piece.headers)) == (10, 73, 1)
    times = {
        (number, time_s)
        for group in piece.logs.groups
        for number, time_s in zip(group.block_number.tolist(), group.time_s.tolist(), strict=True)
    }
    assert times == {(number, 1_700_000_000 + number) for number, _ in times}
    assert len(times) > 40


async def test_logs_of_one_contract_are_asked_for_by_it() -> None:
    node = node_of(20)
    reader = LogReader(client_of(node), clock=InstantClock())
    piece = await reader.fetch_range(0, 20, address=TOKENS[0])
    assert len(piece.logs)
    assert "eth_getBlockReceipts" not in node.requests


Lie = Callable[[list[dict[str, Any]]], list[dict[str, Any]]]


def lie(change: Callable[[Any], Any]) -> Lie:
    """Change the first receipts only."""

    def wrong_receipts(answers: list[dict[str, Any]]) -> list[dict[str, Any]]:
        is_list = isinstance(answers[0].get("result"), list)
        return [answers[0] | {"result": change(answers[0]["result"])} if is_list else answers[0]]

    return wrong_receipts


LIES: dict[str, tuple[Callable[[Any], Any], str]] = {
    "a receipt less": (lambda receipts: receipts[:-1], "the bloom filter announces logs"),
    "none": (lambda receipts: [], "the bloom filter announces logs"),
    "null": (lambda receipts: None, "has no receipts"),
    "of another block": (
        lambda receipts: [one | {"blockHash": "0x" + "66" * 32} for one in receipts],
        "a receipt is of block 0x6666",
    ),
    "a hash that is none": (
        lambda receipts: [one | {"blockHash": "0x66"} for one in receipts],
        "block hash of a receipt",
    ),
    "twice": (lambda receipts: receipts * 2, "a log comes twice"),
    "no list": (lambda receipts: {}, "receipts of block"),
}


@pytest.mark.parametrize(("change", "words"), LIES.values(), ids=LIES)
async def test_receipts_that_cannot_be_true_are_refused(
    change: Callable[[Any], Any], words: str
) -> None:
    node = ScriptedNode()
    node.extend([Pair(0, 1), Sent(0, 5), Sent(1, 6), Sent(1, 7)])
    node.needs_address = REFUSAL
    client = client_of(node)
    reader = LogReader(client, clock=InstantClock())
    (header,) = await fetch_headers(client, 1, 1)
    assert header is not None
    assert len((await reader.fetch_blocks([header])).logs) == 4
    node.lies = [lie(change)] * 100
    with pytest.raises(UpstreamError, match=words):
        await reader.fetch_blocks([header])


FOREIGN = "0x" + "99" * 32


@given(st.lists(st.booleans(), min_size=1, max_size=12))
def test_logs_of_other_topics_are_left_out_but_count_for_the_filter(
    wanted_logs: list[bool],
) -> None:
    node = ScriptedNode()
    node.extend([Sent(0, at) for at, _ in enumerate(wanted_logs)])
    for log, is_asked in zip(node.head.logs, wanted_logs, strict=True):
        if not is_asked:
            log["topics"] = [FOREIGN, *log["topics"][1:]]
    node.needs_address = REFUSAL
    client = client_of(node)
    reader = LogReader(client, clock=InstantClock())

    async def read() -> BlockSpan:
        (header,) = await fetch_headers(client, 1, 1)
        assert header is not None
        return await reader.fetch_blocks([header], topics=TOPICS)

    piece = asyncio.run(read())
    found = [int(str(row[2])) for row in rows_of(piece.logs)]
    assert found == [at for at, is_asked in enumerate(wanted_logs) if is_asked]


def test_receipts_without_logs_and_anonymous_logs_are_read() -> None:
    anonymous: Log = wire_log(address=TOKENS[0], topics=[], data="0x12")
    block_hash = "0x" + "ab" * 32
    body = msgspec.json.encode(
        [{"blockHash": block_hash, "logs": []}, {"blockHash": block_hash, "logs": [anonymous]}]
    )
    found = decode_receipts(body)
    assert found is not None
    assert found.block_hashes.shape == (2, 32)
    assert len(found.logs) == 1
    assert not len(found.logs.only_topics([bytes.fromhex(TOPICS[0][2:])]))
