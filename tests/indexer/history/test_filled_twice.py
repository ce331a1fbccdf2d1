"""Protects balances from transfers that come twice: by back-fills that overlap, and by the history
of a token that a back-fill has met, whether the first of them are final by then or not."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from indexer.head.follower import Follower
from indexer.history import backfill as backfill_module
from indexer.history.backfill import backfill
from sql.chain.balances import read_holders
from sql.chain.blocks import FOLLOW, read_checkpoint
from sql.chain.finalization import finalize_rows
from sql.engine.store import Store
from sql.engine.store_files import StoreFiles
from sql.lake.compaction import ChainBounds, CompactionRequest, compact
from sql.lake.lake_file import Lake
from tests.harness.indexer.token_histories import (
    POOL_AT,
    SETTINGS,
    followed,
    histories_of,
    run_out,
    sent_in,
    stored,
)
from tests.harness.node.chain import (
    CHAIN,
    Event,
    InstantClock,
    Odd,
    Pair,
    ScriptedNode,
    Sent,
    client_of,
    token,
)
from tests.harness.store.empty_files import new_store
from tests.harness.store.store_contents import undecoded_in

FIRST_POOL_AT, SECOND_POOL_AT = 21, 55
"""Before following began, with the third pool."""

PIECEMEAL = msgspec.structs.replace(SETTINGS, commit_rows=1)
HISTORY = None
ORDERS: dict[str, list[tuple[int, int] | None]] = {
    "a fill, then the history": [(0, 70), HISTORY],
    "the history, then a fill": [HISTORY, (0, 70)],
    "fills that overlap": [(0, 45), (30, 70), HISTORY],
    "first seen earlier and earlier": [(40, 70), (0, 45), HISTORY],
    "one within another": [(50, 60), (0, 70), HISTORY, (0, 75)],
    "apart": [(0, 30), (60, 70), HISTORY],
}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = new_store(tmp_path / "store")
    yield opened
    opened.close()


class Place(msgspec.Struct, frozen=True):
    """Place of a log."""

    block_number: int
    log_index: int


def lived(*, odd_every: int = 1_000) -> ScriptedNode:
    """A transfer in each block, a pool now and then, and a transfer of another shape more often."""
    node = ScriptedNode()
    for number in range(1, POOL_AT):
        events: list[Event] = [Sent(0, number)]
        if number in (FIRST_POOL_AT, SECOND_POOL_AT):
            events.append(Pair(0, 1 if number == FIRST_POOL_AT else 2))
        if number % odd_every == 0:
            events.append(Odd(0))
        node.extend(events)
    node.extend([Pair(-1, 0), Sent(0, 10**6)])
    for number in range(20):
        node.extend([Sent(0, 10**7 + number)])
    return node


def finalize_all(store: Store) -> None:
    """Final rows leave the tables in which a second row would be noticed."""
    checkpoint = read_checkpoint(store, chain_id=1, stream=FOLLOW)
    assert checkpoint is not None
    final = checkpoint.number - CHAIN.finality_blocks - 1
    while finalize_rows(store, chain_id=1, final=final):
        pass


@pytest.mark.parametrize("order", ORDERS.values(), ids=ORDERS.keys())
@pytest.mark.parametrize("is_finalized", [True, False])
async def test_no_transfer_is_added_twice_or_left_out(
    store: Store, order: list[tuple[int, int] | None], is_finalized: bool
) -> None:
    node, clock = lived(), InstantClock()
    clock.time_s = 10.0
    await followed(node, store)
    for span in order:
        if span is None:
            await run_out(histories_of(node, store, clock))
        else:
            first, last = span
            await backfill(
                CHAIN,
                client_of(node),
                store,
                PIECEMEAL,
                from_block=first,
                to_block=last,
                clock=clock,
            )
        if is_finalized:
            finalize_all(store)
        assert len(stored(store, 0)) == len(set(stored(store, 0)))
    sent = sent_in(node.canonical, 0)
    assert stored(store, 0) == sent
    holders = read_holders(store, chain_id=1, token=token(0), at_most=100)
    assert holders.held_raw == sum(amount for _, amount in sent)


async def test_what_is_in_the_lake_is_not_brought_again(store: Store) -> None:
    """Rows that have left the serving state are nowhere that a key would refuse them twice."""
    node = lived(odd_every=5)
    await followed(node, store)
    files, bounds = StoreFiles(prefix=store.path), (ChainBounds(chain_id=1),)
    for first, last in ((20, 45), (30, 70)):
        await backfill(CHAIN, client_of(node), store, PIECEMEAL, from_block=first, to_block=last)
        finalize_all(store)
        compact(files, CompactionRequest(chains=bounds, is_forced=True), now_s=0.0)
    assert not undecoded_in(store)
    with closing(Lake.open(files, sees_serving=False)) as lake:
        where = {"chain_id": 1, "from_block": 0, "to_block": 70}
        found = lake.fetch("list_undecoded_places", Place, **where)
    # Tracked from the first pool on.
    assert [one.block_number for one in found] == list(range(25, 71, 5))


async def test_what_following_will_read_is_not_put_into_the_lake(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It begins below the end of a back-fill, and looks for its rows in the serving state only."""
    monkeypatch.setattr(backfill_module, "LEAST_LOGS", 1)
    node = lived()
    await backfill(CHAIN, client_of(node), store, SETTINGS, from_block=0, to_block=70)
    follower = Follower(CHAIN, client_of(node), store, SETTINGS)
    await follower.load()
    async for _ in follower.advance(await client_of(node).fetch_head_header()):
        pass
    finalize_all(store)
    files, bounds = StoreFiles(prefix=store.path), (ChainBounds(chain_id=1),)
    compact(files, CompactionRequest(chains=bounds, is_forced=True), now_s=0.0)
    sent = [one for one in sent_in(node.canonical, 0) if one[0] >= FIRST_POOL_AT]
    holders = read_holders(store, chain_id=1, token=token(0), at_most=100)
    assert holders.held_raw == sum(amount for _, amount in sent)
