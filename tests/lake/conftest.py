"""One store for all examples of a test module, each of which writes a separate batch."""

from collections.abc import Iterator
from contextlib import closing, nullcontext
from pathlib import Path

import pytest

from config.store_address import PostgresAddress
from sql.engine.store_files import StoreFiles
from sql.lake.final_batches import FinalBatches
from sql.lake.find_place import place_of
from sql.lake.lake_file import Lake
from sql.lake.lake_place import ALONE
from tests.harness.lake.serving_files import (
    Onlooker,
    Serving,
    connect_serving,
    new_postgres_serving,
    new_serving,
)
from tests.harness.parts.empty_databases import EmptyDatabases
from tests.store.conftest import ENGINES

Owner = StoreFiles | PostgresAddress


@pytest.fixture(scope="module", params=ENGINES)
def owner(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Owner:
    """The store, once in files and once in PostgreSQL."""
    folder = tmp_path_factory.mktemp("store")
    if request.param == "file":
        return new_serving(folder / "assay")
    databases: EmptyDatabases = request.getfixturevalue("empty_databases")
    url = databases.create_bare()
    return new_postgres_serving(url, lake=str(folder / "lake"), prefix=folder / "local" / "assay")


@pytest.fixture(scope="module")
def serving(owner: Owner) -> Iterator[Serving]:
    with closing(connect_serving(owner)) as connection:
        yield connection


@pytest.fixture(scope="module")
def lake(owner: Owner) -> Iterator[Lake]:
    place = place_of(owner)
    # As a round of compaction has it.
    turn = place.compacting() if isinstance(owner, PostgresAddress) else nullcontext(ALONE)
    with turn as turn_held, closing(Lake.open(place, lock=turn_held)) as opened:
        yield opened


@pytest.fixture(scope="module")
def batches(owner: Owner) -> Iterator[FinalBatches]:
    with closing(FinalBatches.open(owner)) as opened:
        yield opened


@pytest.fixture(scope="module")
def onlooker(owner: Owner, lake: Lake) -> Iterator[Onlooker]:
    """Reader of the module's store; the lake exists already."""
    assert lake.files.prefix == owner.prefix
    with closing(Onlooker(owner)) as reader:
        yield reader


@pytest.fixture
def fresh(tmp_path: Path) -> StoreFiles:
    """A store of the test's own."""
    return new_serving(tmp_path / "assay")
