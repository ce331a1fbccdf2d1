"""Protects connections to PostgreSQL: statements end, and readers go on from the newest number."""

import re
import threading
from pathlib import Path

import msgspec
import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.service.record_report import record_report
from core.errors import StoreError
from core.report.notifications import ALL_KINDS
from sql.accounts.ledger import LEDGER_QUERIES
from sql.chain.blocks import list_blocks
from sql.engine.postgres.connection_limits import ConnectionLimits
from sql.engine.postgres.connection_pool import ConnectionPool
from sql.engine.postgres.postgres_database import PostgresDatabase
from sql.engine.postgres.statement_text import load_numbered, number_parameters
from sql.engine.statements import QUERIES, Queries, list_postgres_statements, list_statements
from sql.engine.store import Store
from sql.tokens.tokens import find_newest_token_id, pack_places, track_tokens
from sql.watches.watch_messages import list_new
from sql.watches.watches import NewWatch, add_tokens, create_watch
from tests.harness.bare_reports import bare_report
from tests.harness.parts.empty_databases import EmptyDatabases
from tests.harness.parts.postgres_server import PostgresServer
from tests.harness.parts.tcp_proxy import proxied
from tests.harness.store.sample_rows import LATER, address, bare_verdict, block
from tests.harness.store.store_contents import read_rows

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


# --- reading on ---------------------------------------------------------------------------------


def test_whoever_reads_on_from_the_newest_token_misses_none(postgres_store: Store) -> None:
    """While other chains' ids are mixed in, and committed in any order."""
    chains, each = (1, 56, 8453), 60
    is_done = threading.Event()
    seen: dict[int, list[bytes]] = {chain_id: [] for chain_id in chains}

    def write(chain_id: int) -> None:
        for at in range(each):
            with postgres_store.transaction(chain_id=chain_id) as tx:
                track_tokens(tx, chain_id=chain_id, seen={address(at): 1}, because="pool")

    def read(chain_id: int) -> None:
        above, is_last = 0, False
        while not is_last:
            is_last = is_done.is_set()
            with postgres_store.snapshot() as reader:
                newest = find_newest_token_id(reader, chain_id=chain_id)
                page = pack_places(reader, chain_id=chain_id, above=above)
            at = range(0, len(page.addresses), 20)
            seen[chain_id] += [page.addresses[one : one + 20] for one in at]
            above = newest

    writers = [threading.Thread(target=write, args=(chain_id,)) for chain_id in chains]
    readers = [threading.Thread(target=read, args=(chain_id,)) for chain_id in chains]
    for thread in (*readers, *writers):
        thread.start()
    for writer in writers:
        writer.join()
    is_done.set()
    for reader in readers:
        reader.join()
    wanted = [bytes.fromhex(address(at)[2:]) for at in range(each)]
    assert seen == dict.fromkeys(chains, wanted)


def tell_of(chain_id: int, store: Store, number: int) -> None:
    """Write a report of the chain's token, with a change for its watchers."""
    report = bare_report(address(chain_id), chain_id=chain_id, scanned_at_s=number)
    head = msgspec.structs.replace(report.token, block_number=number)
    report_verdict = bare_verdict(verdict="danger" if number % 2 else "safe")
    record_report(store, msgspec.structs.replace(report, token=head), LATER, report_verdict)


def test_whoever_reads_on_from_the_newest_message_misses_none(postgres_store: Store) -> None:
    """Messages of several chains, which write at the same time."""
    chains, each = (1, 56, 8453), 40
    with postgres_store.transaction() as tx:
        new = NewWatch(key_id=1, name="w", kinds=ALL_KINDS, url=None, secret=None)
        watch_id = create_watch(tx, new, now_s=0)
        for chain_id in chains:
            addresses = [address(chain_id)]
            add_tokens(tx, watch_id, chain_id=chain_id, addresses=addresses, now_s=0)
    is_done = threading.Event()
    seen: list[int] = []

    def write(chain_id: int) -> None:
        for number in range(each):
            tell_of(chain_id, postgres_store, number + 1)

    def read() -> None:
        after, is_last = 0, False
        while not is_last:
            is_last = is_done.is_set()
            for row in list_new(postgres_store, after=after, at_most=1_000):
                after = row.id
                seen.append(row.id)

    writers = [threading.Thread(target=write, args=(chain_id,)) for chain_id in chains]
    reader = threading.Thread(target=read)
    for thread in (reader, *writers):
        thread.start()
    for writer in writers:
        writer.join()
    is_done.set()
    reader.join()
    stored = read_rows(postgres_store, "select id from watch_message order by id")
    assert [(number,) for number in seen] == stored
    assert len(stored) == len(chains) * (each - 1)  # of the first report there is no change
