"""Processes of a history: one that follows a chain, and one that compacts its lake."""

import asyncio
import itertools
import time
from collections.abc import Coroutine, Sequence
from contextlib import closing, suppress
from pathlib import Path

from config.facts.chain import Chain
from config.settings import IndexerSettings, RpcSettings
from core.errors import StoreError
from core.rpc.backoff import SystemClock
from core.rpc.client import RpcClient
from core.rpc.endpoint import Endpoint
from indexer.head.follow import follow
from indexer.head.follower_status import FollowStatus
from indexer.history.maintenance import keep_up
from indexer.history.transfer_history import Histories
from sql.chain.blocks import FOLLOW, read_checkpoint
from sql.engine.store import Store
from sql.engine.store_files import StoreFiles
from sql.lake.compaction import ChainBounds, CompactionRequest, compact
from sql.lake.final_batches import FinalBatches
from tests.harness.fault_simulation.faulty_wire import FaultyWire
from tests.harness.fault_simulation.model_chain import ModelChain
from tests.harness.fault_simulation.store_faults import (
    ProcessEndedError,
    StoreFaults,
    faulty_databases,
)


def close_open_batch(path: Path, chain_id: int) -> None:
    """Close the batch that final rows wait in, as a compaction does first."""
    faults = StoreFaults()
    with (
        faulty_databases(faults),
        closing(FinalBatches.open(StoreFiles(prefix=path))) as batches,
    ):
        batches.close_open(chain_id)


def compact_with(faults: StoreFaults, path: Path, chain_id: int) -> str:
    """Compact everything, as far as the faults allow. Returns the outcome."""
    request = CompactionRequest(chains=(ChainBounds(chain_id=chain_id),), is_forced=True)
    try:
        with faulty_databases(faults):
            compact(StoreFiles(prefix=path), request, now_s=time.time())
    except ProcessEndedError:
        return "compaction ended"
    except StoreError as error:
        return f"compaction failed: {error.reason}"
    finally:
        faults.abandon()
    return "compacted"


class SimulatedProcess:
    """May be ended at any statement by its faults; `ended` waits for the rest of it."""

    def __init__(
        self,
        chain: Chain,
        wires: Sequence[FaultyWire],
        path: Path,
        settings: IndexerSettings,
        faults: StoreFaults,
        *,
        max_batch: int,
        is_following: bool = True,
    ) -> None:
        """Open the store. Not `is_following`: for a back-fill alone. Raises StoreError,
        ProcessEndedError."""
        self._faults = faults
        self._stop = asyncio.Event()
        self.chain = chain
        self.settings = settings
        self.status = FollowStatus(chain_id=chain.id)
        self.highest_tip = 0
        faults.is_dead = False
        self.store = Store.open(path)
        self.client = RpcClient(
            [Endpoint(wire, max_batch=max_batch) for wire in wires],
            chain_id=chain.id,
            settings=RpcSettings(),
        )
        self._tasks = [asyncio.create_task(one) for one in self._work()] if is_following else []

    def _work(self) -> tuple[Coroutine[None, None, None], ...]:
        where = (self.chain, self.client, self.store, self.settings)
        return (
            follow(*where, stop=self._stop, publish=self._publish),
            keep_up(*where, stop=self._stop),
        )

    @property
    def has_ended(self) -> bool:
        """True if a fault has ended it, or it has broken."""
        return self._faults.is_dead or any(task.done() for task in self._tasks)

    async def is_level_with(self, model: ModelChain) -> bool:
        """Wait until its tip is the model's head, and all that is final is finalized. False: it
        ends, or stays behind for minutes."""
        for _ in range(300):
            await asyncio.sleep(1)
            if self.has_ended:
                return False
            at = read_checkpoint(self.store, chain_id=self.chain.id, stream=FOLLOW)
            if at is not None and at.hash == model.head.hash:
                await asyncio.sleep(2.1)
                return True
        return False

    async def stop(self) -> None:
        """End it in order. Raises unexpected errors."""
        self._stop.set()
        await self._end(is_cancelled=False)

    async def kill(self) -> None:
        """End it here and now."""
        self._faults.is_dead = True
        await self._end(is_cancelled=True)

    async def _end(self, *, is_cancelled: bool) -> None:
        if is_cancelled or self._faults.is_dead:
            for task in self._tasks:
                task.cancel()
        outcomes = await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._faults.is_dead:
            self._faults.abandon()
        self.store.close()
        for outcome in outcomes:
            expected = (ProcessEndedError, asyncio.CancelledError)
            if isinstance(outcome, BaseException) and not isinstance(outcome, expected):
                raise outcome

    def _publish(self, status: FollowStatus) -> None:
        self.status = status
        if status.tip is not None:
            self.highest_tip = max(self.highest_tip, status.tip.number)


async def ended(task: "asyncio.Task[None]") -> None:
    """Wait for parallel work that a fault may have ended."""
    with suppress(ProcessEndedError, asyncio.CancelledError):
        await task


_MOST_TURNS = 2_000
_LONG_S = 1e6


class LateClock(SystemClock):
    """Clock so late that everything postponed is due."""

    time_s = 1e10

    def now_s(self) -> float:
        """Return the seconds that were set."""
        return self.time_s


async def take_all_turns(process: SimulatedProcess) -> None:
    """Take turns until none is due."""
    clock = LateClock()
    histories = Histories(
        process.chain, process.client, process.store, process.settings, now_s=clock.now_s
    )
    for turn in itertools.count():
        assert turn < _MOST_TURNS, "histories never end"
        clock.time_s += _LONG_S
        if not await histories.fetch_next():
            return
