"""Pollers that share one query for all waiting tasks of a process."""

import asyncio
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from typing import Generic, TypeVar

import msgspec
import structlog

from core.errors import StoreError
from core.evm.primitives import Address
from sql.fleet.analysis_runs import AnalysisRuns, RunState
from sql.fleet.inquiries import Inquiries

_LOOK_EVERY_S = 0.1
"""Poll interval; a message shortens it."""

_LOG = structlog.get_logger(__name__)

_Key = TypeVar("_Key", bound=Hashable)
_Row = TypeVar("_Row")


class _Waiter(msgspec.Struct, Generic[_Key, _Row], kw_only=True, eq=False):
    key: _Key
    until: Callable[[_Row | None], bool]
    found: asyncio.Future[_Row | None]


class RowPoller(Generic[_Key, _Row]):
    """Waiting tasks of this process, and the one task that polls for them. For one event loop."""

    def __init__(self, read: Callable[[Sequence[_Key]], Mapping[_Key, _Row]], *, what: str) -> None:
        """`read` blocks and raises StoreError; keys without a row are absent. `what`: name of the
        rows in the log."""
        self._read = read
        self._what = what
        self._waiting: set[_Waiter[_Key, _Row]] = set()
        self._looking: asyncio.Task[None] | None = None
        self._wake = asyncio.Event()

    async def until(self, key: _Key, is_awaited: Callable[[_Row | None], bool]) -> _Row | None:
        """Wait until `is_awaited` accepts the row of a key, and return the row. None: no row.

        Waits without limit, and retries while the database does not answer.
        """
        found: asyncio.Future[_Row | None] = asyncio.get_running_loop().create_future()
        wait = _Waiter(key=key, until=is_awaited, found=found)
        self._waiting.add(wait)
        if self._looking is None:
            self._looking = asyncio.create_task(self._look())
        try:
            return await found
        finally:
            self._waiting.discard(wait)

    def wake(self) -> None:
        """Poll immediately: a row was written."""
        self._wake.set()

    async def aclose(self) -> None:
        """End the polling task and cancel the waiting ones."""
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
                    rows = await asyncio.to_thread(self._read, list({one.key for one in waiting}))
                except StoreError as error:
                    if is_answering:
                        _LOG.error(f"{self._what} cannot be read", why=str(error))
                    is_answering = False
                else:
                    is_answering = True
                    _settle(waiting, rows)
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._wake.wait(), _LOOK_EVERY_S)
        finally:
            self._looking = None


def _settle(waiting: Sequence[_Waiter[_Key, _Row]], rows: Mapping[_Key, _Row]) -> None:
    for wait in waiting:
        row = rows.get(wait.key)
        if not wait.found.done() and wait.until(row):
            wait.found.set_result(row)


Until = Callable[[RunState | None], bool]
"""Decides if the state of a token's runs ends a wait. None: no runs are known."""

_Token = tuple[int, Address]


class RunPoller(RowPoller[_Token, RunState]):
    """Poller of the runs of tokens. For one event loop."""

    def __init__(self, runs: AnalysisRuns) -> None:
        def read(tokens: Sequence[_Token]) -> dict[_Token, RunState]:
            return {(one.chain_id, one.address): one for one in runs.states_of(tokens)}

        super().__init__(read, what="runs of other processes")

    async def wait(self, chain_id: int, address: Address, until: Until) -> RunState | None:
        """Wait without limit until `until` accepts the state of a token's runs."""
        return await self.until((chain_id, address), until)


class InquiryPoller(RowPoller[int, bytes]):
    """Poller of answers to inquiries. For one event loop."""

    def __init__(self, inquiries: Inquiries) -> None:
        def read(inquiry_ids: Sequence[int]) -> dict[int, bytes]:
            return {one.inquiry: one.answer for one in inquiries.answers(inquiry_ids)}

        super().__init__(read, what="answers to inquiries")

    async def wait(self, inquiry: int) -> bytes:
        """Wait without limit for the answer."""
        answer = await self.until(inquiry, lambda found: found is not None)
        assert answer is not None  # noqa: S101 - `until` ends with a row that is not None
        return answer
