"""Protects writes sent to PostgreSQL without waiting: reads see them, a failure undoes all."""

from pathlib import Path

import pytest

from core.errors import StoreError
from sql.chain.blocks import list_blocks
from sql.engine.store import Store
from tests.harness.parts.empty_databases import EmptyDatabases
from tests.harness.store.sample_rows import block


def numbers(store: Store) -> list[int]:
    return [row.number for row in list_blocks(store, chain_id=1)]


def write_blocks(store: Store, *written: int) -> None:
    with store.transaction(chain_id=1) as tx, tx.pipelined():
        for number in written:
            tx.insert("block", [block(number)])


def test_a_read_in_a_pipeline_sees_the_writes_before_it(empty_databases: EmptyDatabases) -> None:
    with empty_databases.store(Path("files")) as store:
        with store.transaction(chain_id=1) as tx, tx.pipelined():
            for number in (1, 2):
                tx.insert("block", [block(number)])
            assert [row.number for row in list_blocks(tx, chain_id=1)] == [1, 2]
            tx.insert("block", [block(3)])
        assert numbers(store) == [1, 2, 3]


def test_a_write_that_fails_in_a_pipeline_takes_the_others_with_it(
    empty_databases: EmptyDatabases,
) -> None:
    with empty_databases.store(Path("files")) as store:
        write_blocks(store, 1)
        with (
            pytest.raises(StoreError, match="duplicate key"),
            store.transaction(chain_id=1) as tx,
            tx.pipelined(),
        ):
            for number in (2, 1, 3):
                tx.insert("block", [block(number)])
        assert numbers(store) == [1]
        write_blocks(store, 4)
        assert numbers(store) == [1, 4]
