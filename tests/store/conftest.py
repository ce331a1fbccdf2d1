"""A store of each test's own, on both engines."""

from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from sql.accounts.ledger import Ledger
from sql.engine.store import FileStore, Store
from tests.harness.parts.empty_databases import EmptyDatabases
from tests.harness.store.empty_files import NewStore, ledger_at, new_ledger, new_store
from tests.harness.store.empty_files import temporary_store as temporary_file_store

ENGINES = ("file", pytest.param("postgres", marks=(pytest.mark.fleet, pytest.mark.second_engine)))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "assay"


@pytest.fixture
def file_store(path: Path) -> Iterator[FileStore]:
    """Store in files, for features that only those have."""
    with closing(new_store(path)) as opened:
        assert isinstance(opened, FileStore)
        yield opened


@pytest.fixture
def postgres_store(empty_databases: EmptyDatabases, path: Path) -> Iterator[Store]:
    """A store in PostgreSQL."""
    with empty_databases.store(path) as opened:
        yield opened


@pytest.fixture(params=ENGINES)
def store(request: pytest.FixtureRequest) -> Store:
    """An empty store, once in files and once in PostgreSQL."""
    found: Store = request.getfixturevalue(f"{request.param}_store")
    return found


@pytest.fixture(params=ENGINES)
def ledger_place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Place of an empty ledger: the path of its file, or the URL of its database."""
    if request.param == "file":
        path = tmp_path / "ledger.sqlite"
        new_ledger(path).close()
        yield str(path)
        return
    databases: EmptyDatabases = request.getfixturevalue("empty_databases")
    with databases.lent() as url:
        yield url


@pytest.fixture
def ledger(ledger_place: str) -> Iterator[Ledger]:
    """An empty ledger, once in a file and once in PostgreSQL."""
    with closing(ledger_at(ledger_place)) as opened:
        yield opened


@pytest.fixture
def ledger_file(tmp_path: Path) -> Iterator[Ledger]:
    """Empty ledger in the file `ledger.sqlite`, for features that only those have."""
    with closing(new_ledger(tmp_path / "ledger.sqlite")) as opened:
        yield opened


@pytest.fixture(scope="module", params=ENGINES)
def temporary_store(request: pytest.FixtureRequest) -> NewStore:
    """Opens empty stores that go at the end of a block, for tests that need many."""
    if request.param == "file":
        return temporary_file_store
    databases: EmptyDatabases = request.getfixturevalue("empty_databases")
    return partial(databases.store, Path("files"))
