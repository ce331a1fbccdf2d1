"""Protects transfers: exact to the last of 256 bits, kept once, and holders that add up."""

from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from core.errors import StoreError
from core.evm.primitives import Address, RawAmount
from sql.chain.balances import Holdings, read_holders
from sql.chain.transfer_tables import insert_transfers
from sql.engine.columns import blob
from sql.engine.store import MEMORY, Store
from sql.engine.table_rows import TransferRow
from sql.tokens.tokens import complete_transfers, list_tracked, set_transfers_from, track_tokens
from tests.harness.examples import one_in
from tests.harness.store.sample_rows import address, addresses, amounts
from tests.harness.store.store_contents import Transfer, transfers_of

TOKEN, OTHER = address(0xA), address(0xB)
EDGES = [0, 1, 2**64 - 1, 2**64, 2**128 - 1, 2**192, 2**255, 2**256 - 1]


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
        known = track_tokens(tx, chain_id=1, seen={TOKEN: 1, OTHER: 1}, because="pool")
        number = {token.address: token.token_id for token in known}
        return insert_transfers(
            tx,
            [
                TransferRow(
                    block_number=row.block_number,
                    log_index=row.log_index,
                    token_id=number[row.token],
                    sender=blob(row.sender),
                    recipient=blob(row.recipient),
                    amount_raw=RawAmount(row.amount_raw),
                )
                for row in rows
            ],
            chain_id=1,
        )


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


def test_a_transfer_that_comes_twice_is_kept_once(store: Store) -> None:
    rows = [transfer(at, address(at), address(at + 1), at) for at in range(30)]
    assert add(store, rows[:20]) == 20
    assert add(store, rows[10:] + rows[25:]) == 10
    assert add(store, []) == 0
    assert transfers_of(store, TOKEN) == rows


def test_the_same_place_of_another_chain_is_another_transfer(store: Store) -> None:
    row = TransferRow(
        block_number=1,
        log_index=1,
        token_id=1,
        sender=blob(address(1)),
        recipient=blob(address(2)),
        amount_raw=RawAmount(5),
    )
    with store.transaction() as tx:
        for chain_id in (1, 56):
            (token,) = track_tokens(tx, chain_id=chain_id, seen={TOKEN: 1}, because="pool")
            own = structs.replace(row, token_id=token.token_id)
            assert insert_transfers(tx, [own], chain_id=chain_id) == 1
    assert [row.chain_id for row in transfers_of(store, TOKEN)] == [1, 56]


def test_a_number_that_no_column_holds_is_an_error_and_nothing_is_kept(store: Store) -> None:
    rows = [transfer(1, address(1), address(2), 5), transfer(2, address(1), address(2), 5)]
    broken = structs.replace(rows[1], block_number=2**63)
    with pytest.raises(StoreError):
        add(store, [rows[0], broken])
    assert list_tracked(store, chain_id=1) == []
    assert transfers_of(store, TOKEN) == []


def test_made_up_amounts_hide_nobody(store: Store) -> None:
    """A float's part of a sum with 2**255 in it has nothing of the remainder."""
    hidden, huge = address(0xBAD), 2**255
    moves = [(hidden, 10**18), *((address(at), at) for at in range(1, 9))]
    rows = [transfer(at, address(0), owner, amount) for at, (owner, amount) in enumerate(moves)]
    rows += [transfer(20, address(0), hidden, huge), transfer(21, hidden, address(0), huge)]
    add(store, rows)
    (first,) = read_holders(store, chain_id=1, token=TOKEN, at_most=1).top
    assert (first.owner, first.amount_raw) == (hidden, 10**18)


def test_who_sent_one_more_than_came_is_overdrawn(store: Store) -> None:
    add(store, [transfer(0, address(1), address(2), 1), transfer(1, address(0), address(3), 5)])
    found = read_holders(store, chain_id=1, token=TOKEN, at_most=5)
    assert [holding.amount_raw for holding in found.top] == [5, 1]
    assert (found.held_raw, found.is_overdrawn) == (6, True)


def test_only_the_largest_holders_are_named(store: Store) -> None:
    add(store, [transfer(at, address(0), address(at), at) for at in range(1, 40)])
    holders = read_holders(store, chain_id=1, token=TOKEN, at_most=3).top
    assert [holder.amount_raw for holder in holders] == [39, 38, 37]
    assert read_holders(store, chain_id=1, token=TOKEN, at_most=0).top == ()
    assert read_holders(store, chain_id=1, token=OTHER, at_most=3) == Holdings()
    assert read_holders(store, chain_id=1, token=address(77), at_most=3) == Holdings()


def test_owners_of_equal_balances_come_in_order(store: Store) -> None:
    owners = [address(at) for at in (7, 3, 9, 5)]
    add(store, [transfer(at, address(0), owner, 4) for at, owner in enumerate(owners)])
    top = read_holders(store, chain_id=1, token=TOKEN, at_most=3).top
    assert Counter(holder.amount_raw for holder in top) == {4: 3}
    assert [holder.owner for holder in top] == [address(3), address(5), address(7)]


def test_the_earliest_block_of_complete_transfers_stays(store: Store) -> None:
    with store.transaction() as tx:
        number = track_tokens(tx, chain_id=1, seen={TOKEN: 1, OTHER: 1}, because="pool")[0].token_id
        for block_number in (50, 20, 30):
            set_transfers_from(tx, token_id=number, block_number=block_number)
    rows = {row.address: row.transfers_from_block for row in list_tracked(store, chain_id=1)}
    assert rows == {TOKEN: 20, OTHER: None}


def test_following_completes_the_tokens_it_meets_for_the_first_time(store: Store) -> None:
    with store.transaction() as tx:
        for token, first in ((TOKEN, 10), (OTHER, 70)):
            track_tokens(tx, chain_id=1, seen={token: first}, because="pool")
        complete_transfers(tx, chain_id=1, first=50)
        track_tokens(tx, chain_id=1, seen={TOKEN: 5}, because="pool")
        complete_transfers(tx, chain_id=1, first=90)
        complete_transfers(tx, chain_id=56, first=1)
    rows = {row.address: row.transfers_from_block for row in list_tracked(store, chain_id=1)}
    assert rows == {TOKEN: 50, OTHER: 70}
