"""Protects a back-fill into a store in PostgreSQL.

Analysts read the same rows as from the same range in files, however often it was stopped.
"""

from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from config.settings import IndexerSettings
from config.store_address import FileAddress, StoreAddress
from indexer.history import backfill as backfill_module
from indexer.history.backfill import BackfillProgress, backfill
from sql.analyst.query_runner import run_sql
from sql.chain.balances import read_holders
from sql.engine.store import Store
from sql.lake.compaction import ChainBounds, CompactionRequest
from sql.lake.compaction_runner import run_compaction
from tests.harness.node.chain import (
    CHAIN,
    InstantClock,
    Odd,
    Pair,
    ScriptedNode,
    Sent,
    client_of,
    token,
)
from tests.harness.parts.empty_databases import EmptyDatabases, address_of

pytestmark = pytest.mark.process

LAST = 79
SETTINGS = IndexerSettings(initial_log_range=4, max_log_range=16, commit_rows=20)
FINALS = CompactionRequest(chains=(ChainBounds(chain_id=CHAIN.id),), is_forced=True)
NOT_TRACKED_YET = msgspec.structs.replace(CHAIN, start_block=None)
READS = (
    "select block_number, log_index, token, sender, recipient, amount_raw from v_transfers"
    " order by all",
    "select pool, token0, token1 from v_pools order by all",
    "select stream, number from v_checkpoints order by all",
)


class Stopped(Exception):  # noqa: N818 - a wish, not an error
    """The caller has had enough."""


@pytest.fixture
def node() -> ScriptedNode:
    grown = ScriptedNode()
    events = [(Pair(-1, 0), Sent(0, 5), Odd(0)), (Sent(0, 7), Sent(0, 1)), ()]
    for number in range(LAST + CHAIN.finality_blocks):
        grown.extend(events[number % len(events)])
    return grown


async def fill(store: Store, node: ScriptedNode, *, stop_at: int | None = None) -> None:
    def note(progress: BackfillProgress) -> None:
        if stop_at is not None and progress.done_to >= stop_at:
            raise Stopped

    await backfill(
        NOT_TRACKED_YET, client_of(node), store, SETTINGS,
        from_block=0, to_block=LAST, progress=note, clock=InstantClock(),
    )  # fmt: skip


def read_all(address: StoreAddress) -> list[object]:
    """Return analysts' rows, and the balances."""
    with closing(Store.open(address)) as store:
        holders = read_holders(store, chain_id=CHAIN.id, token=token(0), at_most=100)
    return [holders, *(run_sql(address, query).rows for query in READS)]


@pytest.fixture
def in_files(tmp_path: Path) -> FileAddress:
    return FileAddress(tmp_path / "files")


@pytest.mark.parametrize(
    "least_logs",
    [
        pytest.param(1, id="to the lake"),
        pytest.param(10**6, id="to the serving state", marks=pytest.mark.second_engine),
    ],
)
async def test_both_engines_hold_the_same_range(
    node: ScriptedNode,
    in_files: FileAddress,
    empty_databases: EmptyDatabases,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    least_logs: int,
) -> None:
    monkeypatch.setattr(backfill_module, "LEAST_LOGS", least_logs)
    in_postgres = address_of(empty_databases.create_bare(), path=tmp_path / "local" / "assay")
    with closing(Store.open(in_files)) as store:
        await fill(store, node)
    with closing(Store.open(in_postgres)) as store:
        for stop_at in (20, 50):
            with pytest.raises(Stopped):
                await fill(store, node, stop_at=stop_at)
        await fill(store, node)
    for address in (in_files, in_postgres):
        run_compaction(address, FINALS)
    wanted = read_all(in_files)
    assert read_all(in_postgres) == wanted
    # Of three blocks one has a transfer, one has two; the genesis has none.
    transfers = wanted[1]
    assert isinstance(transfers, list)
    assert len(transfers) == len(range(1, LAST + 1, 3)) + 2 * len(range(2, LAST + 1, 3))
