"""Protects the statements: each holds on the empty schema, is loaded, and fits its struct."""

import ast
import re
import sqlite3
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from sql.accounts.ledger import LEDGER_QUERIES, LEDGER_SCHEMA
from sql.engine.statements import (
    QUERIES,
    SCHEMA,
    Queries,
    list_postgres_statements,
    list_statements,
    load_migrations,
    load_postgres_statement,
    load_statement,
)
from sql.lake.final_batches import SERVING_QUERIES
from sql.lake.lake_statements import LAKE_QUERIES, LAKE_SCANS
from tests.house.sources import module_name
from tests.house.statements import FOLDERS, READS, calls, code_of, is_named, names_in

NAME = re.compile(r"([a-z_]+/)?[a-z]+(_[a-z0-9]+)*")
STORE_NAMES = list_statements(QUERIES)
LEDGER_NAMES = list_statements(LEDGER_QUERIES)
SERVING_NAMES = list_statements(SERVING_QUERIES)
NOT_BOTH_UNDERSTAND = {
    "accuracy/list_pools",  # lists as parameters
    "accuracy/list_transfers",
    "add_calls",  # tables of JSON
    "filled/put_span",  # max of two values
    "find_usage",  # tables of JSON
    "messages/note_forgotten",  # max of two values
    "messages/take_turn",  # writers of other chains
    "pools/insert_first_sides",  # writers of other chains
    "pools/insert_second_sides",
    "pools/list_by_key",  # lists as parameters
    "pools/list_first_beside",
    "pools/list_of_token",
    "search/list_namesakes",
    "shapes/list_alike",  # lists as parameters
    "tokens/find_newest",  # writers of other chains
    "tokens/list_places",  # rows joined to one text
    "tokens/track_token",  # ids are not used up by tokens that have one
    "lake/count_launches",  # parameters that may be null
    "lake/list_closed",
    "lake/count_rows",  # no bound as null, not as -1
    *("lake/launches", "lake/new_pools", "lake/pools", "lake/tokens"),  # bytes as text
}
"""Statements with a text for each engine, and why."""


@pytest.fixture(scope="module")
def empty_store() -> Iterator[sqlite3.Connection]:
    store = sqlite3.connect(":memory:", isolation_level=None)
    store.create_function("from_hex", 1, bytes.fromhex, deterministic=True)
    for migration in load_migrations(SCHEMA):
        store.executescript(migration.text)
    yield store
    store.close()


@pytest.fixture(scope="module")
def empty_ledger() -> Iterator[sqlite3.Connection]:
    ledger = sqlite3.connect(":memory:")
    for migration in load_migrations(LEDGER_SCHEMA):
        ledger.executescript(migration.text)
    yield ledger
    ledger.close()


def names_of(name: str) -> set[str]:
    """Named parameters of a statement, of either engine's text."""
    folder = FOLDERS[name]
    return names_in(load_statement(name, folder)) | names_in(load_postgres_statement(name, folder))


def filled(text: str) -> dict[str, object] | list[object]:
    """A value that every column, limit and function takes, for each parameter of a statement."""
    names = names_in(text)
    values: dict[str, object] = {name: "[]" if name in LISTS else 1 for name in names}
    return values or [1] * code_of(text).count("?")


@pytest.mark.parametrize("name", STORE_NAMES)
def test_a_statement_of_the_store_holds_on_the_empty_schema(
    name: str, empty_store: sqlite3.Connection
) -> None:
    text = load_statement(name)
    # sqlite3 refuses a second statement by itself.
    empty_store.execute(f"explain {text}", filled(text))


@pytest.mark.parametrize("name", LEDGER_NAMES)
def test_a_statement_of_the_ledger_holds_on_the_empty_schema(
    name: str, empty_ledger: sqlite3.Connection
) -> None:
    text = load_statement(name, LEDGER_QUERIES)
    # sqlite3 refuses a second statement by itself.
    empty_ledger.execute(f"explain {text}", filled(text))


def test_a_name_is_of_one_statement() -> None:
    assert len(FOLDERS) == len(STORE_NAMES) + len(LEDGER_NAMES) + len(SERVING_NAMES)


def test_a_misspelt_statement_is_named(tmp_path: Path) -> None:
    with pytest.raises(LookupError, match="no SQL statement 'watches/find_wach' in"):
        load_statement("watches/find_wach")
    with pytest.raises(LookupError, match="no SQL statement 'find' in"):
        load_postgres_statement("find", written(tmp_path, "-- name: found\nselect 1\n"))


@pytest.mark.parametrize(
    "text",
    [
        "-- name: find\nselect 1\n\n-- name: find\nselect 2\n",
        "-- name: find\nselect 1\n\n-- name: list\nselect 2\n\n-- name: find postgres\nselect 3\n",
        "-- name: find mysql\nselect 1\n",
        "select 1\n\n-- name: find\nselect 1\n",
    ],
    ids=["defined twice", "not below its statement", "another engine", "without a name"],
)
def test_a_malformed_file_of_statements_is_rejected(text: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"own\.sql"):
        list_statements(written(tmp_path, text))


def test_a_block_is_kept_word_for_word(tmp_path: Path) -> None:
    first = "-- One number.\n\nselect 1 -- name: of nothing\n"
    own = "select 2\n"
    text = f"-- name: find\n{first}\n\n-- name: find postgres\n{own}\n-- name: list\nselect 3\n"
    queries = written(tmp_path, text)
    assert load_statement("find", queries) == first
    assert load_postgres_statement("find", queries) == own
    assert load_postgres_statement("list", queries) == load_statement("list", queries)
    assert list_statements(queries) == ["find", "list"]
    assert list_postgres_statements(queries) == ["find"]


def written(folder: Path, text: str) -> Path:
    path = folder / "own.sql"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("folder", [QUERIES, LEDGER_QUERIES], ids=["store", "ledger"])
def test_a_statement_opens_by_saying_what_one_row_is(folder: Queries) -> None:
    for name in list_statements(folder):
        assert NAME.fullmatch(name), name
        for text in (load_statement(name, folder), load_postgres_statement(name, folder)):
            assert re.match(r"--.+\n", text), f"{name} has no opening comment"
            assert "select *" not in text, name


def test_a_statement_differs_between_the_engines_only_where_it_has_to() -> None:
    found = {*list_postgres_statements(), *list_postgres_statements(LEDGER_QUERIES)}
    for folder in (SERVING_QUERIES, LAKE_QUERIES, LAKE_SCANS):
        found |= {f"lake/{name}" for name in list_postgres_statements(folder)}
    assert found == NOT_BOTH_UNDERSTAND


@pytest.mark.parametrize("name", STORE_NAMES + LEDGER_NAMES)
def test_a_statement_is_loaded_by_somebody(name: str) -> None:
    assert is_named(name)


NAMED = {"fetch", "fetch_one", "fetch_tuples", "execute"}
POSITIONAL = {"fetch_each", "execute_many"}


def test_a_result_has_exactly_the_fields_of_its_struct(empty_store: sqlite3.Connection) -> None:
    checked = 0
    for name, call, path, where in calls(*READS):
        if name not in STORE_NAMES or not isinstance(call.args[1], ast.Name):
            continue
        struct = getattr(import_module(module_name(path)), call.args[1].id)
        text = load_statement(name)
        empty_store.execute("begin")
        described = empty_store.execute(text, filled(text)).description
        empty_store.execute("rollback")
        assert {column[0] for column in described} == set(struct.__struct_fields__), where
        checked += 1
    assert checked > 20


def test_a_call_gives_a_statement_exactly_its_named_parameters() -> None:
    checked = 0
    for name, call, _, where in calls(*NAMED):
        text = load_statement(name, FOLDERS[name])
        assert "?" not in code_of(text), where
        given = {keyword.arg for keyword in call.keywords}
        if None not in given:  # none come from a dict
            assert given == names_of(name), where
            checked += 1
    assert checked > 50


def test_a_call_gives_a_statement_exactly_its_positional_parameters() -> None:
    checked = 0
    for name, call, _, where in calls(*POSITIONAL):
        text = load_statement(name, FOLDERS[name])
        assert not names_of(name), where
        rows = call.args[-1]
        row = rows.elt if isinstance(rows, ast.GeneratorExp) else None
        if isinstance(row, ast.Tuple) and not any(isinstance(one, ast.Starred) for one in row.elts):
            assert len(row.elts) == code_of(text).count("?"), where
            checked += 1
    assert checked >= 5


# --- plans ------------------------------------------------------------------------------------

SMALL = {"block", "checkpoint", "coverage"}
"""Tables with few rows per chain, however long it is followed."""

PARTIAL = {"token_incomplete", "batch_open", "task_by_worth", "task_by_time"}
"""Indexes of the few rows with a waiting reader."""

READS_A_CHAIN = {
    "jobs/list_jobs": "the jobs of an operator, of which there are at most a thousand",
    "jobs/list_unfinished": "runs under way: one a job at most",
    "status/list_chains": "counts, for an operator",
    "observations/insert_gap": "looks through the watched tokens, for a whole range",
    "tasks/put_changed_from": "looks through the watched tokens, at a reorg",
    "tokens/list_tracked": "lists all tokens of a chain",
    "watches/count_states": "counts the watches, which are few, for a scrape",
    "watches/list_keys": "lists the keys that have watches, which are few",
    "watched/delete_unwatched": "looks through what is kept of watched tokens",
    "watched/list_pools": "lists pools of the watched tokens",
    "watched/list_tokens": "lists the watched tokens",
}
SORTS = {
    "accuracy/add_up": "the counts of the blocks that have become final since the last time",
    "accuracy/list_counts": "the days within the retention, some hundred rows each",
    "launches/list_of_token": "a row for each platform of one token",
    "pools/list_of_token": "ranks the pools of one token",
    "search/list_namesakes": "the few namesakes of one page",
    "tokens/list_tracked": "lists all tokens of a chain",
    "trade_records/count_last_day": "at most four thousand trades of one token",
}
LISTS = ("bands", "others", "pool_ids", "pool_keys", "pools", "tokens")
"""Parameters that are JSON arrays."""

SCANNED = re.compile(r"SCAN (?!json_each|ranked|known|(un)?marked|due|\(subquery|CONSTANT)(\w+)")
SEARCHED = re.compile(r"SEARCH (\w+) USING (?:COVERING )?(?:INDEX (\w+)|[A-Z ]+) \((\w+)=\?\)")
"""Searches by one column alone. A chain, or a kind of tasks, may have any number of rows."""


def plan_of(name: str, store: sqlite3.Connection) -> list[str]:
    text = load_statement(name)
    rows = store.execute(f"explain query plan {text}", filled(text)).fetchall()
    return [str(row[3]) for row in rows]


@pytest.mark.parametrize("name", STORE_NAMES)
def test_what_a_statement_costs_does_not_grow_with_the_chain(
    name: str, empty_store: sqlite3.Connection
) -> None:
    steps = plan_of(name, empty_store)
    if name not in READS_A_CHAIN:
        assert not [step for step in steps if SCANNED.match(step)]
        wide = [found for step in steps if (found := SEARCHED.match(step))]
        assert not [
            found.string
            for found in wide
            if found[3] in {"chain_id", "kind"}
            and found[1] not in SMALL
            and found[2] not in PARTIAL
        ]
    sorted_rows = any("TEMP B-TREE" in step for step in steps)
    assert sorted_rows == (name in SORTS)


@pytest.mark.parametrize(
    ("name", "index"),
    [
        ("tasks/take_tasks", "task_by_worth"),
        ("tasks/wake_tasks", "task_by_time"),
        (
            "tokens/complete_transfers",
            "token_by_completeness (chain_id=? AND transfers_from_block=?)",
        ),
        (
            "tokens/recomplete_transfers",
            "token_by_completeness (chain_id=? AND transfers_from_block>?)",
        ),
        ("batches/find_open", "batch_open"),
        ("tokens/list_places", "INTEGER PRIMARY KEY (rowid>?)"),
        ("tokens/list_changes", "token_change_by_chain (chain_id=? AND rowid>?)"),
        ("transfers/list_of_token", "transfer_by_token"),
        (
            "liquidity/list_of_pool",
            "liquidity_event_by_pool (pool_no=? AND block_number<?)",
        ),
        ("liquidity/measure_pool", "liquidity_event_by_pool (pool_no=?)"),
        ("liquidity/delete_from", "PRIMARY KEY (chain_id=? AND block_number>?)"),
        ("liquidity/delete_old", "PRIMARY KEY (chain_id=? AND block_number<?)"),
        (
            "liquidity/delete_old",
            "PRIMARY KEY (chain_id=? AND block_number=? AND log_index=?)",
        ),
        ("pools/list_since", "pool_by_block (chain_id=? AND block_number>?)"),
        ("pools/list_of_token", "pool_side_by_other (chain_id=? AND token=?)"),
        ("pools/list_of_token", "pool_side_by_other (chain_id=? AND token=? AND other=?)"),
        ("pools/list_first_beside", "PRIMARY KEY (chain_id=? AND token=?)"),
        ("shapes/list_alike", "PRIMARY KEY (chain_id=? AND version=? AND band=?)"),
        ("shapes/put_in_band", "PRIMARY KEY (chain_id=? AND version=? AND band=? AND place<?)"),
        ("kin/list_by_shape", "token_shape_by_shape (shape_id=?)"),
        ("kin/list_by_funder", "funder_by_funder (chain_id=? AND funder=?)"),
        ("kin/list_by_funder", "report_by_creator (chain_id=? AND creator_address=?)"),
        ("accuracy/count_sales", "disagreement_by_token (token_id=? AND block_number<?)"),
        ("observations/count_powers_used", "observation_by_token (token_id=? AND block_number<?)"),
        ("pools/find_first_block", "PRIMARY KEY (chain_id=? AND token=?)"),
        ("trade_records/count_last_day", "PRIMARY KEY (token_id=? AND time_s>?)"),
        ("trade_records/count_last_day", "real_trade_by_token (token_id=? AND time_s>?)"),
        ("trade_records/count_spread", "PRIMARY KEY (token_id=?)"),
        ("trade_records/delete_from", "PRIMARY KEY (chain_id=? AND block_number>?)"),
        ("trade_records/delete_old", "last_trade_by_time (chain_id=? AND time_s<?)"),
        ("trade_records/list_final", "PRIMARY KEY (chain_id=? AND block_number<?)"),
        ("trades/list_newest", "trade_by_pool (pool_no=? AND block_number>?)"),
        ("trades/list_newest", "PRIMARY KEY (pool_no=? AND block_number>?)"),
    ],
)
def test_a_statement_is_answered_by_the_index_made_for_it(
    name: str, index: str, empty_store: sqlite3.Connection
) -> None:
    assert any(index in step for step in plan_of(name, empty_store))


def test_the_exceptions_are_of_statements() -> None:
    assert READS_A_CHAIN.keys() | SORTS.keys() <= set(STORE_NAMES)
