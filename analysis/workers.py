"""Processes for work that would keep the interpreter from everything else."""

import os
import signal
import threading
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context, parent_process


def process_pool(count: int) -> ProcessPoolExecutor:
    """Workers that start on demand, leave Ctrl-C to us, and end when we end, however we do."""
    return ProcessPoolExecutor(count, mp_context=get_context("spawn"), initializer=_begin)


def _begin() -> None:
    # Ctrl-C goes to every process of a terminal; who started this one decides what to do about it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A parent that is killed tells nobody; without this its workers would wait for ever."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
