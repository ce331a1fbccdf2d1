"""Protects connections to PostgreSQL: unanswered statements end, pipelines are read, texts fit."""

import re
import threading
from pathlib import Path

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import StoreError
from sql.accounts.ledger import LEDGER_QUERIES
from sql.chain.blocks import list_blocks
from sql.engine.postgres.connection_limits import ConnectionLimits
from sql.engine.postgres.connection_pool import ConnectionPool
from sql.engine.postgres.postgres_database import PostgresDatabase
from sql.engine.postgres.statement_text import load_numbered, number_parameters
from sql.engine.statements import QUERIES, Queries, list_postgres_statements, list_statements
from sql.engine.store import Store
from tests.harness.parts.empty_databases import EmptyDatabases
from tests.harness.parts.postgres_server import PostgresServer
from tests.harness.parts.tcp_proxy import proxied
from tests.harness.store.sample_rows import block

HASTY = ConnectionLimits(connect_s=2.0, statement_s=0.6, silence_s=0.3, lock_s=0.3)


@pytest.mark.parametrize("is_closed_meanwhile", [False, True])
def test_a_statement_on_a_silent_wire_ends(
    postgres_server: PostgresServer, *, is_closed_meanwhile: bool
) -> None:
    caught: list[Exception] = []
    has_begun = threading.Event()

    def ask() -> None:
        try:
            with pool.lent() as connection, pool.watch.over(connection):
                wire.silence()
                has_begun.set()
                connection.execute("select 1")
        except psycopg.Error as error:
            caught.append(error)

    with proxied(postgres_server.port) as wire:
        pool = ConnectionPool(postgres_server.url(port=wire.port), name="far", limits=HASTY)
        asking = threading.Thread(target=ask, daemon=True)
        asking.start()
        assert has_begun.wait(10)
        if is_closed_meanwhile:
            pool.close()
        asking.join(10)
        pool.close()
        assert not asking.is_alive()
    assert "no answer within" in str(caught[0])


# --- pipelines ----------------------------------------------------------------------------------


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


# --- statement text -----------------------------------------------------------------------------

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
