"""Protects the sums of real trades: those of a plain count, in any order of days and steps."""

from collections import defaultdict
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.evm.primitives import BlockRef
from core.report.track_record import DAY_S, IndexedRecord
from sql.chain import trade_records
from sql.chain.blocks import insert_blocks
from sql.chain.finalization import finalize_rows
from sql.chain.trade_records import (
    count_spread,
    delete_old_real_trades,
    finalize_real_trades,
    insert_real_trades,
    read_sums,
)
from sql.engine.store import Store
from sql.engine.table_rows import BlockRow, RealTradeRow
from sql.reports.indexed_record import read_indexed_record
from sql.tokens.tokens import track_tokens
from sql.unwind import unwind_from
from tests.harness.store.empty_files import NewStore
from tests.harness.store.sample_rows import address, hash32
from tests.harness.store.store_contents import read_rows
from tests.harness.store.traded_history import seller, write_history

TOKEN = address(0xA)
NOON_S = 20_000 * DAY_S + DAY_S // 2


def row(
    block_number: int, trader: int | None, *, day: int = 0, is_sale: bool = True, token_id: int = 1
) -> RealTradeRow:
    return RealTradeRow(
        block_number=block_number,
        log_index=0,
        token_id=token_id,
        is_sale=is_sale,
        trader=None if trader is None else seller(trader),
        time_s=NOON_S + day * DAY_S,
    )


def tracked(store: Store) -> int:
    with store.transaction(chain_id=1) as tx:
        (token,) = track_tokens(tx, chain_id=1, seen={TOKEN: 0}, because="pool")
    return token.token_id


def put(store: Store, rows: Sequence[RealTradeRow]) -> int:
    with store.transaction(chain_id=1) as tx:
        return insert_real_trades(tx, rows, chain_id=1)


def record_of(store: Store, *, block: BlockRef | None) -> IndexedRecord:
    with store.snapshot() as reader:
        found = read_indexed_record(reader, chain_id=1, token=TOKEN, block=block, per_day=20)
    assert found is not None
    return found


def finalize(store: Store, *, final: int, at_most: int = 3) -> None:
    with store.transaction(chain_id=1) as tx:
        while finalize_real_trades(tx, chain_id=1, final=final, at_most=at_most):
            pass


# --- a plain count ----------------------------------------------------------------------------

trades = st.lists(
    st.tuples(
        st.integers(0, 1),  # day
        st.sampled_from((0, 1, 2, 3, 4, 5, None)),  # trader
        st.sampled_from((True, True, True, False)),  # sale
        st.sampled_from((1, 1, 1, 2)),  # token
    ),
    min_size=12,
    max_size=30,
)
Trade = tuple[int, int | None, bool, int]


def greedy(
    rows: Sequence[Trade], *, token: int, is_sale: bool, per_day: int, most: int
) -> list[int]:
    """The number of traders that each day counts, one trade after another."""
    counted: set[int] = set()
    of_day: dict[int, int] = defaultdict(int)
    for day, trader, sells, of_token in rows:
        if of_token != token or sells != is_sale or trader is None or trader in counted:
            continue
        if of_day[day] < per_day and len(counted) < most:
            counted.add(trader)
            of_day[day] += 1
    return [of_day[day] for day in range(2)]


@pytest.fixture(autouse=True)
def _small_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trade_records, "MOST_PER_DAY", 2)
    monkeypatch.setattr(trade_records, "MOST_COUNTED", 3)


@given(
    st.lists(st.tuples(trades, st.integers(1, 4)), min_size=1, max_size=3),
    st.integers(1, 3),
)
def test_sums_are_those_of_a_plain_count(
    temporary_store: NewStore, rounds: list[tuple[list[Trade], int]], per_day: int
) -> None:
    """Each round is a back-fill or a stretch of following, in its own order of days and steps."""
    with temporary_store() as store:
        done: list[Trade] = []
        for rows, at_most in rounds:
            first = len(done) + 1
            put(
                store,
                [
                    row(first + at, trader, day=day, is_sale=sells, token_id=token)
                    for at, (day, trader, sells, token) in enumerate(rows)
                ],
            )
            done += rows
            finalize(store, final=len(done), at_most=at_most)
        for token in (1, 2):
            own = [one for one in done if one[3] == token]
            sums = read_sums(store, token_id=token)
            if not own:
                assert sums is None
                continue
            assert sums is not None
            sides = [
                greedy(done, token=token, is_sale=is_sale, per_day=2, most=3)
                for is_sale in (True, False)
            ]
            assert [sums.sellers, sums.buyers] == [sum(side) for side in sides]
            assert (sums.sales, sums.buys) == (
                sum(one[2] for one in own),
                sum(not one[2] for one in own),
            )
            assert sums.first_time_s == NOON_S + min(one[0] for one in own) * DAY_S
            assert sums.first_block == 1 + next(
                at for at, one in enumerate(done) if one[3] == token
            )
            spread = sum(min(count, per_day) for count in sides[0])
            assert count_spread(store, token_id=token, per_day=per_day) == spread
            # Bounded: no more traders are kept than are counted.
            kept = read_rows(store, "select count(*) from trade_party where token_id = ?", token)
            assert int(str(kept[0][0])) <= sums.sellers + sums.buyers
        assert not read_rows(store, "select 1 from real_trade")


# --- wash sellers -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sellers", "per_day", "spread"),
    [(1_000, 1_000, 20), (1_000, 500, 40), (1_000, 21, 953), (1_000, 20, 1_000), (999, 20, 999)],
    ids=["in a day", "in two", "a few too many a day", "in fifty days", "one short"],
)
def test_a_crowd_of_one_day_counts_little(
    store: Store, monkeypatch: pytest.MonkeyPatch, sellers: int, per_day: int, spread: int
) -> None:
    monkeypatch.setattr(trade_records, "MOST_PER_DAY", 50)
    monkeypatch.setattr(trade_records, "MOST_COUNTED", 2_500)
    write_history(store, chain_id=1, token=TOKEN, until_s=NOON_S, sellers=sellers, per_day=per_day)
    found = record_of(store, block=None)
    assert (found.spread_sellers, found.whole.sales) == (spread, sellers)


def test_who_sells_every_day_is_one_seller(store: Store) -> None:
    tracked(store)
    put(store, [row(day + 1, 7, day=day) for day in range(30)])
    finalize(store, final=100)
    assert count_spread(store, token_id=1, per_day=20) == 1


# --- the last day, and reorgs -----------------------------------------------------------------


def block_at(number: int, time_s: int) -> BlockRef:
    return BlockRef(
        number=number, hash=hash32(number), parent_hash=hash32(number - 1), time_s=time_s
    )


def put_block(store: Store, number: int, *, time_s: int) -> None:
    block = block_at(number, time_s)
    with store.transaction(chain_id=1) as tx:
        insert_blocks(
            tx,
            [
                BlockRow(
                    chain_id=1,
                    number=block.number,
                    hash=block.hash,
                    parent_hash=block.parent_hash,
                    time_s=time_s,
                )
            ],
        )


def test_the_last_day_is_of_final_trades_and_others(store: Store) -> None:
    tracked(store)
    put_block(store, 20, time_s=NOON_S)
    put(store, [row(1, 1, day=-2), row(2, 1, day=-1), row(3, 2), row(4, 2), row(5, None)])
    finalize(store, final=4)
    put(store, [row(6, 3, is_sale=False), row(9, 4)])
    last = record_of(store, block=block_at(8, NOON_S)).last_day
    assert (last.sellers, last.sales, last.buyers) == (1, 3, 1)  # a day ago to the second is over
    later = record_of(store, block=block_at(9, NOON_S + DAY_S)).last_day
    assert (later.sellers, later.sales, later.buyers) == (0, 0, 0)
    assert record_of(store, block=None).last_day.sales is None


def test_a_reorg_takes_sales_back(store: Store) -> None:
    tracked(store)
    put(store, [row(1, 1), row(2, 2)])
    finalize_rows(store, chain_id=1, final=1)
    assert record_of(store, block=block_at(2, NOON_S)).last_day.sales == 2
    with store.transaction(chain_id=1) as tx:
        unwind_from(tx, chain_id=1, number=2)
    found = record_of(store, block=block_at(2, NOON_S))
    assert (found.last_day.sales, found.whole.sales, found.whole.sellers) == (1, 1, 1)
    assert put(store, [row(2, 3)]) == 1
    assert record_of(store, block=block_at(2, NOON_S)).last_day.sellers == 2


def test_a_trade_is_counted_once(store: Store) -> None:
    tracked(store)
    assert put(store, [row(1, 1)]) == 1
    assert put(store, [row(1, 1)]) == 0
    finalize(store, final=1)
    assert record_of(store, block=None).whole.sales == 1


def test_trades_of_earlier_days_are_not_kept_one_by_one(store: Store) -> None:
    tracked(store)
    put_block(store, 50, time_s=NOON_S)
    put(store, [row(1, 1, day=-1), row(2, 2)])
    finalize(store, final=2)
    assert read_rows(store, "select block_number from last_trade") == [(2,)]
    put_block(store, 51, time_s=NOON_S + 2 * DAY_S + 1)
    delete_old_real_trades(store, chain_id=1)
    assert not read_rows(store, "select 1 from last_trade")
    assert record_of(store, block=None).whole.sales == 2


def test_a_token_that_is_not_tracked_has_no_record(store: Store) -> None:
    with store.snapshot() as reader:
        found = read_indexed_record(reader, chain_id=1, token=TOKEN, block=None, per_day=20)
    assert found is None
    tracked(store)
    unknown = record_of(store, block=None)
    assert (unknown.spread_sellers, unknown.whole.sales, unknown.first_trade_block) == (None,) * 3
