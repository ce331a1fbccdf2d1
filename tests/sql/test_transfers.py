"""Protects transfers: exact to the last of 256 bits, kept once, and holders that add up."""

from collections import Counter
from collections.abc import Sequence

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import StoreError
from core.primitives import ZERO_ADDRESS, Address
from sql.connection import MEMORY
from sql.query import Bounds, run_query
from sql.store import Store
from sql.tokens import set_transfers_from, track_tokens, tracked
from sql.transfer_tables import Holdings, holders_of, insert_transfers
from tests.examples import one_in
from tests.sql.samples import address, addresses, amounts
from tests.sql.stored import Transfer, transfers_of

TOKEN, OTHER = address(0xA), address(0xB)
EDGES = [0, 1, 2**64 - 1, 2**64, 2**128 - 1, 2**192, 2**255, 2**256 - 1]


def frame_of(rows: Sequence[Transfer]) -> pl.DataFrame:
    """As a decoder hands it over."""
    return pl.DataFrame(
        {
            "chain_id": [row.chain_id for row in rows],
            "block_number": [row.block_number for row in rows],
            "log_index": [row.log_index for row in rows],
            "token": [row.token for row in rows],
            "sender": [row.sender for row in rows],
            "recipient": [row.recipient for row in rows],
            "amount_raw": [f"0x{row.amount_raw:064x}" for row in rows],
        }
    )


def transfer(at: int, sender: Address, recipient: Address, amount: int) -> Transfer:
    """The transfer at place `at` of chain 1."""
    return Transfer(
        chain_id=1,
        block_number=at // 10,
        log_index=at % 10,
        token=TOKEN,
        sender=sender,
        recipient=recipient,
        amount_raw=amount,
    )


def add(store: Store, rows: Sequence[Transfer]) -> int:
    with store.transaction() as tx:
        track_tokens(tx, chain_id=1, addresses=[TOKEN, OTHER], because="pool", block_number=1)
        return insert_transfers(tx, frame_of(rows)) if rows else 0


moves = st.lists(
    st.tuples(addresses, addresses, amounts | st.sampled_from(EDGES)), min_size=1, max_size=20
)


@settings(max_examples=one_in(4))
@given(moves=moves)
def test_transfers_come_back_exactly(moves: list[tuple[Address, Address, int]]) -> None:
    store = Store.open(MEMORY)
    rows = [transfer(at, *move) for at, move in enumerate(moves)]
    add(store, rows)
    assert transfers_of(store, TOKEN) == rows
    store.close()


@pytest.mark.parametrize("amount", EDGES)
def test_the_number_beside_the_exact_amount_is_near(store: Store, amount: int) -> None:
    add(store, [transfer(1, address(1), address(2), amount)])
    found = run_query(store, "select amount_raw from v_transfers", Bounds()).rows
    assert found == [(pytest.approx(float(amount), rel=1e-15),)]


def test_a_transfer_that_comes_twice_is_kept_once(store: Store) -> None:
    rows = [transfer(at, address(at), address(at + 1), at) for at in range(30)]
    assert add(store, rows[:20]) == 20
    assert add(store, rows[10:] + rows[25:]) == 10
    assert transfers_of(store, TOKEN) == rows


def test_a_token_that_is_not_tracked_is_an_error_and_nothing_is_kept(store: Store) -> None:
    rows = [transfer(1, address(1), address(2), 5), transfer(2, address(1), address(2), 5)]
    stranger = frame_of(rows).with_columns(
        token=pl.when(pl.col("log_index") == 1).then(pl.col("token")).otherwise(pl.lit(address(9)))
    )
    with (
        pytest.raises(StoreError, match="1 of 2 transfers are of tokens that are not tracked"),
        store.transaction() as tx,
    ):
        track_tokens(tx, chain_id=1, addresses=[TOKEN], because="pool", block_number=1)
        insert_transfers(tx, stranger)
    assert tracked(store, chain_id=1) == []


@settings(max_examples=one_in(4))
@given(
    moves=st.lists(
        st.tuples(st.integers(0, 6), st.integers(0, 6), st.sampled_from(EDGES) | amounts),
        min_size=1,
        max_size=25,
    )
)
def test_holders_are_what_came_less_what_went(
    moves: list[tuple[int, int, int]],
) -> None:
    store = Store.open(MEMORY)
    rows = [
        transfer(at, address(sender), address(recipient), amount)
        for at, (sender, recipient, amount) in enumerate(moves)
    ]
    add(store, rows)
    held: Counter[Address] = Counter()
    for row in rows:
        held[row.sender] -= row.amount_raw
        held[row.recipient] += row.amount_raw
    found = {
        holding.owner: holding.amount_raw
        for holding in holders_of(store, chain_id=1, token=TOKEN, at_most=10).top
    }
    assert found == {owner: amount for owner, amount in held.items() if amount > 0}
    assert list(found.values()) == sorted(found.values(), reverse=True)
    store.close()


@settings(max_examples=one_in(4))
@given(
    moves=st.lists(
        st.tuples(st.integers(0, 4), st.integers(0, 4), st.sampled_from(EDGES) | amounts),
        max_size=15,
    )
)
def test_all_that_is_held_adds_up(moves: list[tuple[int, int, int]]) -> None:
    store = Store.open(MEMORY)
    rows = [
        transfer(at, address(sender), address(recipient), amount)
        for at, (sender, recipient, amount) in enumerate(moves)
    ]
    add(store, rows)
    held: Counter[Address] = Counter()
    for row in rows:
        held[row.sender] -= row.amount_raw
        held[row.recipient] += row.amount_raw
    del held[ZERO_ADDRESS]
    found = holders_of(store, chain_id=1, token=TOKEN, at_most=1)
    assert found.held_raw == sum(amount for amount in held.values() if amount > 0)
    assert found.is_overdrawn is any(amount < 0 for amount in held.values())
    store.close()


def test_made_up_amounts_hide_nobody(store: Store) -> None:
    """What a DOUBLE holds of a sum with 2**255 in it is nothing of what is left."""
    hidden, huge = address(0xBAD), 2**255
    moves = [(hidden, 10**18), *((address(at), at) for at in range(1, 9))]
    rows = [transfer(at, address(0), owner, amount) for at, (owner, amount) in enumerate(moves)]
    rows += [transfer(20, address(0), hidden, huge), transfer(21, hidden, address(0), huge)]
    add(store, rows)
    (first,) = holders_of(store, chain_id=1, token=TOKEN, at_most=1).top
    assert (first.owner, first.amount_raw) == (hidden, 10**18)


@pytest.mark.parametrize("less", [1, 2, 10**18])
def test_a_small_rest_of_large_amounts_is_held(store: Store, less: int) -> None:
    """The words of the difference have either sign, and a DOUBLE of them is 0."""
    came, went = 2**64, 2**64 - less
    rows = [transfer(0, address(0), address(1), came), transfer(1, address(1), address(0), went)]
    add(store, rows)
    found = holders_of(store, chain_id=1, token=TOKEN, at_most=5)
    assert [holding.amount_raw for holding in found.top] == [less]
    assert (found.held_raw, found.is_overdrawn) == (less, False)


def test_who_sent_one_more_than_came_is_overdrawn(store: Store) -> None:
    add(store, [transfer(0, address(1), address(2), 1), transfer(1, address(0), address(3), 5)])
    found = holders_of(store, chain_id=1, token=TOKEN, at_most=5)
    assert [holding.amount_raw for holding in found.top] == [5, 1]
    assert (found.held_raw, found.is_overdrawn) == (6, True)


def test_only_the_largest_holders_are_named(store: Store) -> None:
    add(store, [transfer(at, address(0), address(at), at) for at in range(1, 40)])
    holders = holders_of(store, chain_id=1, token=TOKEN, at_most=3).top
    assert [holder.amount_raw for holder in holders] == [39, 38, 37]
    assert holders_of(store, chain_id=1, token=OTHER, at_most=3) == Holdings()
    assert holders_of(store, chain_id=1, token=address(77), at_most=3) == Holdings()


def test_the_earliest_block_of_complete_transfers_stays(store: Store) -> None:
    for block_number in (50, 20, 30):
        with store.transaction() as tx:
            track_tokens(tx, chain_id=1, addresses=[TOKEN, OTHER], because="pool", block_number=1)
            set_transfers_from(tx, chain_id=1, addresses=[TOKEN], block_number=block_number)
    rows = {row.address: row.transfers_from_block for row in tracked(store, chain_id=1)}
    assert rows == {TOKEN: 20, OTHER: None}
