"""Protects the stored liquidity of young pools: complete, and of no other pool.

In chunks of any size, after a restart, and after a reorg.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sql.engine.store import Store
from tests.harness.indexer.expected_tables import expect, read
from tests.harness.indexer.following import following, grown
from tests.harness.node.chain import Event, LpSent, Pair, Pool, PositionMinted
from tests.harness.store.empty_files import new_store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = new_store(tmp_path / "store.duckdb")
    yield opened
    opened.close()


LIQUIDITY: list[list[Event]] = [
    [LpSent(Pair(0, 1), 1)],  # of no pair yet
    [Pair(0, 1), LpSent(Pair(0, 1), 2), Pool(2, 3), PositionMinted(Pool(2, 3), 3)],
    [PositionMinted(Pair(0, 1), 4), LpSent(Pool(2, 3), 5)],  # as the other family has them
    [LpSent(Pair(3, 2), 6), PositionMinted(Pool(2, 3), 7), LpSent(Pair(0, 1), 8)],
]
"""Three events of two pools, among others that look alike."""


@pytest.mark.parametrize("behind", [0, 60], ids=["block by block", "by ranges"])
async def test_the_liquidity_of_pools_is_stored(store: Store, behind: int) -> None:
    node = grown(3)
    for events in LIQUIDITY:
        node.extend(events)
    for _ in range(behind):
        node.extend([])
    async with following(store, node) as board:
        await board.until_level(node)
        assert len(read(store).liquidity) == 4
        node.extend([LpSent(Pair(0, 1), 9), PositionMinted(Pool(2, 3), 10)])
        await board.until_level(node)
    assert len(read(store).liquidity) == 6
    assert read(store) == expect(node.canonical)


async def test_a_restart_remembers_pools_and_a_reorg_takes_their_liquidity(store: Store) -> None:
    node = grown(3)
    for events in LIQUIDITY:
        node.extend(events)
    async with following(store, node) as board:
        await board.until_level(node)
    node.extend([LpSent(Pair(0, 1), 9)])
    async with following(store, node) as board:
        await board.until_level(node)
        assert len(read(store).liquidity) == 5
        node.reorg(2, [[LpSent(Pair(0, 1), 20), LpSent(Pair(0, 1), 21)], [], []])
        await board.until_level(node)
    assert len(read(store).liquidity) == 4
    assert read(store) == expect(node.canonical)
