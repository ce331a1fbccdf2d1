"""Protects the agreement of the two schemas: whoever adds a table to one adds it to the other."""

from typing import Any

import pytest

from sql.store import FileStore, Store
from tests.sql.stored import described_table, read_rows, table_names

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


def test_both_have_the_same_tables(file_store: FileStore, postgres_store: Store) -> None:
    assert table_names(postgres_store) == table_names(file_store)
    assert len(table_names(file_store)) > 30


def test_their_columns_have_the_same_names_types_and_order(
    file_store: FileStore, postgres_store: Store
) -> None:
    for table in table_names(file_store):
        assert described_table(postgres_store, table) == described_table(file_store, table), table


def test_their_rows_are_told_apart_by_the_same_columns(
    file_store: FileStore, postgres_store: Store
) -> None:
    found: dict[str, set[Key]] = {name: set() for name in table_names(file_store)}
    for table, _, _, columns in read_rows(postgres_store, _POSTGRES_KEYS):
        if table in found:
            assert isinstance(columns, list)
            found[str(table)].add(tuple(columns))
    assert found == {table: keys_in_file(file_store, table) for table in found}


def keys_in_file(store: FileStore, table: str) -> set[Key]:
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
    return keys | {tuple(str(name) for (name,) in rowid)}


def test_texts_compare_byte_by_byte(postgres_store: Store) -> None:
    """As in SQLite, whatever order the database was created with."""
    others = read_rows(
        postgres_store,
        "select table_name::text, column_name::text from information_schema.columns"
        " where table_schema = current_schema() and data_type = 'text'"
        " and collation_name is distinct from 'C'",
    )
    assert others == []


TABLES = ["analysis_run", "chain_writer", "lease", "report_change", "schema_version"]


@pytest.mark.parametrize("table", TABLES)
def test_the_tables_that_only_postgresql_has_are_there(table: str, postgres_store: Store) -> None:
    assert described_table(postgres_store, table)
