"""Protects how statements are numbered, and that PostgreSQL takes each of them."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sql.accounts.ledger import LEDGER_QUERIES
from sql.engine.postgres.postgres_database import PostgresDatabase
from sql.engine.postgres.statement_text import load_numbered, number_parameters
from sql.engine.statements import QUERIES, Queries, list_postgres_statements, list_statements
from sql.engine.store import Store

CASES = [
    ("select 1", "select 1", ()),
    ("-- of $this: ?\nselect ?, ?", "select $1, $2", ()),
    ("select ?2, ?1, ?2", "select $2, $1, $2", ()),
    ("select $a, $b, $a", "select $1, $2, $1", ("a", "b")),
    ("select :b, :a::bigint", "select $1, $2::bigint", ("b", "a")),
    ("select a cross join b on c cross join d", "select a join b on c cross join d", ()),
    ("select $ab, $a", "select $1, $2", ("ab", "a")),
    ("select x::text, 'a$1'", "select x::text, 'a$1'", ()),
]


@pytest.mark.parametrize(("text", "numbered", "names"), CASES)
def test_parameters_are_numbered(text: str, numbered: str, names: tuple[str, ...]) -> None:
    found = number_parameters(text)
    assert (found.text, found.names) == (numbered, names)


@given(names=st.lists(st.from_regex(r"[a-z_][a-z0-9_]{0,5}", fullmatch=True), min_size=1))
def test_a_number_is_that_of_its_name(names: list[str]) -> None:
    found = number_parameters("select " + ", ".join(f"${name}" for name in names))
    numbers = [int(number) for number in re.findall(r"\$(\d+)", found.text)]
    assert [found.names[number - 1] for number in numbers] == names
    assert len(set(found.names)) == len(found.names)


@pytest.mark.parametrize(
    ("name", "folder"),
    [(name, folder) for folder in (QUERIES, LEDGER_QUERIES) for name in list_statements(folder)],
)
def test_a_statement_is_understood_on_the_empty_schema(
    name: str, folder: Queries, postgres_store: Store
) -> None:
    """Parsed and its types found, without a value for any parameter."""
    database = postgres_store._database
    assert isinstance(database, PostgresDatabase)
    text = load_numbered(name, folder).text
    with database._pool.lent() as connection:
        connection.execute(f"prepare tried as {text}")
        connection.execute("deallocate tried")


def test_a_text_of_postgresqls_own_stands_beside_sqlites() -> None:
    assert list_postgres_statements()
    assert set(list_postgres_statements()) <= set(list_statements())
