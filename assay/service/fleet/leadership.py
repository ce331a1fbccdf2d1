"""Work that only one process of a service may do at a time."""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, closing, suppress
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

import structlog

from config.store_address import PostgresAddress
from core.errors import StoreError
from core.process.stop_signals import run_until_stop
from sql.engine.fenced_store import open_fenced, open_leases
from sql.engine.store import Store

if TYPE_CHECKING:
    from sql.engine.postgres.leases import LeaseTerm

T = TypeVar("T")

Work = Callable[[Store, asyncio.Event], Coroutine[Any, Any, None]]
"""Runs until the event is set, and writes to this store only."""

_LOOK_EVERY_S: Final = 0.4
"""Poll interval while a lease is awaited."""

_RENEW_EVERY_S: Final = 1.0
_AGAIN_S: Final = 0.2
"""After a renewal that failed."""

_END_WITHIN_S: Final = 10.0
"""Time for work to end after the stop, while its lease is still renewed."""

_LOST_END_WITHIN_S: Final = 2.0
"""Time for work to end after its lease is lost; its writes are rejected."""

_LOG = structlog.get_logger("assay")


class Leadership(Protocol):
    """Leases of the work that only one process may do at a time."""

    @property
    def tokens(self) -> Mapping[str, int]:
        """Return the fencing tokens of the leases that this process holds, by name."""
        ...

    @property
    def wanted(self) -> Collection[str]:
        """Return the names of the leases that this process holds or waits for."""
        ...

    async def lead(self, name: str, work: Work, *, stop: asyncio.Event) -> None:
        """Do the work while this process may, until the stop."""
        ...


class OnlyProcess:
    """The store is in files, whose locks keep other processes out."""

    tokens: Mapping[str, int] = {}
    wanted: Collection[str] = ()

    def __init__(self, store: Store) -> None:
        self._store = store

    async def lead(self, name: str, work: Work, *, stop: asyncio.Event) -> None:
        """Do the work until the stop, and cancel what has not ended a while later."""
        await run_until_stop(work(self._store, stop), stop, patience_s=_END_WITHIN_S)


class LeasedLeadership:
    """Leases in PostgreSQL: the holder of a name's lease does the work of that name."""

    def __init__(self, address: PostgresAddress) -> None:
        self._address = address
        self.tokens: dict[str, int] = {}
        self.wanted: set[str] = set()

    async def lead(self, name: str, work: Work, *, stop: asyncio.Event) -> None:
        """Wait for the lease and do the work while it lasts, repeatedly until the stop.

        The lease is released when the work has ended, so another process need not wait for its
        expiry. Database errors are logged and retried; errors of the work are raised.
        """
        self.wanted.add(name)
        try:
            async with _leases_in_a_thread(self._address) as leases:
                while not stop.is_set():
                    term = await leases.take(name, stop)
                    if term is not None:
                        await self._hold(leases, term, work, stop)
        finally:
            self.wanted.discard(name)

    async def _hold(
        self, leases: "_LeaseThread", term: "LeaseTerm", work: Work, stop: asyncio.Event
    ) -> None:
        log = _LOG.bind(lease=term.name, token=term.token)
        ended = asyncio.Event()
        log.info("lease taken")
        self.tokens[term.name] = term.token
        renewing = asyncio.create_task(leases.renew_until_lost(term))
        working = asyncio.create_task(self._work(term, work, ended))
        stopping = asyncio.create_task(stop.wait())
        try:
            await asyncio.wait({renewing, working, stopping}, return_when=asyncio.FIRST_COMPLETED)
            is_lost = renewing.done()
            ended.set()
            self.tokens.pop(term.name, None)
            within_s = _LOST_END_WITHIN_S if is_lost else _END_WITHIN_S
            await asyncio.wait({working}, timeout=within_s)
        finally:
            for task in (working, renewing, stopping):
                task.cancel()
            await asyncio.gather(working, renewing, stopping, return_exceptions=True)
            self.tokens.pop(term.name, None)
        if is_lost:
            log.warning("lease lost")
        else:
            await leases.give_up(term)
            log.info("lease given up")
        if not working.cancelled() and (error := working.exception()) is not None:
            raise error

    async def _work(self, term: "LeaseTerm", work: Work, ended: asyncio.Event) -> None:
        try:
            store = await asyncio.to_thread(open_fenced, self._address, term)
        except StoreError as error:
            _LOG.error("lease unusable", lease=term.name, why=str(error))
            await asyncio.sleep(_LOOK_EVERY_S)
            return
        try:
            await work(store, ended)
        finally:
            # A thread of the work may still be in a transaction, and keeps its connection.
            await asyncio.to_thread(store.close)


class _LeaseThread:
    """Leases in a separate thread: a renewal must not wait behind other work."""

    def __init__(self, address: PostgresAddress, thread: ThreadPoolExecutor) -> None:
        self.leases = open_leases(address)
        self._thread = thread

    async def take(self, name: str, stop: asyncio.Event) -> "LeaseTerm | None":
        """Wait until the lease is free and take it. None: the stop came first."""
        last_fault = ""
        while not stop.is_set():
            try:
                term = await self._run(lambda: self.leases.take(name))
            except StoreError as error:
                if str(error) != last_fault:
                    last_fault = str(error)
                    _LOG.error("lease cannot be taken", lease=name, why=last_fault)
            else:
                last_fault = ""
                if term is not None:
                    return term
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), _LOOK_EVERY_S)
        return None

    async def renew_until_lost(self, term: "LeaseTerm") -> None:
        """Renew a lease until another process has it, or may have."""
        now_s = asyncio.get_running_loop().time
        until_s = now_s() + self.leases.lease_s
        pause_s = _RENEW_EVERY_S
        while True:
            await asyncio.sleep(pause_s)
            sent_at_s = now_s()
            try:
                if not await self._run(lambda: self.leases.renew(term)):
                    return
            except StoreError as error:
                if now_s() > until_s:
                    _LOG.error("lease not renewed", lease=term.name, why=str(error))
                    return
                pause_s = _AGAIN_S
            else:
                until_s, pause_s = sent_at_s + self.leases.lease_s, _RENEW_EVERY_S

    async def give_up(self, term: "LeaseTerm") -> None:
        """Release a lease; if that fails, it expires."""
        with suppress(StoreError):
            await self._run(lambda: self.leases.give_up(term))

    async def _run(self, statement: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, statement)


@asynccontextmanager
async def _leases_in_a_thread(address: PostgresAddress) -> AsyncIterator[_LeaseThread]:
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="lease") as thread:
        leases = _LeaseThread(address, thread)
        with closing(leases.leases):
            yield leases
