"""A separate real node for the runs; a missing node is an error, never a skip."""

from collections.abc import Iterator

import pytest

from assay.demo.anvil import AnvilNode


@pytest.fixture(scope="session")
def bare_node() -> Iterator[AnvilNode]:
    """An empty chain with one block: codes and storage come with each call."""
    with AnvilNode() as node:
        node.mine()
        yield node
