"""A back-fill brings exactly its range, in chunks of any size, and resumes where it was stopped."""

import itertools
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.settings import IndexerSettings
from core.errors import UpstreamError
from indexer.head.follower import Follower
from indexer.history.backfill import BackfillProgress, BackfillResult, BeyondHeadError, backfill
from indexer.ingest import join_coverage
from sql.chain.blocks import insert_blocks, read_checkpoint
from sql.engine.store import Store
from sql.engine.table_rows import BlockRow, CoverageRow
from tests.harness.indexer.expected_tables import (
    assert_window,
    expect,
    read,
    without_follow,
)
from tests.harness.node.chain import (
    CHAIN,
    Event,
    InstantClock,
    LpSent,
    Odd,
    Pair,
    Pool,
    ScriptedNode,
    Sent,
    client_of,
)
from tests.harness.store.empty_files import new_store

LAST = 199

"""The newest block that is final."""

SETTINGS = IndexerSettings(initial_log_range=4, max_log_range=16, commit_rows=20)

EVENTS: list[tuple[Event, ...]] = [
    (Pair(-1, 0), Sent(0, 5), Odd(0)),
    (Pool(1, 2), Sent(1, 6), LpSent(Pair(-1, 0), 3)),
    (Sent(0, 7), Sent(3, 1)),
    (),
]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = new_store(tmp_path / "store.duckdb")
    yield opened
    opened.close()


@pytest.fixture
def node() -> ScriptedNode:
    grown = ScriptedNode()
    for number in range(LAST + CHAIN.finality_blocks):
        grown.extend(EVENTS[number % len(EVENTS)])
    return grown


class Stopped(Exception):  # noqa: N818 - a wish, not an error
    """The caller has had enough."""


async def run(
    store: Store,
    node: ScriptedNode,
    *,
    first: int = 0,
    last: int = LAST,
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


@pytest.mark.parametrize(("first", "last"), [(0, 199), (0, 0), (50, 60), (180, 199), (199, 199)])
async def test_it_brings_exactly_its_range(
    store: Store, node: ScriptedNode, first: int, last: int
) -> None:
    result, steps = await run(store, node, first=first, last=last)
    stored_rows = read(store)
    assert stored_rows == without_follow(expect(node.canonical[: last + 1], start=first))
    assert result.rows == len(stored_rows.pools) + len(stored_rows.transfers) + len(
        stored_rows.undecoded
    )
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
    assert read(store) == without_follow(expect(node.canonical[: LAST + 1]))
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
    assert read(store) == without_follow(expect(node.canonical[: LAST + 1]))
    refused = [last - first + 1 for first, last in node.ranges if last - first >= max_range]
    granted = [last - first + 1 for first, last in node.ranges if last - first < max_range]
    assert len(refused) < len(granted) / 2
    if "{last}" in refusal:
        first = [last + 1 for begun, last in node.ranges if begun == 0]
        assert first == [64, max_range], "the node's own suggestion is taken"


async def test_ranges_grow_where_nothing_is_refused(store: Store, node: ScriptedNode) -> None:
    await run(store, node)
    lengths = [last - first + 1 for first, last in node.ranges]
    assert lengths[0] == 4
    assert max(lengths) >= 16


async def test_a_range_above_the_head_is_the_callers_error(
    store: Store, node: ScriptedNode
) -> None:
    with pytest.raises(BeyondHeadError, match="block 212 does not exist yet; the head is block"):
        await run(store, node, last=212)


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
    assert read(store) == without_follow(expect(node.canonical[: LAST + 1]))


async def followed(store: Store, node: ScriptedNode, *, start: int) -> None:
    client = client_of(node)
    chain = msgspec.structs.replace(CHAIN, start_block=start)
    follower = Follower(chain, client, store, SETTINGS)
    await follower.load()
    async for _ in follower.advance(await client.fetch_head_header()):
        pass


async def test_it_ends_at_the_newest_final_block(store: Store, node: ScriptedNode) -> None:
    """Unfinalized blocks without a follower are not stored: a reorg might remove them unnoticed."""
    result, _ = await run(store, node, first=150, last=LAST + 5)
    assert result.done_to == LAST
    node.reorg(12, [[Pool(3, 1), Sent(3, 9)], *[[]] * 13])
    result, _ = await run(store, node, first=150, last=LAST + 5)
    assert result.done_to == LAST + 2
    assert read(store) == without_follow(expect(node.canonical[: LAST + 3], start=150))


async def test_beyond_final_blocks_it_takes_what_following_holds(
    store: Store, node: ScriptedNode
) -> None:
    await followed(store, node, start=LAST)
    result, _ = await run(store, node, first=150, last=LAST + 12)
    assert result.done_to == LAST + 12
    node.reorg(5, [[Pool(3, 1), Sent(3, 9)], [], [Sent(0, 1)], [], [], []])
    await followed(store, node, start=LAST)
    stored_rows, expected = read(store), expect(node.canonical, start=150, followed_from=LAST)
    assert (
        stored_rows.pools,
        stored_rows.transfers,
        stored_rows.undecoded,
        stored_rows.coverage,
    ) == (
        *(expected.pools, expected.transfers, expected.undecoded),
        expected.coverage,
    )


async def test_beyond_final_blocks_it_takes_no_other_branch_than_following(
    store: Store, node: ScriptedNode
) -> None:
    await followed(store, node, start=LAST)
    stored_rows = read(store)
    node.reorg(5, [[Pool(3, 1), Sent(3, 9)], *[[]] * 5])
    with pytest.raises(UpstreamError, match="the block in the follower's window"):
        await run(store, node, first=LAST + 6, last=LAST + 12)
    assert read(store) == stored_rows


async def test_what_an_earlier_release_left_unwatched_is_read_again(
    store: Store, node: ScriptedNode
) -> None:
    """Its back-fills stored unfinalized blocks that following had not reached."""
    await run(store, node, first=150)
    with store.transaction() as tx:
        place = {"chain_id": 1, "hash": "0x" + "77" * 32, "parent_hash": "0x" + "66" * 32}
        insert_blocks(tx, [BlockRow(number=LAST - 3, time_s=1, **place)])  # type: ignore[arg-type]  # 0x text
    await followed(store, node, start=LAST - 3)
    stored_rows, expected = read(store), expect(node.canonical, start=150, followed_from=LAST - 3)
    assert (stored_rows.pools, stored_rows.transfers, stored_rows.coverage) == (
        *(expected.pools, expected.transfers),
        expected.coverage,
    )
    assert_window(store, node.canonical, highest=LAST + 12, start=LAST - 3)


# --- coverage -----------------------------------------------------------------------------------

RANGES = st.tuples(st.integers(0, 30), st.integers(0, 6)).map(
    lambda pair: (pair[0], pair[0] + pair[1])
)


@given(st.lists(st.tuples(RANGES, st.sets(st.sampled_from("abc"), min_size=1)), max_size=12))
def test_it_equals_the_set_of_blocks(added: list[tuple[tuple[int, int], set[str]]]) -> None:
    rows: list[CoverageRow] = []
    blocks: dict[str, set[int]] = {"a": set(), "b": set(), "c": set()}
    for (first, last), subjects in added:
        rows = join_coverage(rows, chain_id=1, subjects=sorted(subjects), first=first, last=last)
        for subject in subjects:
            blocks[subject] |= set(range(first, last + 1))
    for subject, expected in blocks.items():
        ranges = sorted((row.from_block, row.to_block) for row in rows if row.subject == subject)
        assert {at for first, last in ranges for at in range(first, last + 1)} == expected
        gaps = [after[0] - before[1] for before, after in itertools.pairwise(ranges)]
        assert all(gap > 1 for gap in gaps)
