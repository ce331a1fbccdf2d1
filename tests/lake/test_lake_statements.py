"""Protects the lake's statements: each holds on an empty store, is loaded, and fits its struct."""

import ast
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from importlib import import_module
from pathlib import Path

import duckdb
import msgspec
import pytest

from sql.engine.statements import list_statements, load_statement
from sql.lake.extensions import sql_text
from sql.lake.final_batches import SERVING_QUERIES
from sql.lake.lake_file import connect_duckdb
from sql.lake.lake_statements import LAKE_QUERIES, load_lake_migrations
from tests.harness.lake.bulk_frames import tokens, transfers_of
from tests.harness.lake.serving_files import many_events, new_serving
from tests.house.sources import module_name
from tests.house.statements import CODE, READS, calls, named_in, names_in

LAKE_NAMES = list_statements(LAKE_QUERIES)
SERVING_NAMES = list_statements(SERVING_QUERIES)
OF_DUCKLAKE = re.compile(r"\bducklake_|\bfilename\b|\$scan\b|__ducklake")
"""Statements that need a real lake or a text, which run in other tests."""


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[duckdb.DuckDBPyConnection]:
    """An empty store whose lake is a database in memory."""
    files = new_serving(tmp_path_factory.mktemp("store") / "assay")
    with closing(connect_duckdb(memory_mb=100, spill=None)) as store:
        store.execute(f"attach {sql_text(files.serving)} as serving (type sqlite, read_only)")
        store.execute("attach ':memory:' as lake")
        for migration in load_lake_migrations():
            store.execute(migration.text)
        store.register("incoming_transfer", transfers_of(many_events(1)))
        store.register("incoming_token", tokens())
        store.register("stored_key", transfers_of(many_events(1)))
        yield store


def nothing_for(text: str) -> dict[str, None]:
    """Every parameter of a statement, as NULL."""
    return dict.fromkeys(names_in(text))


@pytest.mark.parametrize("name", [*LAKE_NAMES, *SERVING_NAMES])
def test_a_statement_says_what_it_gives_and_is_loaded(name: str) -> None:
    folder = LAKE_QUERIES if name in LAKE_NAMES else SERVING_QUERIES
    text = load_statement(name, folder)
    assert text.startswith("-- ")
    assert any(pattern.fullmatch(name) for path in CODE for pattern in named_in(path))


@pytest.mark.parametrize("name", SERVING_NAMES)
def test_a_statement_of_the_serving_state_uses_a_key(name: str, tmp_path: Path) -> None:
    """It must cost no more as the store grows."""
    files = new_serving(tmp_path / "assay")
    text = load_statement(name, SERVING_QUERIES)
    with closing(sqlite3.connect(files.serving)) as serving:
        plan = serving.execute(f"explain query plan {text}", nothing_for(text)).fetchall()
    scanned = [row[3] for row in plan if row[3].startswith("SCAN ")]
    of_few = re.compile(r"SCAN (batch|CONSTANT ROW|first_rows|\(subquery-\d+\))")
    assert all(of_few.match(step) for step in scanned), plan


def test_a_statement_of_the_lake_fits_its_struct(empty: duckdb.DuckDBPyConnection) -> None:
    structs = {
        name: getattr(import_module(module_name(path)), call.args[1].id)
        for name, call, path, _ in calls(*READS, names=LAKE_NAMES)
        if isinstance(call.args[1], ast.Name)
    }
    for name in LAKE_NAMES:
        text = load_statement(name, LAKE_QUERIES)
        if OF_DUCKLAKE.search(text):
            continue
        statement: type[msgspec.Struct] | None = structs.get(name)
        if statement is None:
            empty.execute(f"explain {text}", nothing_for(text) or None)
            continue
        described = empty.execute(f"describe {text}", nothing_for(text) or None).fetchall()
        assert {row[0] for row in described} == set(statement.__struct_fields__), name
