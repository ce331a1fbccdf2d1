"""Protects back-filled rows: each is in the lake once, and is added to the balances once."""

from collections import Counter, defaultdict
from contextlib import closing
from pathlib import Path

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.errors import StoreError
from sql.chain.balances import BalanceWriter
from sql.engine.exact_numbers import from_blob
from sql.engine.store import Store
from sql.engine.store_files import StoreFiles
from sql.lake.bulk_append import BulkRange, append_transfers, list_bulks
from sql.lake.compaction import BalanceDelta, fold_bulks, iterate_deltas
from sql.lake.final_batches import FinalBatches
from sql.lake.lake_file import Lake
from sql.lake.mover import close_batch, move_closed
from tests.harness.lake.bulk_frames import tokens, transfers_of
from tests.harness.lake.crashes import crash_before
from tests.harness.lake.serving_files import (
    Event,
    Onlooker,
    Serving,
    event_lists,
    forget,
    many_events,
    new_serving,
    token_address,
    write_batch,
    write_hot,
)

ALL = BulkRange(chain_id=1, stream="back-fill", from_block=0, to_block=50)


def fill(lake: Lake, batches: FinalBatches, events: list[Event], bulk: BulkRange = ALL) -> int:
    """Append and return the number of the range."""
    note = append_transfers(
        lake, bulk, transfers=transfers_of(events), tokens=tokens(), stored=batches
    )
    return note.batch


def key_of(event: Event) -> tuple[int, int]:
    return event.block_number, event.log_index


@settings(max_examples=8)
@given(data=event_lists, cuts=st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(0, 9)))
def test_what_is_stored_anywhere_is_left_out(
    onlooker: Onlooker,
    serving: Serving,
    lake: Lake,
    batches: FinalBatches,
    data: list[Event],
    cuts: tuple[int, int, int],
) -> None:
    """Some rows are in the lake, some wait for it, some are not final, and the rest is new."""
    forget(serving, lake)
    first, second, third = sorted(cuts)
    write_batch(serving, data[:first])
    close_batch(batches, lake, 1, now_s=5, is_forced=True)
    move_closed(batches, lake, now_s=5)
    write_batch(serving, data[first:second])
    write_hot(serving, data[second:third])
    for _ in range(2):
        fill(lake, batches, data)
        assert onlooker.look() == Counter(data)
    first_note, second_note = list_bulks(lake)[-2:]
    assert first_note.rows == len(data[third:])
    assert second_note.rows == 0
    assert second_note.batch == first_note.batch + 1


@settings(max_examples=6)
@given(data=event_lists, statement=st.integers(0, 8))
def test_a_crash_leaves_rows_and_note_or_neither(
    onlooker: Onlooker,
    serving: Serving,
    lake: Lake,
    batches: FinalBatches,
    data: list[Event],
    statement: int,
) -> None:
    forget(serving, lake)
    before = len(list_bulks(lake))
    with crash_before(statement):
        fill(lake, batches, data)
    is_noted = len(list_bulks(lake)) > before
    assert onlooker.look() == (Counter(data) if is_noted else Counter())
    fill(lake, batches, data)
    assert onlooker.look() == Counter(data)


@settings(max_examples=8)
@given(data=event_lists)
def test_changes_of_balances_are_exact_and_in_order(
    serving: Serving, lake: Lake, batches: FinalBatches, data: list[Event]
) -> None:
    forget(serving, lake)
    other = [event for event in many_events(40) if key_of(event) not in set(map(key_of, data))]
    fill(lake, batches, other)
    batch = fill(lake, batches, data)
    expected: dict[bytes, int] = defaultdict(int)
    for event in data:
        token = event.token_id.to_bytes(4)
        expected[token + event.recipient.to_bytes(20)] += event.amount
        expected[token + event.sender.to_bytes(20)] -= event.amount
    found = [delta for some in iterate_deltas(lake, batch) for delta in some]
    in_order = [BalanceDelta(key=key, amount_raw=expected[key]) for key in sorted(expected)]
    assert found == in_order
    for at in range(0, len(in_order), max(1, len(in_order) // 2)):
        after = in_order[at].key
        rest = [delta for some in iterate_deltas(lake, batch, after=after) for delta in some]
        assert rest == in_order[at + 1 :]


def test_others_use_the_lake_between_two_pieces(
    serving: Serving, lake: Lake, batches: FinalBatches, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sql.lake.compaction.DELTAS_AT_ONCE", 3)
    forget(serving, lake)
    batch = fill(lake, batches, many_events(40))
    pieces = iterate_deltas(lake, batch)
    assert len(next(pieces)) == 3
    fill(lake, batches, many_events(40, from_block=10))
    rest = sum(map(len, pieces))
    assert rest + 3 == len([delta for some in iterate_deltas(lake, batch) for delta in some])


def test_rows_that_do_not_belong_are_refused(
    serving: Serving, lake: Lake, batches: FinalBatches
) -> None:
    forget(serving, lake)
    before = list_bulks(lake)
    late = many_events(1, from_block=51)
    with pytest.raises(StoreError, match="transfers of blocks 51 to 51 are not of"):
        fill(lake, batches, late)
    untold = transfers_of(many_events(10))
    with pytest.raises(StoreError, match="NOT NULL"):
        append_transfers(lake, ALL, transfers=untold, tokens=tokens(2), stored=batches)
    assert list_bulks(lake) == before


def test_a_chains_rows_are_no_others(serving: Serving, lake: Lake, batches: FinalBatches) -> None:
    forget(serving, lake)
    write_hot(serving, many_events(20))
    other = BulkRange(chain_id=2, stream="back-fill", from_block=0, to_block=50)
    fill(lake, batches, many_events(20), other)
    assert list_bulks(lake)[-1].rows == 20


@pytest.mark.parametrize("is_partly_there", [False, True])
def test_files_keep_the_order_of_the_rows(fresh: StoreFiles, is_partly_there: bool) -> None:
    """Readers find one token's rows in one place. More rows than DuckDB hands on at once."""
    events = sorted(many_events(5_000), key=_place)
    transfers = transfers_of(events)
    bulk = BulkRange(chain_id=1, stream="back-fill", from_block=0, to_block=500)
    with closing(Lake.open(fresh, preserve_order=True)) as lake:
        if is_partly_there:
            few = transfers_of(events[::50])
            append_transfers(lake, bulk, transfers=few, tokens=tokens(), stored=None)
        before = set(lake.files.lake_data.rglob("*.parquet"))
        append_transfers(lake, bulk, transfers=transfers, tokens=tokens(), stored=None)
        (file,) = set(lake.files.lake_data.rglob("*.parquet")) - before
    found = duckdb.execute(
        "select token, block_number, log_index from read_parquet(?)", [str(file)]
    ).fetchall()
    assert len(found) == (4_900 if is_partly_there else 5_000)
    assert found == sorted(found)


def _place(event: Event) -> tuple[bytes, int, int]:
    return token_address(event.token_id), event.block_number, event.log_index


# --- bulk folding -------------------------------------------------------------------------------


class StopError(Exception):
    """The process ends here."""


def balances_in(store: Store) -> dict[tuple[int, int], int]:
    """Every balance, by token and owner."""
    rows = store.fetch_tuples("balances/list_of_token", first=b"", end=b"\xff" * 25)
    return {
        (int.from_bytes(key[:4]), int.from_bytes(key[4:])): from_blob(value) for key, value in rows
    }


def summed(events: list[Event]) -> dict[tuple[int, int], int]:
    sums: Counter[tuple[int, int]] = Counter()
    for event in events:
        sums[event.token_id, event.recipient] += event.amount
        sums[event.token_id, event.sender] -= event.amount
    return {key: amount for key, amount in sums.items() if amount}


@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(events=event_lists, cut=st.integers(0, 9), stops=st.lists(st.integers(1, 6), max_size=4))
def test_stopped_anywhere_every_change_is_added_once(
    tmp_path_factory: pytest.TempPathFactory, events: list[Event], cut: int, stops: list[int]
) -> None:
    path: Path = tmp_path_factory.mktemp("store") / "assay"
    files: StoreFiles = new_serving(path)
    own = sorted(
        (event for event in events if event.chain_id == 1),
        key=lambda event: (event.block_number, event.log_index),
    )
    parts = (own[:cut], own[cut:])
    with closing(Lake.open(files)) as lake, closing(Store.open(path)) as store:
        for at, part in enumerate(parts):
            append_transfers(
                lake,
                BulkRange(chain_id=1, stream=f"part {at}", from_block=0, to_block=10**9),
                transfers=transfers_of(part),
                tokens=tokens(),
                stored=None,
            )
        for stop in stops:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(BalanceWriter, "add", stopping(stop))
                try:
                    fold_bulks(lake, store, step=2)
                except StopError:
                    continue
        fold_bulks(lake, store, step=2)
        assert balances_in(store) == summed(own)
        assert fold_bulks(lake, store) == 0


def stopping(after: int) -> object:
    """`BalanceWriter.add` that ends the process after one of its calls, before how far it came is
    noted."""
    add = BalanceWriter.add
    calls = 0

    def counted(self: BalanceWriter, by_token: dict[int, dict[bytes, int]]) -> None:
        nonlocal calls
        calls += 1
        add(self, by_token)
        if calls == after:
            raise StopError

    return counted
