"""Protects the events that show liquidity holders.

They are stored of young pools alone, removed by a reorg, kept as long as they are read, and
returned only where none can be missing.
"""

from collections.abc import Sequence
from typing import Final

import msgspec
import pytest

from analysis.liquidity.withdrawal_risk import YOUNG_S
from config.facts.chain import Anchor, Chain, Dex, Oracle
from core.evm.primitives import Address, BlockRef, HexBytes
from indexer.ingest import extend_all
from sql.chain import liquidity_events
from sql.chain.blocks import insert_blocks
from sql.chain.liquidity_events import (
    KEPT_S,
    StoredEvents,
    delete_old_liquidity,
    insert_liquidity,
    read_pool_events,
)
from sql.chain.pool_tables import insert_pools
from sql.engine import small_steps
from sql.engine.database import Transaction
from sql.engine.store import Store
from sql.engine.table_rows import LiquidityLogRow
from sql.unwind import unwind_from
from tests.harness.store.sample_rows import address, block, pool
from tests.harness.store.store_contents import Cells, read_rows

CHAIN: Final = Chain(
    id=1,
    slug="ethereum",
    display_name="One on which a block is a day",
    block_time_s=86_400,
    clock="own",
    native_symbol="ETH",
    finality_blocks=12,
    start_block=0,
    wrapped_native=Anchor(address=address(2), symbol="WETH", decimals=18),
    stables=(
        Anchor(address=address(3), symbol="USDA", decimals=6),
        Anchor(address=address(4), symbol="USDB", decimals=18),
    ),
    oracle=Oracle(native_usd=address(5), decimals=8, heartbeat_s=3600),
    dexes=(Dex(name="uniswap_v2", kind="AmmV2", factory=address(1)),),
    launchpads=(),
)
KEPT: Final = 32
POOL: Final = address(0x500)
KEY: Final = HexBytes(POOL)


def log(
    number: int,
    at: int = 500,
    *,
    emitter: Address = POOL,
    kinds: tuple[str, ...] = ("AmmV2", "Solid"),
    data: bytes = b"\x01" * 32,
) -> LiquidityLogRow:
    """An event of the pool, by its later place in the block."""
    return LiquidityLogRow(
        block_number=number,
        log_index=at,
        emitter=emitter,
        pool_key=KEY,
        kinds=kinds,
        topics=bytes(range(96)),
        data=data,
    )


def take_in(
    store: Store,
    blocks: Sequence[int],
    *,
    pools_at: Sequence[int] = (),
    logs: Sequence[LiquidityLogRow] = (),
    branch: int = 0,
    chain: Chain = CHAIN,
) -> None:
    """Follow some blocks, in each of which there may be a new pool or events."""
    for number in blocks:
        with store.transaction() as tx:
            insert_pools(
                tx, [pool(0x500, address(9), block_number=at) for at in pools_at if at == number]
            )
            own = [one for one in logs if one.block_number == number]
            insert_liquidity(tx, own, chain=chain, first=number)
            cover(tx, number, chain)
            insert_blocks(tx, [block(number, branch=branch)])


def cover(tx: Transaction, number: int, chain: Chain) -> None:
    subjects = [chain.liquidity_subject]
    extend_all(tx, chain_id=1, subjects=subjects, first=number, last=number)


def places(store: Store) -> list[Cells]:
    return read_rows(
        store, "select block_number, log_index from liquidity_event order by block_number"
    )


def ask(store: Store, pin: BlockRef | int, *, chain: Chain = CHAIN) -> StoredEvents | None:
    """Return the stored events of the pool at a block of the followed branch."""
    at = block(pin).ref if isinstance(pin, int) else pin
    with store.snapshot() as reader:
        return read_pool_events(reader, chain=chain, pool_keys=[KEY], pin=at).get(KEY)


def events_known(store: Store, pin: BlockRef | int) -> tuple[int, list[int]] | None:
    """The last block of which all events are known, and the blocks of the events."""
    found = ask(store, pin)
    if found is None:
        return None
    return found.to_block, [event.block_number for event in found.events]


def test_it_is_kept_longer_than_a_pool_is_young() -> None:
    assert KEPT_S > YOUNG_S
    assert liquidity_events.kept_blocks(CHAIN) == KEPT


def test_events_are_stored_as_they_are(store: Store) -> None:
    """Those of the block in which the pool is announced, too, before it and behind."""
    logs = [log(7, 1), log(7, 900, data=b""), log(8, data=bytes(200))]
    take_in(store, range(5, 10), pools_at=[7], logs=logs)
    found = ask(store, 9)
    assert found is not None
    assert [(one.block_number, one.data) for one in found.events] == [
        *((7, b"\x01" * 32), (7, b""), (8, bytes(200))),
    ]
    assert {(one.emitter, one.topics) for one in found.events} == {(POOL, bytes(range(96)))}


def test_once_is_enough(store: Store) -> None:
    take_in(store, range(5, 8), pools_at=[5], logs=[log(6)])
    with store.transaction() as tx:
        assert insert_liquidity(tx, [log(6), log(7)], chain=CHAIN, first=6) == 1
    assert places(store) == [(6, 500), (7, 500)]


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(log(6, emitter=address(0x501)), id="another emitter"),
        pytest.param(log(6, kinds=("AmmV3",)), id="another kind"),
        pytest.param(
            msgspec.structs.replace(log(6), pool_key=HexBytes(address(0x501))), id="no pool"
        ),
    ],
)
def test_events_of_others_are_not_stored(store: Store, other: LiquidityLogRow) -> None:
    take_in(store, range(5, 8), pools_at=[5], logs=[other])
    assert places(store) == []


def test_events_before_the_pool_are_none_of_it(store: Store) -> None:
    take_in(store, range(5, 8), pools_at=[6], logs=[log(5)])
    with store.transaction() as tx:
        assert insert_liquidity(tx, [log(5)], chain=CHAIN, first=8) == 0


def test_a_pool_has_its_events_stored_while_it_is_young(store: Store) -> None:
    logs = [log(5 + KEPT), log(5 + KEPT + 1)]
    take_in(store, range(5, 7 + KEPT), pools_at=[5], logs=logs)
    assert places(store) == [(5 + KEPT, 500)]


def test_a_pool_is_told_of_while_it_is_young(store: Store) -> None:
    take_in(store, range(5, 6 + KEPT), pools_at=[5], logs=[log(6)])
    assert events_known(store, 5 + KEPT) == (5 + KEPT, [6])
    take_in(store, [6 + KEPT])
    assert events_known(store, 6 + KEPT) is None


def test_a_pool_that_was_there_before_is_neither_stored_nor_told_of(store: Store) -> None:
    """No process read its first events: a back-fill brought it."""
    with store.transaction() as tx:
        insert_pools(tx, [pool(0x500, address(9), block_number=4)])
    take_in(store, range(5, 10), logs=[log(6)])
    assert places(store) == []
    assert events_known(store, 9) is None


def test_a_pool_of_an_exchange_that_is_new_here_is_not_told_of(store: Store) -> None:
    """While the exchange was not configured, no process read its pools."""
    further = Dex(name="more", kind="Solid", factory=address(77))
    wider = msgspec.structs.replace(CHAIN, dexes=(*CHAIN.dexes, further))
    take_in(store, range(5, 8), pools_at=[6])
    take_in(store, range(8, 12), logs=[log(9)], chain=wider)
    assert places(store) == []
    assert ask(store, 11, chain=wider) is None


def test_a_gap_is_not_bridged(store: Store) -> None:
    take_in(store, range(5, 8), pools_at=[6])
    take_in(store, range(9, 12), logs=[log(10)])
    assert places(store) == []
    assert events_known(store, 11) is None


def test_nothing_is_told_where_nothing_was_followed(store: Store) -> None:
    with store.transaction() as tx:
        insert_pools(tx, [pool(0x500, address(9), block_number=5)])
    assert events_known(store, 5) is None


def test_up_to_a_block_that_is_held_all_is_told(store: Store) -> None:
    take_in(store, range(5, 21), pools_at=[5], logs=[log(number) for number in range(5, 21)])
    assert events_known(store, 20) == (20, list(range(5, 21)))
    assert events_known(store, 12) == (12, list(range(5, 13)))


def test_of_another_branch_the_newest_blocks_are_not_believed(store: Store) -> None:
    take_in(store, range(5, 21), pools_at=[5], logs=[log(number) for number in range(5, 21)])
    for number in (20, 21, 25):
        assert events_known(store, block(number, branch=9_000).ref) == (16, list(range(5, 17))), (
            number
        )
    assert events_known(store, block(9, branch=9_000).ref) == (9, list(range(5, 10)))


def test_a_held_block_above_what_is_covered_tells_no_more(store: Store) -> None:
    """An earlier release's back-fills have left such blocks."""
    take_in(store, range(5, 10), pools_at=[5])
    with store.transaction() as tx:
        insert_blocks(tx, [block(12)])
    assert events_known(store, 12) == (9, [])


def test_a_pool_made_above_what_is_believed_is_not_told_of(store: Store) -> None:
    take_in(store, range(5, 21), pools_at=[18], logs=[log(18)])
    assert events_known(store, block(20, branch=9_000).ref) is None
    assert events_known(store, 20) == (20, [18])


def test_a_reorg_takes_events_back_and_the_other_branchs_are_stored(store: Store) -> None:
    take_in(store, range(5, 12), pools_at=[6], logs=[log(7), log(9), log(10)])
    with store.transaction() as tx:
        unwind_from(tx, chain_id=1, number=9)
    assert places(store) == [(7, 500)]
    assert events_known(store, 8) == (8, [7])
    take_in(store, range(9, 13), logs=[log(11)], branch=9_000)
    assert events_known(store, block(12, branch=9_000).ref) == (12, [7, 11])


def test_a_reorg_that_takes_the_pool_takes_its_events(store: Store) -> None:
    take_in(store, range(5, 12), pools_at=[6], logs=[log(7), log(9)])
    with store.transaction() as tx:
        unwind_from(tx, chain_id=1, number=6)
    assert places(store) == []
    take_in(store, range(6, 10), pools_at=[8], logs=[log(9)], branch=9_000)
    assert events_known(store, block(9, branch=9_000).ref) == (9, [9])


@pytest.mark.parametrize("at_once", [1, 1_000])
def test_what_is_read_still_is_not_deleted(
    store: Store, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    monkeypatch.setattr(small_steps, "DELETED_AT_ONCE", at_once)
    last = 45
    take_in(store, range(5, last + 1), pools_at=[5], logs=[log(number) for number in range(5, 16)])
    delete_old_liquidity(store, chain=CHAIN, final=last)
    assert [row[0] for row in places(store)] == list(range(last - KEPT - 1, 16))
    delete_old_liquidity(store, chain=CHAIN, final=last)
    assert places(store)[0][0] == last - KEPT - 1
    delete_old_liquidity(store, chain=CHAIN, final=last + KEPT)
    assert places(store) == []


def test_a_subject_of_the_past_tells_nothing_that_may_be_deleted(store: Store) -> None:
    """Other exchanges were configured since, and are requested again."""
    take_in(store, range(5, 12), pools_at=[6], logs=[log(7)])
    wider = msgspec.structs.replace(CHAIN, dexes=())
    take_in(store, range(12, 50), chain=wider)
    delete_old_liquidity(store, chain=wider, final=7 + KEPT + 2)
    assert places(store) == []
    assert events_known(store, 49) is None


@pytest.mark.parametrize(("most_events", "most_bytes"), [(3, 10**6), (10**6, 3 * (96 + 32))])
def test_what_would_be_too_long_an_answer_is_left_out(
    store: Store, monkeypatch: pytest.MonkeyPatch, most_events: int, most_bytes: int
) -> None:
    """The node is queried then, whatever it returns for that many."""
    monkeypatch.setattr(liquidity_events, "_MOST_EVENTS", most_events)
    monkeypatch.setattr(liquidity_events, "_MOST_BYTES", most_bytes)
    take_in(store, range(5, 9), pools_at=[5], logs=[log(6), log(7), log(8)])
    assert events_known(store, 8) == (8, [6, 7, 8])
    take_in(store, [9], logs=[log(9)])
    assert events_known(store, 9) is None
