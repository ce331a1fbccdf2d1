"""On a real node with real exchanges, the tables equal the node's own logs of its canonical chain.

Also after reorganisations, and after the ingesting process was killed at any moment.
"""

import os
import random
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from config.facts.pool_family import KINDS
from config.settings import RpcSettings
from core.rpc.client import RpcClient
from indexer.events import TRANSFERS
from indexer.history.backfill import backfill
from sql.chain.pool_tables import list_coverage
from tests.harness.indexer.expected_tables import read, without_liquidity
from tests.harness.indexer.node_following import SETTINGS, following, opened, until_level
from tests.harness.indexer.node_tables import expect_of_node
from tests.harness.store.store_contents import trades_in
from tests.indexer.head.conftest import LiveChain

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[3]

NOT_IN_THE_DEMO = {"BalancerV2", "BalancerV3", "CurveCrypto", "CurveStable"} | {
    "DodoV2",
    "LiquidityBook",
}
"""Families that the demo does not deploy; tests/venues/test_venues.py has them."""


@pytest.mark.parametrize("scheme", ["http", "ws"])
async def test_the_tables_equal_the_nodes_logs(
    live: LiveChain, tmp_path: Path, scheme: str
) -> None:
    live.trade(60)  # more than is taken block by block, so ranges are used too
    url = live.node.url if scheme == "http" else live.node.ws_url
    with opened(tmp_path / "store.duckdb") as store:
        async with following(live, store, url) as board:
            await until_level(board, live)
            expected = expect_of_node(live.node, live.chain)
            assert {str(row[0]) for row in expected.pools} == {*KINDS} - NOT_IN_THE_DEMO
            assert len(expected.transfers) > 100
            assert len({str(row[2]) for row in expected.liquidity}) > 10, "of many pools"
            assert read(store) == expected
            live.trade(3)
            live.trader.launch()
            live.node.mine()
            await until_level(board, live)
            assert read(store) == expect_of_node(live.node, live.chain)


async def test_reorganisations_leave_nothing_behind(live: LiveChain, tmp_path: Path) -> None:
    live.trade(5)
    with opened(tmp_path / "store.duckdb") as store:
        async with following(live, store, live.node.ws_url) as board:
            for depth in (1, 3, 6):
                live.trader.launch()
                live.trade(depth)
                await until_level(board, live)
                before = read(store)
                live.node.reorg(depth)
                live.trade(1)
                await until_level(board, live)
                assert read(store) == expect_of_node(live.node, live.chain)
                assert read(store).transfers != before.transfers


async def test_a_back_fill_equals_following(live: LiveChain, tmp_path: Path) -> None:
    live.trade(60)
    head = live.node.head_number()
    client = await RpcClient.connect([live.node.url], live.chain.id, RpcSettings())
    with opened(tmp_path / "store.duckdb") as store:
        chain = msgspec.structs.replace(live.chain, finality_blocks=0)
        result = await backfill(chain, client, store, SETTINGS, from_block=0, to_block=head)
        stored_rows = read(store)
        expected = without_liquidity(expect_of_node(live.node, live.chain), live.chain)
        assert stored_rows.pools == expected.pools
        assert stored_rows.launches == expected.launches != []
        assert stored_rows.transfers == expected.transfers
        assert stored_rows.undecoded == expected.undecoded
        assert (stored_rows.coverage, stored_rows.liquidity) == (expected.coverage, [])
        rows = len(stored_rows.pools) + len(stored_rows.transfers) + len(stored_rows.undecoded)
        rows += len(stored_rows.launches) + len(trades_in(store))
        assert result.rows == rows
        assert result.logs >= rows
        assert result.seconds > 0
    await client.aclose()


@pytest.mark.parametrize("mode", ["follow", "back-fill"])
async def test_killed_at_any_moment_it_loses_and_doubles_nothing(
    live: LiveChain, tmp_path: Path, mode: str
) -> None:
    dice = random.Random(mode)  # noqa: S311 - a test's dice
    live.trade(60)
    path = tmp_path / "store.duckdb"
    head = live.node.head_number()
    until = "-" if mode == "follow" else str(head)
    for _ in range(4):
        kill_after(dice.randint(1, 8), live, path, until)
        if mode == "follow":
            live.node.reorg(dice.randint(1, 5))
            live.trade(2)
    client = await RpcClient.connect([live.node.url], live.chain.id, RpcSettings())
    with opened(path) as store:
        if mode == "follow":
            async with following(live, store, live.node.url) as board:
                await until_level(board, live)
        else:
            chain = msgspec.structs.replace(live.chain, finality_blocks=0)
            await backfill(chain, client, store, SETTINGS, from_block=0, to_block=head)
        stored_rows, expected = read(store), expect_of_node(live.node, live.chain)
        if mode == "back-fill":
            expected = without_liquidity(expected, live.chain)
        assert stored_rows.pools == expected.pools
        assert stored_rows.transfers == expected.transfers
        assert stored_rows.undecoded == expected.undecoded
        assert (stored_rows.coverage, stored_rows.liquidity) == (
            expected.coverage,
            expected.liquidity,
        )
        assert any(row.subject == TRANSFERS for row in list_coverage(store, chain_id=1))
    await client.aclose()


def kill_after(lines: int, live: LiveChain, path: Path, until: str) -> None:
    """Start an ingesting process and kill it after a number of reported commits."""
    command = [sys.executable, "-m", "tests.harness.indexer.ingest_process"]
    with subprocess.Popen(
        [*command, live.node.url, str(path), str(live.overlay), until],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
    ) as child:
        assert child.stdout is not None
        for _ in range(lines):
            if not child.stdout.readline():
                break  # it came to its end first
        child.kill()
