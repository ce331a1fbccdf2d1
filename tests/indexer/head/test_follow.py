"""Following goes on through all faults of others, and reports each once."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
import structlog

from config.facts.chain import Chain
from core.errors import UpstreamError
from indexer.head import follow as follow_module
from indexer.head import follower
from indexer.history.backfill import backfill
from sql.chain.blocks import list_blocks
from sql.engine.database import Reader, Transaction
from sql.engine.store import Store
from sql.tokens.tokens import track_tokens
from sql.unwind import unwind_from
from tests.harness.indexer.expected_tables import assert_window, expect, read
from tests.harness.indexer.following import SETTINGS, following, grown
from tests.harness.node.chain import CHAIN, TOKENS, Odd, Pair, Pool, ScriptedNode, Sent, client_of
from tests.harness.store.empty_files import new_store
from tests.harness.store.store_contents import transfers_of


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = new_store(tmp_path / "store.duckdb")
    yield opened
    opened.close()


def test_however_long_nodes_were_away_they_are_asked_again_within_seconds() -> None:
    watch = follow_module._Watch(CHAIN, None)
    error = UpstreamError(service="node", reason="gone")
    assert max(watch.note_failure(error) for _ in range(50)) < 5


async def test_it_comes_level_and_stays_level(store: Store) -> None:
    node = grown()
    async with following(store, node) as board:
        await board.until_level(node)
        for number in range(3):
            node.extend([Pool(1, 2), Sent(1, number), Sent(3, 1)])
            status = await board.until_level(node)
            assert status.lag_blocks == 0
        before = (await board.until_level(node)).totals
        node.reorg(2, [[Pair(1, 2)]])
        after = (await board.until_level(node)).totals
    assert read(store) == expect(node.canonical)
    assert_window(store, node.canonical, highest=node.highest)
    assert (before.blocks, before.reorgs, before.unwound_blocks) == (7, 0, 0)
    assert (after.blocks, after.reorgs, after.unwound_blocks) == (8, 1, 2)
    assert after.written.pools == before.written.pools + 1


@pytest.mark.parametrize(
    ("depth", "unwound_from"), [(1, [-1]), (3, [-3]), (4, [-4]), (5, [-4, -5])]
)
async def test_a_reorg_is_unwound_by_several_blocks_at_once(
    store: Store, monkeypatch: pytest.MonkeyPatch, depth: int, unwound_from: list[int]
) -> None:
    unwound: list[int] = []

    def unwind(tx: Transaction, *, chain_id: int, number: int) -> None:
        unwound.append(number)
        unwind_from(tx, chain_id=chain_id, number=number)

    monkeypatch.setattr(follower, "unwind_from", unwind)
    node = grown(7)
    async with following(store, node) as board:
        await board.until_level(node)
        after_tip = node.head.number + 1
        node.reorg(depth, [[Sent(0, number)] for number in range(depth + 1)])
        totals = (await board.until_level(node)).totals
    assert read(store) == expect(node.canonical)
    assert (totals.reorgs, totals.unwound_blocks) == (1, depth)
    assert [number - after_tip for number in unwound] == unwound_from


async def test_a_node_that_dies_and_comes_back_is_followed_again(store: Store) -> None:
    node = grown()
    with structlog.testing.capture_logs() as logs:
        async with following(store, node) as board:
            await board.until_level(node)
            node.is_dead = True
            status = await board.until(lambda status: status.last_error is not None)
            assert status.last_error == "scripted:1: is dead"
            node.extend([Sent(0, 99)])
            node.is_dead = False
            await board.until_level(node)
    assert read(store) == expect(node.canonical)
    errors = [log for log in logs if log["log_level"] == "error"]
    assert [log["reason"] for log in errors] == ["scripted:1: is dead"]
    assert [log["event"] for log in logs if log["log_level"] == "info"] == ["following resumed"]


async def test_one_of_two_nodes_is_enough(store: Store) -> None:
    node, dead = grown(), grown()
    dead.is_dead = True
    async with following(store, dead, node) as board:
        await board.until_level(node)
        node.extend([Sent(0, 1)])
        status = await board.until_level(node)
    assert status.last_error is None


async def test_another_chain_is_a_clear_error_and_nothing_is_stored(store: Store) -> None:
    node = grown()
    node.chain_id = 5
    async with following(store, node) as board:
        status = await board.until(lambda status: status.last_error is not None)
        assert status.last_error == "scripted:1: serves chain id 5, expected 1"
    assert read(store).checkpoint is None


async def test_a_full_disk_is_told_and_outlived(store: Store) -> None:
    node = grown()
    async with following(store, node) as board:
        await board.until_level(node)
        with full_disk():
            for number in range(40):
                node.extend([Pool(1, 2), *(Sent(0, number * 1000 + at) for at in range(20))])
            status = await board.until(lambda status: status.last_error is not None)
        assert str(store.path) in str(status.last_error)
        await board.until_level(node)
    assert read(store) == expect(node.canonical)


@contextmanager
def full_disk() -> Iterator[None]:
    """No file of this process can grow: writing fails as it does on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


async def test_an_empty_store_begins_at_the_start_block(store: Store) -> None:
    node = grown(6)
    async with following(store, node, chain=starting_at(4)) as board:
        await board.until_level(node)
    assert read(store) == expect(node.canonical, start=4)


async def test_without_a_start_block_it_begins_at_the_head(store: Store) -> None:
    node = grown(6)
    async with following(store, node, chain=starting_at(None)) as board:
        await board.until_level(node)
        node.extend([Sent(0, 1), Sent(2, 1)])
        await board.until_level(node)
    assert read(store) == expect(node.canonical, start=6)


async def test_a_start_block_to_come_is_waited_for(store: Store) -> None:
    node = grown(2)
    async with following(store, node, chain=starting_at(4)) as board:
        await board.until(lambda status: status.head is not None)
        for _ in range(3):
            node.extend([Pair(0, 1), Sent(0, 1)])
        await board.until_level(node)
    assert read(store) == expect(node.canonical, start=4)


async def test_the_first_block_can_be_reorganised_away(store: Store) -> None:
    node = grown(6)
    async with following(store, node, chain=starting_at(None)) as board:
        await board.until_level(node)
        node.reorg(1, [[Pair(1, 2), Sent(1, 5)], []])
        await board.until_level(node)
    assert read(store) == expect(node.canonical, start=6)


async def test_a_restart_goes_on_after_the_checkpoint(store: Store) -> None:
    node = grown()
    async with following(store, node) as board:
        await board.until_level(node)
    node.reorg(1, [[Pair(1, 2)], [Sent(1, 4)]])
    node.requests.clear()
    async with following(store, node, chain=starting_at(0)) as board:
        await board.until_level(node)
    assert read(store) == expect(node.canonical)
    assert node.requests.count("eth_getLogs") <= 3


async def test_what_is_stored_counts_not_what_is_remembered(store: Store) -> None:
    node = grown(6)
    async with following(store, node) as board:
        await board.until_level(node)
        with store.transaction() as tx:
            unwind_from(tx, chain_id=1, number=3)
        node.extend([Sent(0, 8)])
        await board.until_level(node)
    assert read(store) == expect(node.canonical)


async def test_a_reorganisation_below_finality_is_refused(store: Store) -> None:
    node, other = grown(40), grown(0)
    async with following(store, node) as board:
        await board.until_level(node)
        stored_rows = (read(store), list_blocks(store, chain_id=1))
        own = (node.by_hash, node.canonical)
        for _ in range(45):
            other.extend([Pair(2, 3)])
        node.by_hash, node.canonical = other.by_hash, other.canonical
        status = await board.until(lambda status: status.last_error is not None)
        assert "has left ours at block 28 or below, which was final" in str(status.last_error)
        assert (read(store), list_blocks(store, chain_id=1)) == stored_rows
        node.by_hash, node.canonical = own
        node.extend([Sent(0, 8)])
        await board.until_level(node)
    assert read(store) == expect(node.canonical)


async def test_a_node_without_our_final_block_unwinds_nothing(store: Store) -> None:
    """A node that restarted from the beginning, or is far behind, shows no reorg."""
    node = grown(40)
    async with following(store, node) as board:
        await board.until_level(node)
        stored_rows = read(store)
        node.canonical = node.canonical[:20]
        status = await board.until(lambda status: status.last_error is not None)
        assert "there no such block" in str(status.last_error)
    assert read(store) == stored_rows


async def test_the_first_block_followed_may_go_with_a_back_fill_below_it(store: Store) -> None:
    """Blocks below were read by another process, and give no reason to call the block final."""
    node = grown(30)
    start = node.head.number - CHAIN.finality_blocks + 1
    async with following(store, node, chain=starting_at(start)) as board:
        await board.until_level(node)
        client = client_of(node)
        filled = await backfill(CHAIN, client, store, SETTINGS, from_block=5, to_block=start - 1)
        assert filled.done_to == start - 1
        node.reorg(CHAIN.finality_blocks, [[Pair(1, 2), Sent(1, 5)]] * (CHAIN.finality_blocks + 1))
        await board.until_level(node)
    stored_rows, expected = read(store), expect(node.canonical, start=5, followed_from=start)
    assert (stored_rows.pools, stored_rows.coverage) == (expected.pools, expected.coverage)


async def test_requested_tokens_are_followed_from_the_request_on(store: Store) -> None:
    node = ScriptedNode()
    async with following(store, node) as board:
        node.extend([Sent(3, 1)])
        await board.until_level(node)
        with store.transaction() as tx:
            track_tokens(tx, chain_id=1, seen={TOKENS[3]: 1}, because="request")
        node.extend([Sent(3, 2), Sent(2, 2), Odd(3)])
        await board.until_level(node)
    sent = transfers_of(store, TOKENS[3])
    assert [(row.block_number, row.amount_raw) for row in sent] == [(2, 2)]
    assert read(store).tokens == [(TOKENS[3], "request", 1, 2)]
    assert [row[:3] for row in read(store).undecoded] == [(2, 2, TOKENS[3])]


async def test_anchors_are_not_tracked(store: Store) -> None:
    node = ScriptedNode()
    async with following(store, node) as board:
        node.extend([Pair(-1, 0), Sent(-1, 5)])
        await board.until_level(node)
    assert [row[0] for row in read(store).tokens] == [TOKENS[0]]
    assert read(store).transfers == []


async def test_a_node_without_the_logs_yet_is_asked_again(store: Store) -> None:
    node = grown(1)
    async with following(store, node) as board:
        await board.until_level(node)

        def late(answers: list[dict[str, object]]) -> list[dict[str, object]]:
            return [
                one | {"result": []} if isinstance(one["result"], list) else one for one in answers
            ]

        node.lies = [late, late]  # the head, then its logs: a node that lags behind its peer
        node.extend([Sent(0, 5)])
        await board.until_level(node)
    assert read(store) == expect(node.canonical)


async def test_a_head_that_is_too_high_makes_nothing_final(store: Store) -> None:
    node = grown(60)

    def boast(answers: list[dict[str, object]]) -> list[dict[str, object]]:
        return [
            one | {"result": one["result"] | {"number": "0xfff0"}}
            if isinstance(one["result"], dict)
            else one
            for one in answers
        ]

    node.lies = [boast]
    async with following(store, node) as board:
        await board.until_level(node)
    assert_window(store, node.canonical, highest=node.highest)


def starting_at(block: int | None) -> Chain:
    return msgspec.structs.replace(CHAIN, start_block=block)


async def test_no_block_waits_until_the_tokens_are_read(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reading millions of them takes seconds, in which no chain could store anything."""
    node = grown(6)
    async with following(store, node) as board:
        await board.until_level(node)
    node.extend([Sent(0, 1)])
    pages = []
    fetch = Transaction.fetch_tuples

    def noting(self: Reader, query: str, /, **params: object) -> list[tuple[Any, ...]]:
        rows = fetch(self, query, **params)
        if query == "tokens/list_places" and isinstance(self, Transaction):
            pages.append(rows[0][0])
        return rows

    monkeypatch.setattr(Reader, "fetch_tuples", noting)
    async with following(store, node) as board:
        await board.until_level(node)
    assert read(store) == expect(node.canonical)
    assert pages
    assert not any(pages)
