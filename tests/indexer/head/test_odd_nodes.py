"""Behind a node with any oddity, following a real chain stores the rows that it does without.

And the same rows are back-filled, with no more requests than the oddity needs.
"""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from assay.demo.anvil import AnvilNode
from assay.demo.embedded_chain import write_overlay
from assay.demo.trader import Trader
from assay.demo.world import build_world
from config.facts.load_chains import load_chains
from config.settings import IndexerSettings, RpcSettings
from core.errors import UpstreamError
from core.rpc.client import RpcClient
from indexer.head.follower import Follower
from indexer.head.follower_status import FollowTotals
from indexer.history.backfill import backfill
from sql.engine.store import Store
from tests.harness.examples import part_of
from tests.harness.indexer.expected_tables import Tables, read, without_follow
from tests.harness.indexer.node_tables import expect_of_node
from tests.harness.node.odd_node import Oddity, OddNode, odd_node
from tests.harness.node.oddities import LATE_LOGS, ODDITIES, REFUSALS
from tests.harness.rpc.clients import SkippingClock
from tests.harness.store.empty_files import new_store
from tests.indexer.head.conftest import LiveChain

SETTINGS = IndexerSettings(initial_log_range=32, max_log_range=64, late_logs_s=4)
TRADES = 30
AFTER = 14
"""Blocks without logs at the end of the chain: more than wait for a second read."""
STEPS = 20
"""Blocks that are announced one by one."""
MOST_FAILURES = 12


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveChain]:
    """One chain for all tests, which only read it."""
    with AnvilNode(states_kept=1_000) as node:
        world = build_world(node)
        overlay = write_overlay(world, tmp_path_factory.mktemp("overlay"))
        chain = next(chain for chain in load_chains(overlay) if chain.slug == "ethereum")
        live = LiveChain(node, world, Trader(node, world), overlay, chain)
        live.trade(TRADES)
        for _ in range(AFTER):
            node.mine()
        yield live


@pytest.fixture(scope="module")
def expected(live: LiveChain) -> Tables:
    return expect_of_node(live.node, live.chain)


async def follow_all(url: str, node: OddNode, live: LiveChain, store: Store) -> FollowTotals:
    """Follow the chain to its end, the last blocks one by one; failures are tried again."""
    clock = SkippingClock()
    client = await RpcClient.connect([url], live.chain.id, RpcSettings(), clock=clock)
    follower = Follower(live.chain, client, store, SETTINGS)
    last, failures = live.node.head_number(), 0
    while True:
        try:
            if not follower.is_loaded:
                await follower.load()
            async for _ in follower.advance(await client.fetch_head_header()):
                pass
        except UpstreamError:
            failures += 1
            assert failures <= MOST_FAILURES
            follower.forget()
            continue
        if follower.tip is not None and follower.tip.number == node.head:
            if node.head == last:
                break
            node.head += 1
    await client.aclose()
    return follower.totals


# In CI each oddity is met in one of the two ways, which read answers with the same client.
@pytest.mark.parametrize("oddity", part_of(ODDITIES, one_in=2), ids=lambda oddity: oddity.name)
async def test_following_stores_every_row(
    oddity: Oddity, live: LiveChain, expected: Tables, tmp_path: Path
) -> None:
    store = new_store(tmp_path / "store")
    with odd_node(live.node.url, oddity, head=live.node.head_number() - STEPS) as (url, node):
        totals = await follow_all(url, node, live, store)
    assert read(store) == expected
    assert bool(totals.second_reads.late_blocks) == (
        oddity in LATE_LOGS and not oddity.name.startswith("no logs at first")
    )
    store.close()


@pytest.mark.parametrize(
    "oddity", part_of(ODDITIES, one_in=2, first=1), ids=lambda oddity: oddity.name
)
async def test_a_back_fill_stores_every_row(
    oddity: Oddity, live: LiveChain, expected: Tables, tmp_path: Path
) -> None:
    store = new_store(tmp_path / "store")
    last = live.node.head_number()
    with odd_node(live.node.url, oddity, head=last) as (url, node):
        clock = SkippingClock()
        client = await RpcClient.connect([url], live.chain.id, RpcSettings(), clock=clock)
        result = await backfill(
            msgspec.structs.replace(live.chain, finality_blocks=0),
            client,
            store,
            SETTINGS,
            from_block=0,
            to_block=last,
            clock=clock,
        )
        await client.aclose()
    stored, known = read(store), without_follow(expected)
    assert (stored.pools, stored.transfers, stored.launches, stored.undecoded) == (
        known.pools,
        known.transfers,
        known.launches,
        known.undecoded,
    )
    assert result.done_to == last
    if oddity in REFUSALS:
        assert node.requests["eth_getLogs"] <= last / 2
    store.close()


async def test_the_second_read_is_one_query_for_several_blocks(
    live: LiveChain, tmp_path: Path
) -> None:
    """Its cost is per block, at any age of the chain."""
    found = {}
    sound = Oddity(name="none", source="none")
    for late_logs_s in (0.0, 4.0):
        store = new_store(tmp_path / f"store {late_logs_s}")
        head = live.node.head_number() - STEPS
        with odd_node(live.node.url, sound, head=head) as (url, node):
            clock = SkippingClock()
            client = await RpcClient.connect([url], live.chain.id, RpcSettings(), clock=clock)
            settings = msgspec.structs.replace(SETTINGS, late_logs_s=late_logs_s)
            follower = Follower(live.chain, client, store, settings)
            await follower.load()
            for _ in range(STEPS):
                async for _ in follower.advance(await client.fetch_head_header()):
                    pass
                node.head += 1
            await client.aclose()
        found[late_logs_s] = node.requests["eth_getLogs"]
        store.close()
    assert found[0.0] < found[4.0] <= found[0.0] + STEPS / 8 + 3
