"""Protects unwinding: a reorganisation removes its rows wholly, and brings them back wholly."""

from hypothesis import given, settings
from hypothesis import strategies as st

from assay.service.record_report import record_report
from sql.chain.blocks import (
    insert_blocks,
    list_blocks,
    list_checkpoints,
    prune_blocks,
    read_checkpoint,
    write_checkpoint,
)
from sql.chain.history_tables import read_history, write_history
from sql.chain.launch_tables import insert_launches, list_launches
from sql.chain.pool_tables import insert_pools, list_coverage, list_pools
from sql.engine.database import Transaction
from sql.engine.store import MEMORY, Store
from sql.engine.table_rows import CheckpointRow, HistoryRow
from sql.reports.report_tables import read_report
from sql.tokens.tokens import Because, list_tracked, read_token, track_tokens
from sql.unwind import unwind_from
from tests.harness.bare_reports import bare_report
from tests.harness.examples import one_in
from tests.harness.store.sample_rows import LATER, block, launch, pool
from tests.harness.store.store_contents import transfers_of, undecoded_in
from tests.harness.store.unwound_facts import QUOTE, TOKENS, Facts, follow, take_in

histories = st.lists(
    st.builds(
        Facts,
        new_launch=st.none() | st.integers(0, 5),
        new_pool=st.none() | st.integers(0, 5),
        transfers=st.integers(0, 3),
    ),
    min_size=1,
    max_size=8,
)


def everything(store: Store) -> list[object]:
    """All that was taken in, without the numbers the store gives out."""
    return [
        list_blocks(store, chain_id=1),
        list_checkpoints(store, chain_id=1),
        list_coverage(store, chain_id=1),
        list_pools(store, chain_id=1, token=QUOTE),
        [list_launches(store, chain_id=1, token=token) for token in TOKENS],
        sorted(
            (row.address, row.first_seen_block, row.tracked_because)
            for row in list_tracked(store, chain_id=1)
        ),
        [transfers_of(store, token) for token in TOKENS],
        undecoded_in(store),
    ]


@settings(max_examples=one_in(5))
@given(history=histories, data=st.data())
def test_unwind_leaves_what_was_and_append_restores_all(
    history: list[Facts], data: st.DataObject
) -> None:
    back_to = data.draw(st.integers(0, len(history)))
    straight, bent = Store.open(MEMORY), Store.open(MEMORY)
    take_in(straight, history[:back_to], first=0)
    before = everything(straight)
    take_in(straight, history, first=back_to)
    take_in(bent, history, first=0)

    with bent.transaction() as tx:
        unwind_from(tx, chain_id=1, number=back_to)
    if back_to:
        assert everything(bent) == before
    take_in(bent, history, first=back_to)
    assert everything(bent) == everything(straight)
    straight.close()
    bent.close()


def make_token(tx: Transaction, at: int, *, block_number: int) -> None:
    track_tokens(tx, chain_id=1, seen={TOKENS[at]: block_number}, because="pool")
    insert_pools(tx, [pool(0x500 + block_number, TOKENS[at], block_number=block_number)])


def test_a_token_without_a_pool_goes_with_its_report_unless_somebody_asked(store: Store) -> None:
    with store.transaction() as tx:
        for at in (0, 1, 2):
            make_token(tx, at, block_number=10 + at)
        track_tokens(tx, chain_id=1, seen={TOKENS[1]: 11}, because="request")
    for token in TOKENS[:3]:
        record_report(store, bare_report(token, scanned_at_s=1), LATER)
    numbers = [row.token_id for row in list_tracked(store, chain_id=1)]
    with store.transaction() as tx:
        for number in numbers:
            write_history(tx, HistoryRow(is_whole=True, requests=1, logs=1), token_id=number)
    with store.transaction() as tx:
        unwind_from(tx, chain_id=1, number=11)
    pasts = [read_history(store, token_id=number) for number in numbers]
    assert [past is not None for past in pasts] == [True, True, False]
    kept, requested, gone = TOKENS[:3]
    assert {row.address: row.tracked_because for row in list_tracked(store, chain_id=1)} == {
        kept: "pool",
        requested: "request",
    }
    with store.transaction() as tx:
        make_token(tx, 3, block_number=11)  # may be given the number that is free again
    assert read_report(store, chain_id=1, address=kept)
    assert read_report(store, chain_id=1, address=requested)
    assert read_report(store, chain_id=1, address=gone) is None
    assert read_report(store, chain_id=1, address=TOKENS[3]) is None


def test_a_token_with_an_older_pool_stays(store: Store) -> None:
    with store.transaction() as tx:
        make_token(tx, 0, block_number=20)
        make_token(tx, 0, block_number=10)  # found later, by a back-fill
    with store.transaction() as tx:
        unwind_from(tx, chain_id=1, number=15)
    token = read_token(store, chain_id=1, address=TOKENS[0])
    assert token
    assert token.first_seen_block == 10
    assert [row.block_number for row in list_pools(store, chain_id=1, token=TOKENS[0])] == [10]


def make_launch(tx: Transaction, at: int, *, block_number: int) -> None:
    insert_launches(tx, [launch(TOKENS[at], block_number=block_number)])
    track_tokens(tx, chain_id=1, seen={TOKENS[at]: block_number}, because="launch")


def test_a_launched_token_outlives_its_pools_and_not_its_launch(store: Store) -> None:
    with store.transaction() as tx:
        for at in (0, 1, 2):
            make_launch(tx, at, block_number=10 + at)
            make_token(tx, at, block_number=20 + at)
        make_token(tx, 3, block_number=10)
        make_launch(tx, 3, block_number=25)
    with store.transaction() as tx:
        unwind_from(tx, chain_id=1, number=21)
    reasons = {row.address: row.tracked_because for row in list_tracked(store, chain_id=1)}
    assert reasons == dict(zip(TOKENS, ("pool", "launch", "launch", "pool"), strict=False))
    with store.transaction() as tx:
        unwind_from(tx, chain_id=1, number=12)
    reasons = {row.address: row.tracked_because for row in list_tracked(store, chain_id=1)}
    assert reasons == {TOKENS[0]: "launch", TOKENS[1]: "launch", TOKENS[3]: "pool"}
    assert list_launches(store, chain_id=1, token=TOKENS[2]) == []


def test_a_launch_is_kept_once_a_platform(store: Store) -> None:
    with store.transaction() as tx:
        first = [launch(TOKENS[0], block_number=at) for at in (11, 12)]
        assert insert_launches(tx, first) == 1
        assert insert_launches(tx, [launch(TOKENS[0], block_number=13)]) == 0
        assert insert_launches(tx, [launch(TOKENS[0], block_number=14, slug="front")]) == 1
        assert insert_launches(tx, []) == 0
    found = list_launches(store, chain_id=1, token=TOKENS[0])
    assert [(row.slug, row.block_number) for row in found] == [("a-pad", 11), ("front", 14)]
    assert list_launches(store, chain_id=56, token=TOKENS[0]) == []


def test_a_launch_is_a_stronger_reason_than_a_request_and_a_weaker_one_than_a_pool(
    store: Store,
) -> None:
    with store.transaction() as tx:
        given: list[tuple[int, Because]] = [
            *((0, "request"), (0, "launch"), (1, "launch"), (1, "request")),
            *((2, "pool"), (2, "launch"), (2, "request")),
        ]
        for at, because in given:
            track_tokens(tx, chain_id=1, seen={TOKENS[at]: 5}, because=because)
    reasons = {row.address: row.tracked_because for row in list_tracked(store, chain_id=1)}
    assert reasons == {TOKENS[0]: "launch", TOKENS[1]: "launch", TOKENS[2]: "pool"}


def test_another_chain_is_left_alone(store: Store) -> None:
    with store.transaction() as tx:
        make_token(tx, 0, block_number=10)
        insert_blocks(tx, [block(10)])
        write_checkpoint(tx, follow(10))
    before = everything(store)
    with store.transaction() as tx:
        unwind_from(tx, chain_id=56, number=0)
    assert everything(store) == before


def test_a_checkpoint_without_its_block_has_no_hash(store: Store) -> None:
    with store.transaction() as tx:
        insert_blocks(tx, [block(number) for number in range(5, 9)])
        prune_blocks(tx, chain_id=1, below=7)
        write_checkpoint(tx, follow(8))
        unwind_from(tx, chain_id=1, number=7)
    found = read_checkpoint(store, chain_id=1, stream="follow")
    assert found == CheckpointRow(chain_id=1, stream="follow", number=6, hash=None)
    assert list_blocks(store, chain_id=1) == []
