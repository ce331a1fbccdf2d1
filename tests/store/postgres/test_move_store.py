"""Protects a store on its way to PostgreSQL: it arrives whole, or the target does not open."""

import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from itertools import count
from pathlib import Path

import pytest

from config.plans import load_plans
from config.store_address import FileAddress
from core.errors import StoreError
from sql.accounts.ledger import Ledger
from sql.engine.store import Store
from sql.engine.store_files import StoreFiles
from sql.move.move_store import move_store
from sql.move.target_database import SINGLETONS
from tests.harness.parts.empty_databases import EmptyDatabases, address_of
from tests.harness.store.child_functions import ROOT
from tests.harness.store.empty_files import new_store
from tests.harness.store.store_contents import OF_ONE_ENGINE, read_stored, table_names

pytestmark = pytest.mark.process

PRO = load_plans()["pro"]
ROWS = 7
_VALUES: dict[str, Callable[[int], object]] = {
    "INTEGER": lambda at: (1 << 62) + at,
    "TEXT": lambda at: f"text {at} \0 é",
    "BLOB": lambda at: bytes([at, 0, 255]),
    "REAL": lambda at: [0.1 * at, -0.0, 1e300, float("inf")][at % 4],
}
_MOVER = """
import sys
from pathlib import Path
from config.plans import load_plans
from config.store_address import FileAddress
from tests.harness.parts.empty_databases import address_of
from sql.move.move_store import move_store
say = lambda *what: print(*what, flush=True)
move_store(FileAddress(Path(sys.argv[1])), address_of(sys.argv[2]), say, rows_at_once=2)
"""


def value_of(name: str, kind: str, at: int, *, is_key: bool) -> object:
    """Numbers of rows are small, as they refer to one another."""
    is_number = is_key or name == "id" or name.endswith(("_id", "_no"))
    return at if is_number and kind == "INTEGER" else _VALUES[kind](at)


def fill(path: Path) -> None:
    """Rows of every type in each table that an empty file has none of; ids begin with 1."""
    with closing(sqlite3.connect(path)) as file, file:
        tables = "select name from sqlite_master where type = 'table' and name not like 'sqlite_%'"
        for (table,) in file.execute(tables).fetchall():
            if table in SINGLETONS or table == "bulk_folded":
                continue
            columns = file.execute("select name, type, pk from pragma_table_info(?)", (table,))
            facts = columns.fetchall()
            file.execute(f"delete from {table}")  # noqa: S608 - names of the project's schema
            for at in range(1, ROWS + 1):
                row = [
                    value_of(name, kind.upper(), at, is_key=bool(pk)) for name, kind, pk in facts
                ]
                places = ", ".join("?" * len(row))
                file.execute(f"insert into {table} values ({places})", row)  # noqa: S608


@pytest.fixture
def source(path: Path) -> FileAddress:
    """A store in files with rows in all tables."""
    new_store(path).close()
    address = FileAddress(path)
    Ledger.of_store(address).close()
    fill(StoreFiles(prefix=path).serving)
    fill(address.ledger)
    return address


@pytest.fixture
def target(empty_databases: EmptyDatabases) -> str:
    return empty_databases.create_bare()


def rows_of_files(address: FileAddress) -> dict[str, list[tuple[object, ...]]]:
    found = {}
    for path in (StoreFiles(prefix=address.path).serving, address.ledger):
        with closing(sqlite3.connect(path)) as file:
            names = "select name from sqlite_master where type = 'table'"
            for (table,) in file.execute(names).fetchall():
                rows = file.execute(f"select * from {table}").fetchall()  # noqa: S608
                found[str(table)] = sorted((plain(row) for row in rows), key=repr)
    return {table: rows for table, rows in found.items() if table not in OF_ONE_ENGINE}


def plain(row: tuple[object, ...]) -> tuple[object, ...]:
    return tuple(cell.replace("\0", "") if isinstance(cell, str) else cell for cell in row)


def rows_of_database(url: str) -> dict[str, list[tuple[object, ...]]]:
    with closing(Store.open(address_of(url))) as store:
        return {
            table: sorted(read_stored(store, f"select * from {table}"), key=repr)  # noqa: S608
            for table in table_names(store, but=OF_ONE_ENGINE)
        }


def test_a_move_that_is_killed_again_and_again_arrives_whole(
    source: FileAddress, target: str
) -> None:
    kills = 0
    for lines in count(1, 17):
        with subprocess.Popen(
            [sys.executable, "-c", _MOVER, str(source.path), target],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        ) as mover:
            assert mover.stdout is not None
            output_lines = [mover.stdout.readline() for _ in range(lines)]
            if not output_lines[-1]:
                assert mover.wait() == 0
                break
            mover.kill()
        kills += 1
        with pytest.raises(StoreError, match="a store is being moved into it"):
            Store.open(address_of(target))
    assert kills > 2
    wanted = rows_of_files(source)
    assert rows_of_database(target) == wanted
    assert sum(len(rows) == ROWS for rows in wanted.values()) > 40


def test_numbers_go_on_above_the_last_that_was_given(path: Path, target: str) -> None:
    new_store(path).close()
    address = FileAddress(path)
    with closing(Ledger.of_store(address)) as ledger:
        ledger.create_key(PRO, "", 1)
        ledger.create_key(PRO, "", 1)
    with closing(sqlite3.connect(address.ledger)) as file, file:
        file.execute("delete from api_key where key_id = 2")  # its number is not given again
    move_store(address, address_of(target), lambda *_: None)
    with closing(Ledger.of_store(address_of(target))) as moved:
        assert moved.create_key(PRO, "", 1).row.key_id == 3


def test_a_database_with_another_store_is_left_as_it_was(source: FileAddress, target: str) -> None:
    with closing(Ledger.of_store(address_of(target))) as ledger:
        ledger.create_key(PRO, "", 1)
    with pytest.raises(StoreError, match=r"it is not empty .its table api_key has rows."):
        move_store(source, address_of(target), lambda *_: None)
    with closing(Ledger.of_store(address_of(target))) as ledger:
        assert len(ledger.list_keys()) == 1


def test_files_that_change_between_two_runs_are_noticed(source: FileAddress, target: str) -> None:
    def stop(what: str, *_: int) -> None:
        if what == "checking":
            raise InterruptedError

    with pytest.raises(InterruptedError):
        move_store(source, address_of(target), stop)
    with closing(sqlite3.connect(source.ledger)) as file, file:
        file.execute("update usage set calls = calls - 1 where key_id = 3")
    with pytest.raises(StoreError, match="usage has other calls in the database"):
        move_store(source, address_of(target), lambda *_: None)
    with pytest.raises(StoreError, match="a store is being moved into it"):
        Store.open(address_of(target))


def test_a_store_that_is_being_written_is_not_moved(source: FileAddress, target: str) -> None:
    with (
        closing(Store.open(source)) as store,
        store.transaction(),
        pytest.raises(StoreError, match="end the service that runs on it first"),
    ):
        move_store(source, address_of(target), lambda *_: None)
