"""Protects balances: back-filled transfers are added once, wherever adding was stopped."""

from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sql.chain.balances import BalanceWriter
from sql.engine.exact_numbers import from_blob
from sql.engine.store import Store
from sql.engine.store_files import StoreFiles
from sql.lake.bulk_append import BulkRange, append_transfers
from sql.lake.compaction import fold_bulks
from sql.lake.lake_file import Lake
from tests.harness.lake.bulk_frames import tokens, transfers_of
from tests.harness.lake.serving_files import Event, event_lists, new_serving


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
