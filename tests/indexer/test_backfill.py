"""A back-fill brings exactly its range, in whatever pieces, and goes on where it was stopped."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from config.settings_model import IndexerSettings
from core.errors import UpstreamError
from indexer.backfill import BackfillProgress, BackfillResult, BeyondHeadError, backfill
from indexer.follower import Follower
from sql.blocks import read_checkpoint
from sql.store import Store
from tests.indexer.ledger_of_chain import Tables, expect, read
from tests.indexer.scripted_node import (
    CHAIN,
    InstantClock,
    Odd,
    Pair,
    Pool,
    ScriptedNode,
    Sent,
    client_of,
)
from tests.sql.empty_files import new_store

SETTINGS = IndexerSettings(initial_log_range=4, max_log_range=16, commit_rows=20)
EVENTS = [(Pair(-1, 0), Sent(0, 5), Odd(0)), (Pool(1, 2), Sent(1, 6)), (Sent(0, 7), Sent(3, 1)), ()]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = new_store(tmp_path / "store.duckdb")
    yield opened
    opened.close()


@pytest.fixture
def node() -> ScriptedNode:
    grown = ScriptedNode()
    for number in range(199):
        grown.extend(EVENTS[number % len(EVENTS)])
    return grown


class Stopped(Exception):  # noqa: N818 - a wish, not an error
    """The caller has had enough."""


async def run(
    store: Store,
    node: ScriptedNode,
    *,
    first: int = 0,
    last: int = 199,
    stop_at: int | None = None,
    settings: IndexerSettings = SETTINGS,
) -> tuple[BackfillResult, list[int]]:
    steps: list[int] = []

    def note(progress: BackfillProgress) -> None:
        steps.append(progress.done_to)
        if stop_at is not None and progress.done_to >= stop_at:
            raise Stopped

    result = await backfill(
        CHAIN,
        client_of(node),
        store,
        settings,
        from_block=first,
        to_block=last,
        progress=note,
        clock=InstantClock(),
    )
    return result, steps


def without_follow(tables: Tables) -> Tables:
    """A back-fill has its own checkpoint, and leaves open from where on transfers are whole."""
    return msgspec.structs.replace(
        tables, checkpoint=None, tokens=[(*row[:3], None) for row in tables.tokens]
    )


@pytest.mark.parametrize(("first", "last"), [(0, 199), (0, 0), (50, 60), (180, 199), (199, 199)])
async def test_it_brings_exactly_its_range(
    store: Store, node: ScriptedNode, first: int, last: int
) -> None:
    result, steps = await run(store, node, first=first, last=last)
    held = read(store)
    assert held == without_follow(expect(node.canonical[: last + 1], start=first))
    assert result.rows == len(held.pools) + len(held.transfers) + len(held.undecoded)
    assert result.logs == sum(len(block.logs) for block in node.canonical[first : last + 1])
    assert steps[0] == first - 1
    assert steps[-1] == last
    assert steps == sorted(set(steps)), "in order"


async def test_stopped_anywhere_it_goes_on_there(store: Store, node: ScriptedNode) -> None:
    for stop_at in (30, 80, 120):
        with pytest.raises(Stopped):
            await run(store, node, stop_at=stop_at)
        checkpoint = read_checkpoint(store, chain_id=1, stream="backfill:0:199")
        assert checkpoint is not None
        assert stop_at <= checkpoint.number < 199
        node.ranges.clear()
    await run(store, node)
    assert min(first for first, _ in node.ranges or [(200, 200)]) >= 120
    assert read(store) == without_follow(expect(node.canonical))
    node.ranges.clear()
    again, _ = await run(store, node)
    assert (again.rows, again.logs, node.ranges) == (0, 0, [])


@pytest.mark.parametrize(
    "refusal",
    [
        "block range is too wide",
        "query returned more than 10000 results. Try with this block range [{first}, {last}].",
    ],
)
@pytest.mark.parametrize("max_range", [1, 3, 10])
async def test_it_asks_for_as_much_as_the_node_gives(
    store: Store, node: ScriptedNode, max_range: int, refusal: str
) -> None:
    node.max_range, node.refusal = max_range, refusal
    await run(store, node, settings=IndexerSettings(initial_log_range=64, max_log_range=64))
    assert read(store) == without_follow(expect(node.canonical))
    refused = [last - first + 1 for first, last in node.ranges if last - first >= max_range]
    granted = [last - first + 1 for first, last in node.ranges if last - first < max_range]
    assert len(refused) < len(granted) / 2
    if "{last}" in refusal:
        assert granted[0] == max_range, "the node's own suggestion is taken"


async def test_ranges_grow_where_nothing_is_refused(store: Store, node: ScriptedNode) -> None:
    await run(store, node)
    lengths = [last - first + 1 for first, last in node.ranges]
    assert lengths[0] == 4
    assert max(lengths) >= 16


async def test_a_range_above_the_head_is_the_callers_error(
    store: Store, node: ScriptedNode
) -> None:
    with pytest.raises(BeyondHeadError, match="block 200 does not exist yet; the head is block"):
        await run(store, node, last=200)


async def test_a_node_that_was_never_there_is_told_at_once(
    store: Store, node: ScriptedNode
) -> None:
    node.is_dead = True
    with pytest.raises(UpstreamError, match="scripted:1: is dead"):
        await run(store, node)


async def test_a_node_that_lies_for_a_while_is_outlived(store: Store, node: ScriptedNode) -> None:
    def backwards(answers: list[dict[str, object]]) -> list[dict[str, object]]:
        return [
            one | {"result": one["result"][::-1]} if isinstance(one["result"], list) else one
            for one in answers
        ]

    node.lies = [backwards] * 12
    await run(store, node)
    assert read(store) == without_follow(expect(node.canonical))


async def test_following_takes_up_what_it_left(store: Store, node: ScriptedNode) -> None:
    """Blocks that were not final when they were filled in may have been replaced since."""
    await run(store, node, first=150, last=199)
    node.reorg(5, [[Pool(3, 1), Sent(3, 9)], [], [Sent(0, 1)]])
    client = client_of(node)
    chain_from_150 = msgspec.structs.replace(CHAIN, start_block=150)
    follower = Follower(chain_from_150, client, store, SETTINGS)
    await follower.load()
    async for _ in follower.advance(await client.fetch_head_header()):
        pass
    held = read(store)
    expected = expect(node.canonical, start=150)
    assert (held.pools, held.transfers, held.undecoded) == (
        expected.pools,
        expected.transfers,
        expected.undecoded,
    )
    assert held.coverage == expected.coverage
