"""Protects the statements: each holds on the empty schema, is loaded, and fits its struct."""

import ast
import re
import sqlite3
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import duckdb
import msgspec
import pytest

from sql.statements import (
    LEDGER_QUERIES,
    LEDGER_SCHEMA,
    QUERIES,
    SCHEMA,
    list_statements,
    load_migrations,
    load_statement,
)
from tests.house.sources import ROOT, WIRING, module_name, parsed, python_files

NAME = re.compile(r"([a-z_]+/)?[a-z]+(_[a-z0-9]+)*")
PARAMETER = re.compile(r"(?<![\w$:])[$:]([a-z_]\w*)")
STORE_NAMES = list_statements(QUERIES)
LEDGER_NAMES = list_statements(LEDGER_QUERIES)
CODE = python_files("sql", "indexer", "analysis", "api", *WIRING)

# Frames that a caller hands to a statement, as the empty tables they look like.
FRAMES = (
    "create view incoming_block as select * from block",
    "create view incoming_pool as select * from pool",
    "create view incoming_launch as select * from launch",
    "create table incoming_token (address varchar, block_number bigint)",
    "create table incoming_transfer (chain_id integer, block_number bigint, log_index integer,"
    " token varchar, sender varchar, recipient varchar,"
    " word0 ubigint, word1 ubigint, word2 ubigint, word3 ubigint, amount double)",
    "create table incoming_trade (chain_id integer, block_number bigint, log_index integer,"
    " time_s bigint, emitter varchar, pool_key varchar, kinds varchar[],"
    " amount0 double, amount1 double)",
    "create table gone_token (token_id integer)",
    "create table kept_token (token_id integer)",
)


@pytest.fixture(scope="module")
def empty_store() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(":memory:") as store:
        store.execute(load_statement("schema/create_version"))
        for migration in load_migrations(SCHEMA):
            store.execute(migration.text)
        for frame in FRAMES:
            store.execute(frame)
        yield store


@pytest.fixture(scope="module")
def empty_ledger() -> Iterator[sqlite3.Connection]:
    ledger = sqlite3.connect(":memory:")
    for migration in load_migrations(LEDGER_SCHEMA):
        ledger.executescript(migration.text)
    yield ledger
    ledger.close()


def nothing_for(text: str) -> dict[str, None]:
    """Every parameter of a statement, as NULL."""
    code = "\n".join(line for line in text.splitlines() if not line.startswith("--"))
    return dict.fromkeys(PARAMETER.findall(code))


@pytest.mark.parametrize("name", STORE_NAMES)
def test_a_statement_of_the_store_holds_on_the_empty_schema(
    name: str, empty_store: duckdb.DuckDBPyConnection
) -> None:
    text = load_statement(name)
    assert len(duckdb.extract_statements(text)) == 1
    empty_store.execute(f"explain {text}", nothing_for(text) or None)


@pytest.mark.parametrize("name", LEDGER_NAMES)
def test_a_statement_of_the_ledger_holds_on_the_empty_schema(
    name: str, empty_ledger: sqlite3.Connection
) -> None:
    text = load_statement(name, LEDGER_QUERIES)
    # sqlite3 refuses a second statement by itself.
    empty_ledger.execute(f"explain {text}", nothing_for(text))


@pytest.mark.parametrize("folder", [QUERIES, LEDGER_QUERIES], ids=["store", "ledger"])
def test_a_statement_opens_by_saying_what_one_row_is(folder: Path) -> None:
    for name in list_statements(folder):
        text = load_statement(name, folder)
        assert NAME.fullmatch(name), name
        assert re.match(r"--.+\n", text), f"{name} has no opening comment"
        assert "select *" not in text, name


def named_in(path: Path) -> Iterator[re.Pattern[str]]:
    """The statements a file names; a placeholder in an f-string stands for one word or more."""
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.JoinedStr):
            parts = [
                re.escape(str(part.value)) if isinstance(part, ast.Constant) else "[a-z_]+"
                for part in node.values
            ]
            yield re.compile("".join(parts))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield re.compile(re.escape(node.value))


@pytest.mark.parametrize("name", STORE_NAMES + LEDGER_NAMES)
def test_a_statement_is_loaded_by_somebody(name: str) -> None:
    assert any(pattern.fullmatch(name) for path in CODE for pattern in named_in(path))


def fetches() -> Iterator[tuple[str, type[msgspec.Struct], str]]:
    """Calls that read a statement, named in place, into a struct, named in place."""
    for path in CODE:
        for node in ast.walk(parsed(path)):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr in {"fetch", "fetch_one"}
                and len(node.args) >= 2
                and isinstance(node.args[0], ast.Constant)
                and isinstance(node.args[1], ast.Name)
            ):
                struct = getattr(import_module(module_name(path)), node.args[1].id)
                where = f"{path.relative_to(ROOT)}:{node.lineno}"
                yield str(node.args[0].value), struct, where


def test_a_result_has_exactly_the_fields_of_its_struct(
    empty_store: duckdb.DuckDBPyConnection,
) -> None:
    checked = 0
    for name, struct, where in fetches():
        if name not in STORE_NAMES:
            assert name in LEDGER_NAMES, f"{where}: {name} does not exist"
            continue
        text = load_statement(name)
        described = empty_store.execute(f"describe {text}", nothing_for(text) or None).fetchall()
        assert {column[0] for column in described} == set(struct.__struct_fields__), where
        checked += 1
    assert checked
