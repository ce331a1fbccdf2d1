"""One process that follows a chain: store, client, follower and maintenance, as the service runs
them, until it is ended."""

import asyncio
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from pathlib import Path

from config.facts.chain import Chain
from config.settings import IndexerSettings, RpcSettings
from core.rpc.client import RpcClient
from core.rpc.endpoint import Endpoint
from indexer.events import FOLLOW
from indexer.follow import follow
from indexer.follower_status import FollowStatus
from indexer.maintenance import keep_up
from sql.chain.blocks import read_checkpoint
from sql.engine.store import Store
from tests.harness.fault_simulation.faulty_wire import FaultyWire
from tests.harness.fault_simulation.model_chain import ModelChain
from tests.harness.fault_simulation.store_faults import ProcessEndedError, StoreFaults


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
