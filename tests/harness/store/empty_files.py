"""Empty store and ledger files, migrated once a process and copied for each test.

Opening a copy needs a fraction of the time of a migration, and of its disk writes.
"""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from functools import cache
from pathlib import Path

from config.store_address import is_url
from sql.accounts.ledger import Ledger
from sql.engine.store import Store
from sql.engine.store_files import StoreFiles
from tests.harness.parts.empty_databases import address_of


def write_empty_store(path: Path) -> None:
    """Write the files of an empty store that does not exist yet."""
    StoreFiles(prefix=path).serving.write_bytes(_serving_state())


@cache
def _serving_state() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store"
        Store.open(path).close()
        return StoreFiles(prefix=path).serving.read_bytes()


NewStore = Callable[[], AbstractContextManager[Store]]
"""Opens an empty store, which goes at the end of the block."""


def new_store(path: Path) -> Store:
    """Open an empty store in files that do not exist yet."""
    write_empty_store(path)
    return Store.open(path)


@contextmanager
def temporary_store() -> Iterator[Store]:
    """An empty store that goes with its folder; opens in a tenth of a `:memory:` one's time."""
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(new_store(Path(folder) / "store")) as store,
    ):
        yield store


def ledger_at(place: str) -> Ledger:
    """Open the ledger in a file, or in the database at a URL."""
    if is_url(place):
        return Ledger.of_store(address_of(place))
    return Ledger.open(Path(place))


def new_ledger(path: Path) -> Ledger:
    """Open an empty ledger in a file that does not exist yet."""
    path.write_bytes(_empty_ledger())
    return Ledger.open(path)


@cache
def _empty_ledger() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.sqlite"
        Ledger.open(path).close()
        return path.read_bytes()
