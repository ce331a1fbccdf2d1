"""The serving state of an empty store, migrated once a process: a copy opens in a fraction of the
time of a migration, and of its disk writes."""

import tempfile
from functools import cache
from pathlib import Path

from sql.engine.store import Store
from sql.engine.store_files import StoreFiles


def write_empty_store(path: Path) -> None:
    """Write the files of an empty store that does not exist yet."""
    StoreFiles(prefix=path).serving.write_bytes(_serving_state())


@cache
def _serving_state() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store"
        Store.open(path).close()
        return StoreFiles(prefix=path).serving.read_bytes()
