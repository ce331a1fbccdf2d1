"""Protects balances from transfers that come twice: by back-fills that overlap, and by the history
of a token that a back-fill has met, whether the first of them are final by then or not."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from indexer.backfill import backfill
from indexer.ingest import FOLLOW
from sql.balances import holders_of
from sql.blocks import read_checkpoint
from sql.finalization import finalize_rows
from sql.store import Store
from tests.indexer.scripted_node import (
    CHAIN,
    Event,
    InstantClock,
    Pair,
    ScriptedNode,
    Sent,
    client_of,
    token,
)
from tests.indexer.test_histories import (
    POOL_AT,
    SETTINGS,
    followed,
    histories_of,
    run_out,
    sent_in,
    stored,
)
from tests.sql.empty_files import new_store

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


def lived() -> ScriptedNode:
    """A transfer in each block, and a pool now and then."""
    node = ScriptedNode()
    for number in range(1, POOL_AT):
        events: list[Event] = [Sent(0, number)]
        if number in (FIRST_POOL_AT, SECOND_POOL_AT):
            events.append(Pair(0, 1 if number == FIRST_POOL_AT else 2))
        node.extend(events)
    node.extend([Pair(-1, 0), Sent(0, 10**6)])
    for number in range(20):
        node.extend([Sent(0, 10**7 + number)])
    return node


def finalize_all(store: Store) -> None:
    """What is final leaves the tables in which a second row would be noticed."""
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
    held = holders_of(store, chain_id=1, token=token(0), at_most=100)
    assert held.held_raw == sum(amount for _, amount in sent)
