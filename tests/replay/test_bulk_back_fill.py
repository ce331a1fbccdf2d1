"""Protects large back-fills: their transfers are in the lake, each once, and in the balances."""

from contextlib import closing
from pathlib import Path

import pytest

from indexer.history import backfill as module
from indexer.history.backfill import backfill
from indexer.history.bulk_writer import BulkWriter
from sql.chain.balances import read_holders
from sql.engine.store import Store
from sql.engine.store_files import StoreFiles
from sql.lake.compaction import fold_bulks
from sql.lake.lake_file import Lake
from tests.harness.indexer.expected_tables import read
from tests.harness.node.chain import InstantClock
from tests.harness.replay.answers import prepare_node, replay_blocks
from tests.harness.replay.block_maker import BlockMaker
from tests.harness.replay.block_spool import BlockSpool
from tests.harness.replay.expected_replay import expect
from tests.harness.replay.small_chains import SETTINGS, SOON_FINAL, MemoryWire, client_of, small
from tests.harness.store.empty_files import new_store
from tests.harness.store.reader_process import read_apart

SPEC = small(chain=SOON_FINAL)
LAST = SPEC.last_block - SPEC.chain.finality_blocks
QUERY = (
    "select block_number, log_index, token, sender, recipient, amount_raw"
    " from v_transfers order by 1, 2"
)


class StopError(Exception):
    """The process ends here."""


@pytest.fixture(autouse=True)
def _all_are_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LEAST_LOGS", 1)


async def fill(store: Store, *, last: int = LAST) -> None:
    with BlockSpool() as spool:
        await backfill(
            SPEC.chain,
            client_of(MemoryWire(prepare_node(BlockMaker(SPEC), spool)), SPEC.chain),
            store,
            SETTINGS,
            from_block=SPEC.first_block,
            to_block=last,
            clock=InstantClock(),
        )


def assert_complete(store: Store) -> None:
    """Rows, and balances once they are folded, are those of the chain."""
    expected = expect(SPEC, list(replay_blocks(BlockMaker(SPEC)))[: LAST - SPEC.first_block + 1])
    found = read(store)
    for part in ("pools", "tokens", "undecoded", "checkpoint", "coverage", "launches"):
        assert getattr(found, part) == getattr(expected, part), part
    files = StoreFiles(prefix=store.path)
    rows = read_apart(store, QUERY)
    transfers = [(*row[:5], float(int(str(row[5]), 16))) for row in expected.transfers]
    assert [row[:5] for row in rows] == [row[:5] for row in transfers]
    assert [row[5] for row in rows] == pytest.approx([row[5] for row in transfers])
    with closing(Lake.open(files)) as lake:
        fold_bulks(lake, store)
    by_token: dict[str, dict[str, int]] = {}
    for _, _, token, sender, recipient, amount in expected.transfers:
        own = by_token.setdefault(str(token), {})
        own[str(recipient)] = own.get(str(recipient), 0) + int(str(amount), 16)
        own[str(sender)] = own.get(str(sender), 0) - int(str(amount), 16)
    for token, own in by_token.items():
        found_top = read_holders(store, chain_id=SPEC.chain.id, token=token, at_most=10**6).top  # type: ignore[arg-type]  # 0x text
        positive = {owner: amount for owner, amount in own.items() if amount > 0}
        assert {one.owner: one.amount_raw for one in found_top} == positive


async def test_every_transfer_is_in_the_lake_once(tmp_path: Path) -> None:
    store = new_store(tmp_path / "store")
    await fill(store)
    assert not read(store).transfers, "none waits in the serving state"
    await fill(store, last=LAST - 7)  # a range that overlaps
    found = read(store)
    assert not found.transfers
    with store.transaction() as tx:  # of the second range: the chain has none of it
        tx.execute("coverage/trim_from", chain_id=SPEC.chain.id, number=LAST + 1)
    assert_complete(store)
    store.close()


@pytest.mark.parametrize("stop_before", ["append", "finish"])
async def test_stopped_between_its_commits_it_is_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop_before: str
) -> None:
    store = new_store(tmp_path / "store")

    def stop(*_: object, **__: object) -> None:
        raise StopError

    for at in range(2):
        with monkeypatch.context() as patch:
            if stop_before == "append":
                patch.setattr(BulkWriter, "_append", stop)
            else:
                patch.setattr("indexer.history.bulk_writer.note_filled", stop)
            with pytest.raises(StopError):
                await fill(store)
        assert read(store).checkpoint is None, at
    await fill(store)
    assert_complete(store)
    store.close()
