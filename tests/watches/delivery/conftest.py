"""A store of each test's own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sql.engine.store import Store
from tests.harness.store.empty_files import new_store


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "assay"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    opened = new_store(path)
    yield opened
    opened.close()
