"""Protects the agreement of the two schemas: a table in one is a table in the other."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from config.store_address import FileAddress
from sql.accounts.ledger import LEDGER_LAYOUT
from sql.engine.sqlite_file import SqliteFile
from sql.engine.store import FileStore, Store
from sql.engine.store_files import StoreFiles
from tests.harness.store.store_contents import (
    OF_LEDGER,
    OF_ONE_ENGINE,
    described_table,
    read_rows,
    table_names,
)

Key = tuple[str, ...]

_POSTGRES_KEYS = """
    select table_name::text, found.indisunique, found.indisprimary,
        array(
            select attname::text from unnest(found.indkey) with ordinality as place (number, at)
            join pg_attribute on attrelid = found.indrelid and attnum = place.number
            order by place.at
        )
    from information_schema.tables
    join pg_index as found on found.indrelid = table_name::regclass
    where table_schema = current_schema() and found.indisunique
"""


@pytest.fixture
def file_ledger(tmp_path: Path) -> Iterator[Store]:
    """A ledger where `read_rows` looks for a serving state."""
    prefix = tmp_path / "ledger"
    with closing(SqliteFile(StoreFiles(prefix=prefix).serving, LEDGER_LAYOUT)) as file:
        yield Store(FileAddress(prefix), file)


@pytest.fixture(params=["file_store", "file_ledger"])
def files(request: pytest.FixtureRequest) -> Store:
    """The serving state in SQLite, and the ledger."""
    found: Store = request.getfixturevalue(request.param)
    return found


def test_both_have_the_same_tables(
    file_store: FileStore, file_ledger: Store, postgres_store: Store
) -> None:
    serving = table_names(file_store, but=OF_ONE_ENGINE)
    assert len(serving) > 30
    assert table_names(file_ledger, but=OF_ONE_ENGINE) == sorted(OF_LEDGER)
    found = table_names(postgres_store, but=OF_ONE_ENGINE)
    assert found == sorted([*serving, *OF_LEDGER])


def test_their_columns_have_the_same_names_types_and_order(
    files: Store, postgres_store: Store
) -> None:
    for table in table_names(files, but=OF_ONE_ENGINE):
        assert described_table(postgres_store, table) == described_table(files, table), table


def test_their_rows_are_told_apart_by_the_same_columns(files: Store, postgres_store: Store) -> None:
    names = table_names(files, but=OF_ONE_ENGINE)
    found: dict[str, set[Key]] = {name: set() for name in names}
    for table, _, _, columns in read_rows(postgres_store, _POSTGRES_KEYS):
        if table in found:
            assert isinstance(columns, list)
            found[str(table)].add(tuple(columns))
    assert found == {table: keys_in_file(files, table) for table in found}


def keys_in_file(store: Store, table: str) -> set[Key]:
    listed = 'select name from pragma_index_list(?) where "unique" = 1'
    keys = {
        tuple(
            str(name)
            for (name,) in read_rows(
                store, "select name from pragma_index_info(?) order by seqno", index
            )
        )
        for (index,) in read_rows(store, listed, table)
    }
    rowid: list[Any] = read_rows(
        store, "select name from pragma_table_info(?) where pk > 0 order by pk", table
    )
    return (keys | {tuple(str(name) for (name,) in rowid)}) - {()}


def test_texts_compare_byte_by_byte(postgres_store: Store) -> None:
    """As in SQLite, in any collation of the database."""
    others = read_rows(
        postgres_store,
        "select table_name::text, column_name::text from information_schema.columns"
        " where table_schema = current_schema() and data_type = 'text'"
        " and collation_name is distinct from 'C'",
    )
    assert others == []


@pytest.mark.parametrize("table", sorted(OF_ONE_ENGINE - {"sqlite_sequence"}))
def test_the_tables_that_only_postgresql_has_are_there(table: str, postgres_store: Store) -> None:
    assert described_table(postgres_store, table)
