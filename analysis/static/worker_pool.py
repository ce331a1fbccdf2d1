"""Worker processes for static analyses, in two lanes, so that long ones delay no short ones.

An analysis begins in the quick lane. After `QUICK_S` it goes on in the slow lane with a lower
priority. If that lane is full it is stopped, and begins again once there is room. The kernel ends a
worker whose analysis takes more than `LONGEST_S` of processor time, whatever it is doing.
"""

import asyncio
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from multiprocessing import get_context, parent_process
from tempfile import gettempdir
from types import FrameType
from typing import Final, ParamSpec, TypeVar

import structlog

from analysis.static.analyse_code import CodeAnalysis, analyse_code
from core.process.time_slice import restore_time_slice

_LOG = structlog.get_logger(__name__)

QUICK_S: Final = 1.5
"""Seconds in the quick lane. Of twenty real codes nineteen take half of it."""

LONGEST_S: Final = 6.0
"""Processor seconds of one analysis, all phases together."""

_LONGEST_WAIT_S: Final = 20 * LONGEST_S
"""Seconds for a worker that does not even get processor time."""

_MOST_DEATHS: Final = 2
"""Workers that may die of one code, other than by its processor time."""

_SLOW_NICENESS: Final = 10

_LONGEST_TEMPORARY: Final = 64
"""Characters of the folder of temporary files. The preloaded process listens on a socket below it,
whose path has at most 107 in all."""

P = ParamSpec("P")
T = TypeVar("T")


class _Pool(ProcessPoolExecutor):
    """Process pool whose workers block SIGINT, so that the parent decides how to shut down.

    A terminal sends SIGINT to every process of its group. Workers are spawned on submission, so
    the signal is blocked during that, and they inherit the mask.
    """

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            return super().submit(fn, *args, **kwargs)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


def process_pool(
    count: int, *, preload: str | None = None, may_fork: bool = False
) -> ProcessPoolExecutor:
    """Return a pool of workers that start on demand, block SIGINT and exit with the parent.

    `preload`: a module that one further process imports, of which workers are then forked in
    milliseconds. None: each worker is a new interpreter. `may_fork`: workers are forked from this
    process, which has imported the module, while it has no thread that may hold a lock.
    """
    if may_fork and threading.active_count() == 1:
        return _Pool(count, mp_context=get_context("fork"), initializer=_begin)
    if preload is None or len(gettempdir()) > _LONGEST_TEMPORARY:
        return _Pool(count, mp_context=get_context("spawn"), initializer=_begin)
    context = get_context("forkserver")
    context.set_forkserver_preload([preload])
    return _Pool(count, mp_context=context, initializer=_begin)


def _begin() -> None:
    restore_time_slice()  # its parent may be the process that callers wait for
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """Exit with the parent: if it is killed it sends no signal, and workers would wait forever."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def analyse_within(code: bytes, limit_s: float) -> CodeAnalysis:
    """Analyse a code in a worker process, which the kernel ends at the limit of processor time."""
    signal.setitimer(signal.ITIMER_PROF, limit_s)  # its signal has no handler, and ends the process
    try:
        return analyse_code(code)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


class _TookTooLong(BaseException):
    """Raised within an analysis at its limit; no handler in between may take it for an error."""


def run_within(limit_s: float, analyse: Callable[[], T]) -> T | None:
    """Return the result of an analysis in the main thread of this process, which nothing else uses.
    None: it took more processor time.

    For batches and commands: a caller of the service is protected by `analyse_within`, which needs
    another process but ends whatever that is doing.
    """
    signal.signal(signal.SIGPROF, _interrupt)
    try:
        signal.setitimer(signal.ITIMER_PROF, limit_s)
        try:
            return analyse()
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
    except _TookTooLong:  # perhaps just after its end
        return None


def _interrupt(_: int, __: FrameType | None) -> None:
    raise _TookTooLong


class _Worker:
    """One process that analyses one code at a time."""

    def __init__(self, *, may_fork: bool) -> None:
        self._pool = process_pool(1, preload=__name__, may_fork=may_fork)
        self._pid: int | None = None
        """None: it has not started, or has ended."""

    @property
    def is_alive(self) -> bool:
        """True if the process has started, and has not ended as far as known."""
        return self._pid is not None

    async def start(self) -> None:
        """Wait until the process is ready."""
        loop = asyncio.get_running_loop()
        self._pid = await loop.run_in_executor(self._pool, os.getpid)

    async def analyse(self, code: bytes, *, longest_s: float) -> CodeAnalysis | None:
        """Return the analysis. None: it took too long. Raises BrokenProcessPool if the process died
        of something else."""
        loop = asyncio.get_running_loop()
        begun_s = loop.time()
        try:
            async with asyncio.timeout(_LONGEST_WAIT_S):
                return await loop.run_in_executor(self._pool, analyse_within, code, longest_s)
        except BrokenProcessPool:
            self._pid = None
            if loop.time() - begun_s < longest_s:
                raise
        except TimeoutError:
            self.end()
        return None

    def slow_down(self) -> None:
        """Let other processes go first, for the rest of its life."""
        if self._pid is not None:
            with suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, self._pid, _SLOW_NICENESS)

    def end(self) -> None:
        """End the process, whatever it is doing."""
        if self._pid is not None:
            with suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)
            self._pid = None
        self._pool.shutdown(wait=False, cancel_futures=True)


class AnalysisLanes:
    """Analyses codes in worker processes. For one event loop."""

    def __init__(
        self,
        width: int,
        *,
        quick_s: float = QUICK_S,
        longest_s: float = LONGEST_S,
        may_fork: bool = False,
    ) -> None:
        """`width`: analyses at the same time in each of the two lanes. `quick_s`: seconds in the
        quick lane. `longest_s`: processor seconds of one analysis. `may_fork`: see
        `process_pool`."""
        self._may_fork = may_fork
        self._quick_s = quick_s
        self._longest_s = longest_s
        self._quick = asyncio.Semaphore(width)
        self._slow = asyncio.Semaphore(width)
        self._idle: list[_Worker] = []
        self._busy: set[_Worker] = set()
        self._is_closed = False

    async def start(self) -> None:
        """Start a worker, so that the first request need not wait for one."""
        async with self._quick:
            self._put_back(await self._take_worker())

    async def analyse(self, code: bytes) -> CodeAnalysis | None:
        """Return the analysis. None: it took too long, or workers died of it."""
        for _ in range(_MOST_DEATHS):
            try:
                found = await self._analyse(code)
            except BrokenProcessPool as error:
                if self._is_closed:
                    break
                _LOG.error("a worker died of a code", why=str(error))
            else:
                if found is None and not self._is_closed:
                    _LOG.warning("static analysis ended by its deadline", size=len(code))
                return found
        return None

    def close(self) -> None:
        """End all workers without waiting; running analyses return None."""
        self._is_closed = True
        for worker in (*self._idle, *self._busy):
            worker.end()

    async def _analyse(self, code: bytes) -> CodeAnalysis | None:
        async with self._quick:
            worker = await self._take_worker()
            running = self._begin(worker, code)
            await asyncio.wait({running}, timeout=self._quick_s)
            if running.done():
                self._put_back(worker)
                return running.result()
            goes_on = not self._slow.locked()
            if goes_on:
                await self._slow.acquire()  # at once, as it is not locked
        if not goes_on:
            self._drop(worker)
            await asyncio.gather(running, return_exceptions=True)
            await self._slow.acquire()
        try:
            if not goes_on:
                worker = await self._take_worker()
                running = self._begin(worker, code)
            worker.slow_down()
            return await running
        finally:
            self._slow.release()
            self._drop(worker)

    def _begin(self, worker: _Worker, code: bytes) -> "asyncio.Task[CodeAnalysis | None]":
        return asyncio.create_task(worker.analyse(code, longest_s=self._longest_s))

    async def _take_worker(self) -> _Worker:
        if self._is_closed:
            raise BrokenProcessPool
        worker = self._idle.pop() if self._idle else _Worker(may_fork=self._may_fork)
        self._busy.add(worker)
        if not worker.is_alive:
            try:
                await worker.start()
            except BrokenProcessPool:
                self._drop(worker)
                raise
        return worker

    def _put_back(self, worker: _Worker) -> None:
        self._busy.discard(worker)
        if worker.is_alive and not self._is_closed:
            self._idle.append(worker)
        else:
            worker.end()

    def _drop(self, worker: _Worker) -> None:
        self._busy.discard(worker)
        worker.end()
