"""Protects the stores of earlier releases: all they hold is taken over, stopped wherever it is."""

import tempfile
from collections import Counter
from pathlib import Path

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import StoreError
from core.fields.static_findings import StaticFindings
from core.primitives import Address, RawAmount, Selector
from core.report import ClockLimitRow, EvidenceRow, HolderRow
from sql.balances import holders_of
from sql.blocks import list_blocks, read_checkpoint
from sql.creator_tables import read_creator
from sql.duckdb_import import import_store as module
from sql.duckdb_import.import_store import import_store
from sql.duckdb_import.old_file import is_old_store
from sql.history_tables import read_history
from sql.launch_tables import launches_of
from sql.pool_tables import coverage_of, pools_of
from sql.reports import read_refusal, read_report
from sql.rows import HistoryRow, RefusalRow
from sql.store import Store
from sql.tokens import tracked
from sql.trade_tables import newest_trades
from tests.examples import one_in
from tests.sql.old_stores import (
    CHAIN_ID,
    HELD_FROM,
    LAUNCHED,
    REQUESTED,
    TOKEN,
    OldTransfer,
    write_old_store,
)
from tests.sql.samples import address, amounts, hash32

owners = st.integers(0, 6).map(address)
moves = st.lists(st.tuples(st.integers(20, HELD_FROM + 1), owners, owners, amounts), max_size=15)


class StopError(Exception):
    """The process ends here."""


def old_transfers(found: list[tuple[int, Address, Address, RawAmount]]) -> list[OldTransfer]:
    return [
        OldTransfer(
            block_number=block_number,
            log_index=at,
            sender=sender,
            recipient=recipient,
            amount_raw=amount,
        )
        for at, (block_number, sender, recipient, amount) in enumerate(found)
    ]


def take_over(path: Path, store: Store, *, stop_after: int | None = None) -> None:
    """Import, ending after so many signs of progress."""
    seen = 0

    def show(table: str, done: int, total: int) -> None:
        nonlocal seen
        assert done <= total, table
        seen += 1
        if seen == stop_after:
            raise StopError

    import_store(path, store, show)


@settings(max_examples=one_in(4), deadline=None)
@given(moves=moves, stops=st.lists(st.integers(1, 12), max_size=4), chunk=st.integers(1, 8))
def test_transfers_arrive_once_and_in_the_balances(
    moves: list[tuple[int, Address, Address, RawAmount]], stops: list[int], chunk: int
) -> None:
    transfers = old_transfers(moves)
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_CHUNK", chunk)
        path = Path(folder) / "old.duckdb"
        write_old_store(path, transfers)
        store = Store.open(Path(folder) / "new")
        for stop in stops:
            try:
                take_over(path, store, stop_after=stop)
            except StopError:
                continue
        take_over(path, store)
        held: Counter[Address] = Counter()
        for one in transfers:
            held[one.recipient] += one.amount_raw
            held[one.sender] -= one.amount_raw
        found = holders_of(store, chain_id=CHAIN_ID, token=TOKEN, at_most=10)
        assert {one.owner: one.amount_raw for one in found.top} == {
            owner: amount for owner, amount in held.items() if amount > 0
        }
        with store.transaction() as tx:
            unfinal = tx.fetch_tuples(
                "transfers/list_final", chain_id=CHAIN_ID, final=10**9, at_most=100
            )
        places = [(one.block_number, one.log_index) for one in transfers]
        assert [row[:2] for row in unfinal] == sorted(
            place for place in places if place[0] > HELD_FROM
        )
        store.close()


def test_everything_else_is_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "old.duckdb"
    write_old_store(path, [])
    store = Store.open(tmp_path / "new")
    take_over(path, store)
    tokens = {row.address: row for row in tracked(store, chain_id=CHAIN_ID)}
    assert [(row.token_id, row.tracked_because) for row in tokens.values()] == [
        (3, "pool"),
        (7, "launch"),
        (9, "request"),
    ]
    assert tokens[TOKEN].transfers_from_block == 20
    assert tokens[REQUESTED].requested_at_block == 12
    (pool,) = pools_of(store, chain_id=CHAIN_ID, token=TOKEN)
    assert (pool.pool, pool.fee, pool.block_number, pool.log_index) == (address(0x50), 30, 10, 4)
    (launch,) = launches_of(store, chain_id=CHAIN_ID, token=LAUNCHED)
    assert (launch.slug, launch.tx_hash) == ("a-pad", hash32(11))
    creator = read_creator(store, chain_id=CHAIN_ID, token=TOKEN)
    assert creator is not None
    assert creator.creator == address(8)
    assert [row.number for row in list_blocks(store, chain_id=CHAIN_ID)] == [50, 51]
    follow = read_checkpoint(store, chain_id=CHAIN_ID, stream="follow")
    assert follow is not None
    assert (follow.number, follow.hash) == (51, hash32(51))
    assert [(row.subject, row.to_block) for row in coverage_of(store, chain_id=CHAIN_ID)] == [
        ("transfers", 51)
    ]
    assert read_history(store, token_id=3) == HistoryRow(is_whole=True, requests=2, logs=5)
    assert read_refusal(store, chain_id=CHAIN_ID, address=REQUESTED) == RefusalRow(
        code="not_a_token", reason="no decimals", refused_at_s=1000
    )
    (trade,) = newest_trades(
        store, chain_id=CHAIN_ID, token=TOKEN, pool_keys=[pool.pool_key], from_block=0, at_most=5
    )
    assert (trade.base, trade.other, trade.time_s) == (5.0, 7.0, 1_700_000_030)
    store.close()


def test_reports_come_from_their_tables(tmp_path: Path) -> None:
    path = tmp_path / "old.duckdb"
    write_old_store(path, [])
    store = Store.open(tmp_path / "new")
    take_over(path, store)
    report = read_report(store, chain_id=CHAIN_ID, address=TOKEN)
    assert report is not None
    assert report.token.supply_raw == 2**255
    assert report.token.privileged_spenders == (address(6),)
    assert report.static == StaticFindings(
        mint_or_burn_function=True,
        is_proxy=False,
        timebomb=True,
        position_cap_can_be_modified="pending",
        balance_update_function=(Selector("0xa9059cbb"), Selector("0x23b872dd")),
        allowance_update_function=(),
    )
    assert report.pools is not None
    (pool,) = report.pools
    assert (pool.liquidity_usd, pool.buy, pool.sell, pool.token_usd) == (
        12.5,
        "passed",
        "refused",
        0.25,
    )
    assert report.holders == (
        HolderRow(role="top", ordinal=0, owner=address(5), amount_raw=RawAmount(77)),
    )
    assert report.clock_limits == (
        ClockLimitRow(source="storage", slot=hash32(1), value=2**200, compared_with="block"),
    )
    assert report.evidence == (EvidenceRow(key="key", body="{}"),)
    store.close()


def test_files_that_are_no_old_store(tmp_path: Path) -> None:
    assert not is_old_store(tmp_path / "absent")
    text = tmp_path / "notes.txt"
    text.write_text("not a database")
    assert not is_old_store(text)
    theirs = tmp_path / "theirs.duckdb"
    with duckdb.connect(str(theirs)) as file:
        file.execute("create table theirs (a int)")
    assert is_old_store(theirs)
    store = Store.open(tmp_path / "new")
    with pytest.raises(StoreError, match="not one of ours"):
        take_over(theirs, store)
    store.close()
