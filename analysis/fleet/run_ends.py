"""Waiting for runs of other processes: one look at the database for all who wait."""

import asyncio
from collections.abc import Callable, Sequence

import msgspec
import structlog

from core.errors import StoreError
from core.primitives import Address
from sql.postgres.analysis_runs import AnalysisRuns, RunState

_LOOK_EVERY_S = 0.1
"""Between two looks while anybody waits, if no message comes before."""

_LOG = structlog.get_logger(__name__)

Until = Callable[[RunState | None], bool]
"""Whether what is known of a token's runs ends a wait. None: nothing is known."""


class _Wait(msgspec.Struct, kw_only=True, eq=False):
    token: tuple[int, Address]
    until: Until
    found: asyncio.Future[RunState | None]


class RunEnds:
    """Who waits in this process, and the task that looks for them. For one event loop."""

    def __init__(self, runs: AnalysisRuns) -> None:
        self._runs = runs
        self._waiting: set[_Wait] = set()
        self._looking: asyncio.Task[None] | None = None
        self._wake = asyncio.Event()

    async def wait(self, chain_id: int, address: Address, until: Until) -> RunState | None:
        """Wait until what is known of a token's runs is as it should be, however long it takes.

        A database that does not answer is asked again.
        """
        found: asyncio.Future[RunState | None] = asyncio.get_running_loop().create_future()
        wait = _Wait(token=(chain_id, address), until=until, found=found)
        self._waiting.add(wait)
        if self._looking is None:
            self._looking = asyncio.create_task(self._look())
        try:
            return await found
        finally:
            self._waiting.discard(wait)

    def wake(self) -> None:
        """Look at once: a run has ended."""
        self._wake.set()

    async def aclose(self) -> None:
        """End the task; who still waits is cancelled."""
        for wait in self._waiting:
            wait.found.cancel()
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.gather(self._looking, return_exceptions=True)

    async def _look(self) -> None:
        try:
            is_answering = True
            while self._waiting:
                self._wake.clear()
                waiting = list(self._waiting)
                try:
                    states = await asyncio.to_thread(
                        self._runs.states_of, list({wait.token for wait in waiting})
                    )
                except StoreError as error:
                    if is_answering:
                        _LOG.error("runs of other processes cannot be read", why=str(error))
                    is_answering = False
                else:
                    is_answering = True
                    _tell(waiting, states)
                await self._pause()
        finally:
            self._looking = None

    async def _pause(self) -> None:
        try:
            await asyncio.wait_for(self._wake.wait(), _LOOK_EVERY_S)
        except TimeoutError:
            return


def _tell(waiting: Sequence[_Wait], states: Sequence[RunState]) -> None:
    known = {(state.chain_id, state.address): state for state in states}
    for wait in waiting:
        state = known.get(wait.token)
        if not wait.found.done() and wait.until(state):
            wait.found.set_result(state)
