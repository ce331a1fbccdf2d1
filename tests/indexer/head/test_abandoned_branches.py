"""Logs of an abandoned branch are not stored as final, whichever process reads them."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from assay.service.record_report import record_report
from config.settings import IndexerSettings
from core.errors import UpstreamError
from indexer.head.follower import Follower
from indexer.history.backfill import backfill
from indexer.history.transfer_history import Histories
from sql.engine.store import Store
from tests.harness.bare_reports import bare_report
from tests.harness.indexer.expected_tables import expect, read, without_follow
from tests.harness.indexer.token_histories import sent_in, stored
from tests.harness.node.chain import (
    CHAIN,
    TOKENS,
    InstantClock,
    Pair,
    ScriptedNode,
    Sent,
    client_of,
)
from tests.harness.store.empty_files import new_store
from tests.harness.store.sample_rows import LATER

SETTINGS = IndexerSettings(initial_log_range=64, max_log_range=64)
DEPTH = 6
FORKED_AT = 40
"""First block that the branches do not share."""


class PartlySilentNode(ScriptedNode):
    """Node that does not answer some messages, so that another one gets them."""

    def __init__(self) -> None:
        super().__init__()
        self.ignores: Callable[[list[dict[str, Any]]], bool] = lambda calls: False

    async def exchange(self, body: bytes, *, ids: range) -> bytes:
        message = msgspec.json.decode(body)
        if self.ignores(message if isinstance(message, list) else [message]):
            raise UpstreamError(service=self.service, reason="is silent")
        return await super().exchange(body, ids=ids)


def asks_for_range(calls: list[dict[str, Any]]) -> bool:
    filters = [call["params"][0] for call in calls if call["method"] == "eth_getLogs"]
    return any("fromBlock" in wanted for wanted in filters)


def asks_for_old_headers(calls: list[dict[str, Any]]) -> bool:
    heights = [call["params"][0] for call in calls if call["method"] == "eth_getBlockByNumber"]
    return any(height != "latest" and int(height, 16) < FORKED_AT + DEPTH for height in heights)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = new_store(tmp_path / "store.duckdb")
    yield opened
    opened.close()


@pytest.fixture
def node() -> PartlySilentNode:
    """Up to the last block before a reorg."""
    grown = PartlySilentNode()
    grown.extend([Pair(0, 2)])
    for number in range(2, FORKED_AT + DEPTH):
        grown.extend([Sent(0, number)])
    return grown


def leave_behind(node: ScriptedNode) -> ScriptedNode:
    """Move the node to another branch, which becomes final; return one that has stayed."""
    stuck = ScriptedNode()
    stuck.canonical, stuck.by_hash = list(node.canonical), dict(node.by_hash)
    node.reorg(DEPTH, [[Sent(0, 10_000 + number)] for number in range(DEPTH)])
    node.extend([Pair(-1, 0)])
    for _ in range(30):
        node.extend(())
    return stuck


@pytest.mark.parametrize("reads", ["queries", "receipts"])
async def test_a_back_fill_believes_a_node_only_that_has_what_is_canonical(
    store: Store, node: PartlySilentNode, reads: str
) -> None:
    stuck = leave_behind(node)
    if reads == "receipts":
        node.needs_address = stuck.needs_address = "Please specify an address in your request"
    last = FORKED_AT + 3  # a range that the node behind has, too

    async def fill() -> None:
        await backfill(
            CHAIN,
            client_of(node, stuck),
            store,
            SETTINGS,
            from_block=0,
            to_block=last,
            clock=InstantClock(),
        )

    node.ignores = asks_for_range if reads == "queries" else asks_for_old_headers
    with pytest.raises(UpstreamError):
        await fill()
    assert not read(store).transfers
    node.ignores = lambda calls: False
    await fill()
    assert read(store) == without_follow(expect(node.canonical[: last + 1]))


async def test_the_past_of_a_token_is_that_of_the_branch_that_is_followed(
    store: Store, node: PartlySilentNode
) -> None:
    stuck = leave_behind(node)
    chain = msgspec.structs.replace(CHAIN, start_block=FORKED_AT + DEPTH)
    client = client_of(node, stuck)
    follower = Follower(chain, client, store, SETTINGS)
    await follower.load()
    async for _ in follower.advance(await client_of(node).fetch_head_header()):
        pass
    record_report(store, bare_report(TOKENS[0], scanned_at_s=1), LATER)
    clock = InstantClock()
    histories = Histories(CHAIN, client, store, SETTINGS, now_s=clock.now_s)
    node.ignores = asks_for_range
    clock.time_s = 1e6
    assert await histories.fetch_next()
    assert not stored(store, 0)
    node.ignores = lambda calls: False
    clock.time_s = 2e6
    while await histories.fetch_next():
        clock.time_s += 1e6
    assert stored(store, 0) == sent_in(node.canonical, 0)
