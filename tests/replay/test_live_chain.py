"""A live chain follows its plan, however the clock ticks; and it can be followed."""

import asyncio
import itertools
from collections.abc import Sequence
from contextlib import closing
from itertools import repeat
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.settings import IndexerSettings, RpcSettings
from core.rpc.client import RpcClient
from indexer.head.follow import follow
from indexer.head.follower_status import FollowStatus
from tests.harness.replay.answers import NodeAnswers
from tests.harness.replay.block_spool import BlockSpool
from tests.harness.replay.head_socket import HeadSocket
from tests.harness.replay.http_server import ReplayServer
from tests.harness.replay.live_chain import LiveChain, LivePlan, PlannedReorg
from tests.harness.replay.small_chains import CHAINS, small
from tests.harness.store.empty_files import new_store
from tests.harness.store.store_contents import read_rows

SPEC = msgspec.structs.replace(small(chain=CHAINS[0]), blocks=5, logs_per_block=10)
PLAN = LivePlan(
    interval_s=0.5,
    transfers_per_s=20,
    burst_every_s=10.0,
    burst_s=1.0,
    reorgs=(PlannedReorg(at_s=3.2, depth=2), PlannedReorg(at_s=7.0, depth=4)),
)


def grown(spool: BlockSpool, ticks: Sequence[float]) -> LiveChain:
    chain = LiveChain(SPEC, PLAN, spool)
    for at_s in ticks:
        chain.advance(at_s, read_clock=repeat(at_s).__next__)
    return chain


def hashes(chain: LiveChain) -> list[str]:
    found = [chain.at(number) for number in range(chain.first, chain.head + 1)]
    return [block.hash for block in found if block is not None]


@given(ticks=st.lists(st.floats(0, 10), max_size=30))
def test_a_chain_depends_on_the_time_and_not_on_the_ticks(ticks: list[float]) -> None:
    with BlockSpool() as spool:
        chain, other = grown(spool, [*sorted(ticks), 10.0]), grown(spool, [10.0])
        assert hashes(chain) == hashes(other)
        assert [one.hash for one in chain.published] == [one.hash for one in other.published]
        assert chain.head == SPEC.last_block + 20
        assert len(chain.published) == 20 + 2 + 4


def test_a_reorg_replaces_the_newest_blocks_and_keeps_the_links() -> None:
    with BlockSpool() as spool:
        chain = grown(spool, [3.1])
        before = hashes(chain)
        chain.advance(3.3, read_clock=lambda: 3.3)
        after = hashes(chain)
        assert len(after) == len(before)
        assert [one == other for one, other in zip(before, after, strict=True)] == [
            *[True] * (len(before) - 2),
            *[False] * 2,
        ]
        headers = [
            msgspec.json.decode(block.header) for block in map(chain.by_hash, after) if block
        ]
        for parent, child in itertools.pairwise(headers):
            assert child["parentHash"] == parent["hash"]
        gone = chain.by_hash(before[-1])
        assert gone is not None, "who knows its hash still gets it"


def test_a_burst_has_so_many_times_more() -> None:
    with BlockSpool() as spool:
        chain = grown(spool, [20.0])
        logs = [
            len(block.emitters)
            for number in range(SPEC.last_block + 1, chain.head + 1)
            if (block := chain.at(number)) is not None
        ]
        quiet, burst = sum(logs[:18]) / 18, sum(logs[18:20]) / 2
        assert quiet == pytest.approx(0.5 * 20 / 0.87, rel=0.2)
        assert burst == pytest.approx(10 * quiet, rel=0.2)


class Tips:
    """Positions published by a follower."""

    def __init__(self) -> None:
        self._tip = ""
        self._changed = asyncio.Event()

    def note(self, status: FollowStatus) -> None:
        self._tip = "" if status.tip is None else status.tip.hash
        self._changed.set()

    async def reach(self, wanted: str) -> None:
        """Wait until it is there."""
        async with asyncio.timeout(20):
            while self._tip != wanted:
                self._changed.clear()
                await self._changed.wait()


async def test_the_product_follows_it_through_reorgs_by_socket(tmp_path: Path) -> None:
    tips = Tips()
    with BlockSpool() as spool:
        chain = LiveChain(SPEC, PLAN, spool)
        with (
            ReplayServer({"/1": NodeAnswers(chain)}) as server,
            HeadSocket({"/1": chain}) as socket,
            closing(new_store(tmp_path / "store.duckdb")) as store,
        ):
            urls = (server.url("/1"), socket.url("/1"))
            client = await RpcClient.connect(urls, SPEC.chain.id, RpcSettings())
            stop = asyncio.Event()
            start = msgspec.structs.replace(SPEC.chain, start_block=SPEC.first_block)
            settings = IndexerSettings(poll_s=60.0)  # only the subscription brings heads in time
            following = asyncio.create_task(
                follow(start, client, store, settings, stop=stop, publish=tips.note)
            )
            await tips.reach(hashes(chain)[-1])
            for tick in range(1, 21):
                await asyncio.to_thread(chain.advance, 0.5 * tick, read_clock=lambda: 0.0)
                await tips.reach(hashes(chain)[-1])
            stop.set()
            await following
            await client.aclose()
            stored_hashes = [
                row[0] for row in read_rows(store, "select hash from block order by number")
            ]
    assert stored_hashes == hashes(chain)[-len(stored_hashes) :]
    assert len(stored_hashes) > 10
