"""Reads of an open store in a separate process, as those of every analyst are.

DuckDB contains a SQLite. In one process the locks of the two do not exclude each other, and
DuckDB's cuts off the index of the log that Python's has mapped: the next read there is a bus error.
"""

from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from sql.engine.store import Store
from sql.engine.store_files import StoreFiles
from sql.lake.open_store import open_to_read

_MEMORY_MB = 300


def read_apart(store: Store, statement: str) -> list[tuple[Any, ...]]:
    """Return the rows of a statement on the views of a store that may be open."""
    return _process().submit(_read, store.path, statement).result()


@cache
def _process() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(1, mp_context=get_context("spawn"))


def _read(prefix: Path, statement: str) -> list[tuple[Any, ...]]:
    with closing(open_to_read(StoreFiles(prefix=prefix), memory_mb=_MEMORY_MB)) as opened:
        return opened.execute(statement).fetchall()
