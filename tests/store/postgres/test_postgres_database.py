"""Protects the serving state in PostgreSQL from outages and other writers, and its schema."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec
import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st
from psycopg.conninfo import make_conninfo

from config.store_address import FileAddress
from core.errors import StoreError
from sql.accounts.ledger import LEDGER_LAYOUT
from sql.chain.blocks import list_blocks
from sql.engine.database_layout import DatabaseLayout
from sql.engine.postgres.connection_limits import ConnectionLimits
from sql.engine.postgres.postgres_database import PostgresDatabase
from sql.engine.postgres.postgres_url import shown_url
from sql.engine.sqlite_file import SqliteFile
from sql.engine.statements import POSTGRES_SCHEMA, load_migrations
from sql.engine.store import SERVING, FileStore, Store
from sql.engine.store_files import StoreFiles
from tests.harness.parts.empty_databases import EmptyDatabases, address_of, connect_store
from tests.harness.parts.postgres_server import PostgresServer, running_postgres
from tests.harness.parts.tcp_proxy import TcpProxy, proxied
from tests.harness.store.sample_rows import block
from tests.harness.store.store_contents import (
    OF_LEDGER,
    OF_ONE_ENGINE,
    described_table,
    read_rows,
    table_names,
    write_rows,
)

HASTY = ConnectionLimits(statement_s=0.6, silence_s=0.6, lock_s=0.3, connect_s=2.0, connections=4)


def block_numbers(store: Store) -> list[int]:
    return [row.number for row in list_blocks(store, chain_id=1)]


def add_block(store: Store, number: int) -> None:
    with store.transaction(chain_id=1) as tx:
        tx.insert("block", [block(number)])


# --- turns ------------------------------------------------------------------------------------
@pytest.fixture
def hasty(empty_databases: EmptyDatabases) -> Iterator[Store]:
    with empty_databases.store(Path("files"), limits=HASTY) as opened:
        yield opened


def in_thread(work: threading.Thread) -> None:
    work.start()
    work.join()


@pytest.mark.fleet
@pytest.mark.parametrize(
    ("first", "second", "may_pass"),
    [(1, 56, True), (1, 1, False), (None, 1, False), (1, None, False), (None, None, False)],
)
def test_writers_wait_for_those_of_the_same_chain_only(
    hasty: Store, first: int | None, second: int | None, may_pass: bool
) -> None:
    outcomes: list[str] = []

    def write() -> None:
        try:
            with hasty.transaction(chain_id=second) as tx:
                tx.insert("block", [block(2)])
            outcomes.append("passed")
        except StoreError as error:
            outcomes.append(error.reason)

    with hasty.transaction(chain_id=first) as tx:
        tx.insert("block", [block(1)])
        in_thread(threading.Thread(target=write))
    refused = "transaction: another transaction has been writing for too long"
    assert outcomes == ["passed" if may_pass else refused]
    assert block_numbers(hasty) == ([1, 2] if may_pass else [1])


@pytest.mark.fleet
def test_more_readers_than_connections_are_told(hasty: Store) -> None:
    with ExitStack() as stack:
        for _ in range(HASTY.connections):
            stack.enter_context(hasty.snapshot())
        with pytest.raises(StoreError, match="all 4 connections are in use"):
            block_numbers(hasty)
    assert block_numbers(hasty) == []


# --- the server and the way to it -------------------------------------------------------------
@pytest.fixture(scope="module")
def own_server() -> Iterator[PostgresServer]:
    """One that is killed and started again."""
    with running_postgres(is_durable=True) as server:
        yield server


@pytest.fixture
def restarting(own_server: PostgresServer) -> Iterator[Store]:
    with closing(connect_store(own_server.url(), path=Path("files"))) as store:
        yield store
        write_rows(store, "delete from block")


@pytest.mark.fleet
def test_after_a_restart_reads_and_writes_go_on(
    restarting: Store, own_server: PostgresServer
) -> None:
    add_block(restarting, 1)
    own_server.kill()
    own_server.start()
    assert block_numbers(restarting) == [1]
    own_server.stop()
    own_server.start()
    add_block(restarting, 2)
    assert block_numbers(restarting) == [1, 2]


@pytest.mark.fleet
def test_a_transaction_that_the_server_does_not_survive_leaves_nothing(
    restarting: Store, own_server: PostgresServer
) -> None:
    with pytest.raises(StoreError), restarting.transaction(chain_id=1) as tx:
        tx.insert("block", [block(1)])
        own_server.kill()
        own_server.start()
        tx.insert("block", [block(2)])
    assert block_numbers(restarting) == []
    add_block(restarting, 3)
    assert block_numbers(restarting) == [3]


@pytest.mark.fleet
def test_a_server_that_is_down_is_an_error_until_it_is_up(
    restarting: Store, own_server: PostgresServer
) -> None:
    own_server.stop()
    try:
        for _ in range(2):
            with pytest.raises(StoreError) as caught:
                block_numbers(restarting)
            assert own_server.password not in str(caught.value)
    finally:
        own_server.start()
    assert block_numbers(restarting) == []


@pytest.fixture
def wire(postgres_server: PostgresServer) -> Iterator[TcpProxy]:
    with proxied(postgres_server.port) as proxy:
        yield proxy


@pytest.fixture
def far(empty_databases: EmptyDatabases, wire: TcpProxy) -> Iterator[Store]:
    """A store behind the wire."""
    with empty_databases.lent() as url:
        beyond = make_conninfo(url, port=wire.port, host="127.0.0.1")
        with closing(connect_store(beyond, path=Path("files"), limits=HASTY)) as store:
            yield store


@pytest.mark.fleet
def test_a_wire_that_goes_silent_is_an_error_in_time_and_then_forgotten(
    far: Store, wire: TcpProxy
) -> None:
    add_block(far, 1)
    wire.silence()
    with pytest.raises(StoreError, match=r"no answer within 1\.2 s"):
        block_numbers(far)
    with pytest.raises(StoreError):
        add_block(far, 2)
    wire.silence(is_silent=False)
    wire.cut()
    assert block_numbers(far) == [1]


@pytest.mark.fleet
def test_a_wire_that_was_cut_while_idle_is_not_noticed(far: Store, wire: TcpProxy) -> None:
    add_block(far, 1)
    wire.cut()
    assert block_numbers(far) == [1]
    wire.cut()
    add_block(far, 2)
    assert block_numbers(far) == [1, 2]


@pytest.mark.fleet
def test_a_wire_that_is_cut_before_the_commit_leaves_nothing(far: Store, wire: TcpProxy) -> None:
    with pytest.raises(StoreError), far.transaction(chain_id=1) as tx:
        tx.insert("block", [block(1)])
        wire.cut()
    assert block_numbers(far) == []
    add_block(far, 1)  # all again


@pytest.mark.fleet
def test_a_commit_whose_answer_is_lost_is_a_commit(
    empty_databases: EmptyDatabases, wire: TcpProxy
) -> None:
    """Else a caller would do all again."""
    with empty_databases.lent() as url:
        beyond = make_conninfo(url, port=wire.port, host="127.0.0.1")
        with (
            closing(connect_store(beyond, path=Path("files"))) as far,
            closing(connect_store(url, path=Path("files"))) as near,
        ):

            def cut_once_it_is_there() -> None:
                while not block_numbers(near):
                    pass
                wire.cut()
                wire.delay(0.0)

            cutter = threading.Thread(target=cut_once_it_is_there)
            with far.transaction(chain_id=1) as tx:
                tx.insert("block", [block(1)])
                wire.delay(0.5)  # each way: the answer is on its way when the row is there
                cutter.start()
            cutter.join()
            assert block_numbers(far) == [1]


@pytest.mark.fleet
def test_an_outcome_that_nobody_can_tell_is_said_so(far: Store, wire: TcpProxy) -> None:
    with (
        pytest.raises(StoreError, match="whether a transaction was committed is not known"),
        far.transaction(chain_id=1) as tx,
    ):
        tx.insert("block", [block(1)])
        wire.refuse()
        wire.cut()
    wire.refuse(is_refusing=False)
    assert block_numbers(far) == []


@pytest.mark.fleet
def test_a_transaction_that_is_still_open_is_ended_before_its_outcome_is_told(
    far: Store, wire: TcpProxy, postgres_server: PostgresServer
) -> None:
    """Else its commit, which is on its way, may arrive after its writer has done all again."""
    database = far._database
    assert isinstance(database, PostgresDatabase)
    near = make_conninfo(database._pool._url, port=postgres_server.port)
    with psycopg.connect(near) as lost:
        (number,) = lost.execute("select pg_current_xact_id()::text").fetchone() or ("",)
        assert database._outcome(str(number)) == "aborted"
        with pytest.raises(psycopg.OperationalError):
            lost.execute("commit")


# --- statements -------------------------------------------------------------------------------
class One(msgspec.Struct, frozen=True):
    """A row of one number."""

    number: int


def with_queries(queries: Path) -> DatabaseLayout:
    """The serving state with statements of the tests' own."""
    return msgspec.structs.replace(SERVING, queries=queries)


@pytest.fixture
def own_statements(tmp_path: Path, empty_databases: EmptyDatabases) -> Iterator[PostgresDatabase]:
    """A database with statements of the tests' own."""
    texts = {
        "wrong": "select nothing as number from nowhere",
        "slow": "select 1 as number from pg_sleep(30)",
        "count": "select number from generate_series(1, $most) as number",
    }
    queries = tmp_path / "own.sql"
    queries.write_text("".join(f"-- name: {name}\n{text}\n" for name, text in texts.items()))
    with (
        empty_databases.lent() as url,
        closing(PostgresDatabase(url, with_queries(queries), limits=HASTY)) as database,
    ):
        yield database


@pytest.mark.fleet
def test_an_error_names_the_statement(own_statements: PostgresDatabase) -> None:
    with pytest.raises(StoreError, match='wrong: relation "nowhere" does not exist'):
        own_statements.fetch("wrong", One)


@pytest.mark.fleet
def test_a_statement_that_takes_too_long_is_ended(own_statements: PostgresDatabase) -> None:
    with pytest.raises(StoreError, match="slow: canceling statement due to statement timeout"):
        own_statements.fetch("slow", One)
    assert own_statements.fetch_tuples("count", most=1) == [(1,)]


@pytest.mark.fleet
def test_rows_are_streamed_in_pieces(own_statements: PostgresDatabase) -> None:
    pieces = list(own_statements.stream("count", at_once=4, most=10))
    assert [len(piece) for piece in pieces] == [4, 4, 2]
    assert [number for piece in pieces for (number,) in piece] == list(range(1, 11))


@pytest.mark.fleet
@given(text=st.text(st.characters(exclude_categories=["Cs"])))
def test_a_text_comes_back_without_what_postgresql_cannot_hold(
    own_text: PostgresDatabase, text: str
) -> None:
    assert own_text.fetch_tuples("echo", text=text) == [(text.replace("\0", ""),)]


@pytest.fixture(scope="module")
def own_text(
    tmp_path_factory: pytest.TempPathFactory, empty_databases: EmptyDatabases
) -> Iterator[PostgresDatabase]:
    queries = tmp_path_factory.mktemp("queries") / "own.sql"
    queries.write_text("-- name: echo\nselect $text as text\n")
    with (
        empty_databases.lent() as url,
        closing(PostgresDatabase(url, with_queries(queries))) as database,
    ):
        yield database


# --- opening ----------------------------------------------------------------------------------
def open_at(url: str) -> None:
    PostgresDatabase(url, SERVING, limits=HASTY).close()


@pytest.mark.fleet
def test_a_newer_database_is_refused(empty_databases: EmptyDatabases) -> None:
    newest = len(load_migrations(POSTGRES_SCHEMA))
    url = empty_databases.create_bare()
    open_at(url)
    with psycopg.connect(url) as connection:
        connection.execute("insert into schema_version values (%s)", (newest + 1,))
    with pytest.raises(StoreError, match=f"newer release wrote it .schema {newest + 1}"):
        open_at(url)


@pytest.mark.fleet
def test_a_database_of_somebody_elses_is_left_as_it_was(empty_databases: EmptyDatabases) -> None:
    url = empty_databases.create_bare()
    with psycopg.connect(url) as connection:
        connection.execute("create table pool (theirs int)")
    with pytest.raises(StoreError, match="already exists"):
        open_at(url)
    with psycopg.connect(url) as connection:
        tables = "select tablename from pg_tables where schemaname = 'public'"
        assert connection.execute(tables).fetchall() == [("pool",)]


@pytest.mark.fleet
def test_a_database_that_is_not_in_utf8_is_refused(
    postgres_server: PostgresServer, empty_databases: EmptyDatabases
) -> None:
    with psycopg.connect(postgres_server.url(), autocommit=True) as admin:
        admin.execute("create database latin encoding 'LATIN1' template template0")
    with pytest.raises(StoreError, match="its encoding is LATIN1"):
        open_at(postgres_server.url("latin"))


@pytest.mark.fleet
def test_a_database_without_tables_is_no_store_yet(empty_databases: EmptyDatabases) -> None:
    address = address_of(empty_databases.create_bare())
    with pytest.raises(StoreError, match="there is no such store"):
        Store.open(address, must_exist=True)
    Store.open(address).close()
    Store.open(address, must_exist=True).close()


@pytest.mark.fleet
def test_two_that_open_a_new_database_at_once_make_one_schema(
    empty_databases: EmptyDatabases,
) -> None:
    url = empty_databases.create_bare()
    failed: list[StoreError] = []

    def open_it() -> None:
        try:
            open_at(url)
        except StoreError as error:
            failed.append(error)

    both = [threading.Thread(target=open_it) for _ in range(2)]
    for one in both:
        one.start()
    for one in both:
        one.join()
    assert not failed
    with closing(connect_store(url, path=Path("files"))) as store:
        versions = read_rows(store, "select version from schema_version order by version")
    assert versions == [(step.version,) for step in load_migrations(POSTGRES_SCHEMA)]


secrets = st.text("abcXYZ019!$&'()*+,;=-._~ %/?#@:", min_size=6)


@pytest.mark.fleet
@given(password=secrets.map(lambda text: f"5ecr3t{text}"))
def test_a_password_is_shown_nowhere(password: str) -> None:
    """Quoted as it should be, or not at all."""
    for written in (password, quote(password, safe="")):
        url = f"postgresql://somebody:{written}@127.0.0.1:1/base"
        try:
            shown = shown_url(url)
        except StoreError as error:
            shown = str(error)
        assert "5ecr3t" not in shown
        with pytest.raises(StoreError) as caught:
            open_at(url)
        assert "5ecr3t" not in str(caught.value)


# --- same schema --------------------------------------------------------------------------------

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
