"""Process pool for CPU-bound work that would otherwise hold the interpreter lock."""

import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context, parent_process
from typing import ParamSpec, TypeVar

from core.process.time_slice import restore_time_slice

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


def process_pool(count: int, *, preload: str | None = None) -> ProcessPoolExecutor:
    """Return a pool of workers that start on demand, block SIGINT and exit with the parent.

    `preload`: a module that one further process imports, of which workers are then forked in
    milliseconds. None: each worker is a new interpreter.
    """
    if preload is None:
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
