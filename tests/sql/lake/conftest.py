"""One store for all examples of a test module: each example writes a batch of its own."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from sql.lake.final_batches import FinalBatches
from sql.lake.lake_file import Lake
from sql.store_files import StoreFiles
from tests.sql.lake.serving_files import Onlooker, new_serving


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> StoreFiles:
    return new_serving(tmp_path_factory.mktemp("store") / "assay")


@pytest.fixture(scope="module")
def serving(files: StoreFiles) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(files.serving, isolation_level=None)) as connection:
        yield connection


@pytest.fixture(scope="module")
def lake(files: StoreFiles) -> Iterator[Lake]:
    with closing(Lake.open(files)) as opened:
        yield opened


@pytest.fixture(scope="module")
def batches(files: StoreFiles) -> Iterator[FinalBatches]:
    with closing(FinalBatches.open(files)) as opened:
        yield opened


@pytest.fixture(scope="module")
def onlooker(files: StoreFiles, lake: Lake) -> Iterator[Onlooker]:
    """Of the module's store; the lake has been made before."""
    assert lake.files == files
    with closing(Onlooker(files)) as reader:
        yield reader


@pytest.fixture
def fresh(tmp_path: Path) -> StoreFiles:
    """A store of the test's own."""
    return new_serving(tmp_path / "assay")
