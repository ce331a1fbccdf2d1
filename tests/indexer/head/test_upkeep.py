"""Protects upkeep during following: histories are fetched, old trades deleted, faults survived."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest
import structlog

from config.settings import IndexerSettings
from core.errors import StoreError
from core.evm.primitives import HexBytes
from indexer.decode.swap_events import SWAP_TOPICS
from indexer.history.backfill import backfill
from indexer.history.maintenance import keep_up
from indexer.history.transfer_history import Histories
from sql.chain.blocks import insert_blocks, read_counts
from sql.chain.pool_tables import insert_pools
from sql.chain.trade_tables import insert_trades, list_newest_trades
from sql.engine.store import Store
from sql.engine.table_rows import SwapRow
from tests.harness.indexer.following import until
from tests.harness.indexer.token_histories import POOL_AT, followed, lived, sent_in, stored
from tests.harness.node.chain import (
    CHAIN,
    Block,
    InstantClock,
    ScriptedNode,
    Sent,
    block_time,
    client_of,
)
from tests.harness.store.empty_files import new_store
from tests.harness.store.sample_rows import address, block, pool

DAY_S = 86_400
SETTINGS = IndexerSettings(poll_s=0.01, trades_kept_s=DAY_S, late_logs_s=2)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = new_store(tmp_path / "store.duckdb")
    yield opened
    opened.close()


@asynccontextmanager
async def kept_up(node: ScriptedNode, store: Store) -> AsyncIterator[None]:
    stop = asyncio.Event()
    task = asyncio.create_task(keep_up(CHAIN, client_of(node), store, SETTINGS, stop=stop))
    try:
        yield
    finally:
        stop.set()
        await asyncio.wait_for(task, 10)


def trade(store: Store, times_s: Sequence[int]) -> None:
    """One in each block from 0 on."""
    swaps = [
        SwapRow(
            block_number=at,
            log_index=6,
            time_s=time_s,
            emitter=address(5),
            pool_key=HexBytes(address(5)),
            kinds=("AmmV2",),
            amount0=1.0,
            amount1=-1.0,
        )
        for at, time_s in enumerate(times_s)
    ]
    with store.transaction() as tx:
        insert_pools(tx, [pool(5, address(9), block_number=0)])
        assert insert_trades(tx, swaps, chain_id=1, anchors=[address(2)]) == len(times_s)


def times_shown(store: Store) -> list[int]:
    """Return the times of the trades that prices are read from, oldest first."""
    shown = list_newest_trades(
        store,
        chain_id=1,
        token=address(9),
        pool_keys=[HexBytes(address(5))],
        from_block=0,
        at_most=100,
    )
    return [trade.time_s for trade in reversed(shown)]


async def test_pasts_come_in_and_old_trades_go(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("indexer.history.maintenance._DELETED_EVERY_S", 0.0)
    node = lived()
    await followed(node, store)
    newest_s = 1_700_000_000 + node.head.number
    trade(store, [newest_s - DAY_S - 1, newest_s - DAY_S, newest_s])
    async with kept_up(node, store):
        await until(lambda: stored(store, 0) == sent_in(node.canonical, 0))
        await until(lambda: len(times_shown(store)) < 3)
    assert times_shown(store) == [newest_s - DAY_S, newest_s]
    assert read_counts(store)[1].whole_histories == 1


async def test_without_a_block_no_trade_is_old(store: Store) -> None:
    trade(store, [1, 2])
    with store.transaction() as tx:
        insert_blocks(tx, [msgspec.structs.replace(block(10**6), chain_id=56)])
    node = ScriptedNode()
    async with kept_up(node, store):
        await asyncio.sleep(0.05)
    assert times_shown(store) == [1, 2]
    assert "eth_getLogs" not in node.requests


async def test_a_store_that_cannot_write_is_told_and_outlived(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = lived()
    await followed(node, store)
    fetch_next = Histories.fetch_next
    failures = [StoreError(path="store", reason="is full")] * 2

    async def fail_first(histories: Histories) -> bool:
        if failures:
            raise failures.pop()
        return await fetch_next(histories)

    monkeypatch.setattr(Histories, "fetch_next", fail_first)
    with structlog.testing.capture_logs() as logs:
        async with kept_up(node, store):
            await until(lambda: stored(store, 0) == sent_in(node.canonical, 0))
    assert [log["event"] for log in logs if log["log_level"] == "error"] == [
        "maintenance failed, retrying"
    ] * 2


async def test_a_node_that_hangs_does_not_keep_us(store: Store) -> None:
    await followed(lived(), store)

    class Hanging(ScriptedNode):
        def __init__(self) -> None:
            super().__init__()
            self.is_asked = False

        async def exchange(self, body: bytes, *, ids: range) -> bytes:
            self.is_asked = True
            await asyncio.Event().wait()
            raise AssertionError(body, ids)

    node = Hanging()
    async with kept_up(node, store):
        await until(lambda: node.is_asked)
    assert stored(store, 0)[0][0] == POOL_AT, "nothing came"


@pytest.mark.parametrize(
    ("log_time", "asked_for"),
    [
        (block_time, [120, 140, 160, 180]),
        (lambda _: None, []),
        (lambda _: "0x0", []),
        (lambda _: "soon", []),
        (lambda _: 1_700_000_000, []),
    ],
    ids=["as the header", "none", "zero", "a word", "a number"],
)
async def test_trades_are_asked_for_where_their_time_is_told_and_they_are_young(
    store: Store, log_time: Callable[[Block], object], asked_for: list[int]
) -> None:
    node = ScriptedNode()
    node.log_time = log_time
    for _ in range(199):
        node.extend([Sent(0, 1)])
    slow = msgspec.structs.replace(CHAIN, block_time_s=DAY_S / 80)  # so 80 blocks are kept
    ranges = msgspec.structs.replace(SETTINGS, initial_log_range=20, max_log_range=20)
    await backfill(
        slow,
        client_of(node),
        store,
        ranges,
        from_block=0,
        to_block=180,
        clock=InstantClock(),
    )
    with_trades = [
        first
        for (first, _), topics in zip(node.ranges, node.log_filters, strict=True)
        if set(SWAP_TOPICS) <= topics
    ]
    assert with_trades == asked_for
