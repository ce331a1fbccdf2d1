"""A back-fill of a replayed chain stores exactly its events, in every client's form of logs."""

from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from config.facts.chain import Chain
from core.errors import UpstreamError
from indexer.history.backfill import backfill
from tests.harness.indexer.expected_tables import Tables, read
from tests.harness.node.chain import InstantClock
from tests.harness.replay.answers import RpcCall, prepare_node, replay_blocks
from tests.harness.replay.block_maker import BlockMaker, ReplaySpec
from tests.harness.replay.block_spool import BlockSpool
from tests.harness.replay.expected_replay import expect, expect_trades, read_trades
from tests.harness.replay.faults import (
    RANGE_WORDINGS,
    Fault,
    FaultPlan,
    Refusal,
    limit_ranges,
    no_faults,
)
from tests.harness.replay.log_formats import LOG_FORMATS, LogFormatName, tells_times
from tests.harness.replay.small_chains import (
    CHAINS,
    SETTINGS,
    SOON_FINAL,
    MemoryWire,
    client_of,
    small,
)
from tests.harness.store.empty_files import new_store
from tests.harness.store.store_contents import Cells


async def filled(
    spec: ReplaySpec, folder: Path, *, faults: FaultPlan = no_faults, last: int | None = None
) -> tuple[Tables, list[Cells]]:
    """Back-fill the chain, or its beginning, into a new store; return its rows."""
    with BlockSpool() as spool:
        wire = MemoryWire(prepare_node(BlockMaker(spec), spool), faults=faults)
        store = new_store(folder / "store.duckdb")
        await backfill(
            msgspec.structs.replace(spec.chain, finality_blocks=0),
            client_of(wire, spec.chain),
            store,
            SETTINGS,
            from_block=spec.first_block,
            to_block=spec.last_block if last is None else last,
            clock=InstantClock(),
        )
        found = read(store), read_trades(store)
        store.close()
    return found


@pytest.mark.parametrize("log_format", LOG_FORMATS)
async def test_every_format_of_logs_gives_the_same_rows(
    log_format: LogFormatName, tmp_path: Path
) -> None:
    spec = small(chain=SOON_FINAL, log_format=log_format)
    last = spec.last_block - spec.chain.finality_blocks
    blocks = list(replay_blocks(BlockMaker(spec)))[: last - spec.first_block + 1]
    tables, trades = await filled(spec, tmp_path, last=last)
    expected = expect(spec, blocks)
    for part in tables.__struct_fields__:
        assert getattr(tables, part) == getattr(expected, part), part
    expected_trades = expect_trades(spec, blocks)
    if tells_times(log_format):
        assert trades == expected_trades
    else:  # only those of blocks whose header was read
        assert len(trades) < len(expected_trades)
        assert all(trade in expected_trades for trade in trades)
    assert all((tables.pools, tables.launches, tables.undecoded))
    assert len(tables.transfers) > 300


@pytest.mark.parametrize("chain", CHAINS, ids=lambda chain: chain.slug)
async def test_every_chain_of_the_chain_files_can_be_replayed(chain: Chain, tmp_path: Path) -> None:
    spec = small(chain=chain)
    blocks = list(replay_blocks(BlockMaker(spec)))
    tables, trades = await filled(spec, tmp_path)
    assert tables == expect(spec, blocks)
    assert trades == expect_trades(spec, blocks)
    assert trades


@pytest.mark.parametrize("wording", RANGE_WORDINGS)
async def test_refused_ranges_lose_nothing(wording: str, tmp_path: Path) -> None:
    spec = small()
    tables, _ = await filled(spec, tmp_path, faults=limit_ranges(5, wording))
    assert tables == expect(spec, list(replay_blocks(BlockMaker(spec))))


async def test_a_node_that_never_gives_logs_ends_the_back_fill(tmp_path: Path) -> None:
    def no_logs(calls: Sequence[RpcCall]) -> Fault:
        broken = Refusal(-32603, "internal error")
        return Fault(
            refusals={at: broken for at, call in enumerate(calls) if call.method == "eth_getLogs"}
        )

    with pytest.raises(UpstreamError, match="internal error"):
        await filled(small(), tmp_path, faults=no_logs)
