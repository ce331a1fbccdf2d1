"""Protects tables and structs, files of other releases, and the quote tokens as configured now."""

import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import get_type_hints

import msgspec
import pytest
from msgspec import structs

from core.errors import StoreError
from core.report import report, rows
from sql.chain.blocks import list_blocks
from sql.chain.quote_tokens import write_quote_tokens
from sql.engine import table_rows
from sql.engine.columns import columns_of
from sql.engine.statements import load_migrations
from sql.engine.store import Store
from sql.engine.store_files import StoreFiles
from tests.harness.built_in_chains import BUILT_IN_CHAINS
from tests.harness.store.sample_rows import block
from tests.harness.store.store_contents import Cells, described_table, read_rows

TABLES: dict[str, tuple[type[msgspec.Struct], tuple[str, ...]]] = {
    "block": (table_rows.BlockRow, ()),
    "checkpoint": (table_rows.CheckpointRow, ()),
    "coverage": (table_rows.CoverageRow, ()),
    "token": (table_rows.TokenRow, ()),
    "pool": (rows.PoolRow, ("pool_no",)),
    "launch": (rows.LaunchRow, ()),
    "undecoded": (table_rows.UndecodedRow, ()),
    "creator": (table_rows.CreatorRow, ()),
    "funder": (table_rows.FunderRow, ()),
    "history": (table_rows.HistoryRow, ("token_id",)),
    "code_answer": (table_rows.CodeAnswerRow, ()),
    "refusal": (rows.RefusalRow, ("token_id",)),
    "report": (report.ReportRow, ("token_id", "pools_resolved")),
    "report_finding": (table_rows.FindingRow, ("token_id",)),
    "report_pool": (report.PoolResultRow, ("token_id",)),
    "report_holder": (report.HolderRow, ("token_id",)),
    "report_power": (table_rows.PowerRow, ("token_id",)),
}

"""Tables of structs, with their columns in addition to the struct's fields."""

IN_NO_TABLE = {
    "KeyRow",  # in the ledger
    "TransferRow",  # amounts are stored as blobs, which sort and add faster than text
    "SwapRow",  # a trade is stored by the number of its pool
    "LiquidityLogRow",  # as a trade is
    "RealTradeRow",  # a trader is stored by the last bytes of its address
    "ClockLimitRow",  # in the report's body
    "EvidenceRow",  # in the report's body
}


def described(store: Store, table: str) -> dict[str, tuple[object, bool]]:
    """Type of each column, and whether it takes NULL."""
    return {
        column.name: (column.sql_type, column.is_nullable)
        for column in described_table(store, table)
    }


@pytest.mark.process
@pytest.mark.parametrize("table", TABLES)
def test_a_table_is_its_struct(table: str, store: Store) -> None:
    struct, added = TABLES[table]
    found = {name: kind for name, kind in described(store, table).items() if name not in added}
    optional = {
        field.name: isinstance(field.type, msgspec.inspect.UnionType) and field.type.includes_none
        for field in structs_of(struct)
    }
    assert found == {
        column.name: (column.sql_type, optional[column.name]) for column in columns_of(struct)
    }
    assert set(added) <= described(store, table).keys()


def structs_of(struct: type[msgspec.Struct]) -> tuple[msgspec.inspect.Field, ...]:
    kind = msgspec.inspect.type_info(struct)
    assert isinstance(kind, msgspec.inspect.StructType)
    return kind.fields


@pytest.mark.process
def test_every_row_struct_has_a_table() -> None:
    found = {
        name
        for name in (*vars(rows), *vars(table_rows), *vars(report))
        if name.endswith("Row") and name != "Row" and name not in IN_NO_TABLE
    }
    assert found == {struct.__name__ for struct, _ in TABLES.values()}


@pytest.mark.process
def test_every_table_of_the_lake_is_the_one_before_finality(store: Store) -> None:
    """A final row is the same row, by batch in place of its chain."""
    for name in ("transfer", "trade", "undecoded"):
        hot, final = described(store, name), described(store, f"final_{name}")
        del hot["chain_id"], final["batch"]
        assert final == hot, name


@pytest.mark.process
def test_the_file_is_its_owners_alone(path: Path) -> None:
    store = Store.open(path)
    modes = [stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()]
    assert modes == [0o600] * 3  # the file, its log and the log's index
    store.close()


@pytest.mark.process
def test_opening_again_changes_nothing(path: Path) -> None:
    Store.open(path).close()
    before = StoreFiles(prefix=path).serving.read_bytes()
    again = Store.open(path)
    assert read_rows(again, "pragma user_version") == [(len(load_migrations()),)]
    again.close()
    assert StoreFiles(prefix=path).serving.read_bytes() == before


@pytest.mark.process
def test_an_older_file_is_brought_up_with_what_it_holds(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = load_migrations()
    with monkeypatch.context() as older:
        older.setattr("sql.engine.sqlite_file.load_migrations", lambda _: steps[:1])
        old = Store.open(path)
        with old.transaction() as tx:
            tx.insert("block", [_first_form(block(1))])
        old.close()
    store = Store.open(path)
    assert described(store, "report")
    assert list_blocks(store, chain_id=1) == [block(1)]
    store.close()


def _first_form(row: msgspec.Struct) -> msgspec.Struct:
    """Return a block as the first schema has it."""
    names = [name for name in row.__struct_fields__ if name != "log_count"]
    hints = get_type_hints(type(row))
    form = msgspec.defstruct("Form", [(name, hints[name]) for name in names])
    return form(**{name: getattr(row, name) for name in names})


@pytest.mark.process
def test_a_step_that_fails_leaves_the_file_as_it_was(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = load_migrations()
    bad = structs.replace(steps[1], text="create table half (a int);\ncreate tabl broken (a int);")
    monkeypatch.setattr("sql.engine.sqlite_file.load_migrations", lambda _: (steps[0], bad))
    with pytest.raises(StoreError, match="tabl"):
        Store.open(path)
    with closing(sqlite3.connect(StoreFiles(prefix=path).serving)) as file:
        assert file.execute("select name from sqlite_master").fetchall() == []
        assert file.execute("pragma user_version").fetchall() == [(0,)]


@pytest.mark.process
def test_a_newer_file_is_refused(path: Path) -> None:
    Store.open(path).close()
    newest = len(load_migrations())
    with closing(sqlite3.connect(StoreFiles(prefix=path).serving)) as file:
        file.execute(f"pragma user_version = {newest + 1}")
    with pytest.raises(StoreError, match=f"newer release wrote it .schema {newest + 1}") as caught:
        Store.open(path)
    assert caught.value.path == str(StoreFiles(prefix=path).serving)


@pytest.mark.process
def test_files_that_are_no_store_are_refused(path: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(StoreFiles(prefix=path).serving)) as file:
        file.execute("create table block (theirs int)")
    with pytest.raises(StoreError, match="already exists"):
        Store.open(path)
    text = tmp_path / "notes"
    StoreFiles(prefix=text).serving.write_text("not a database\n" * 1000)
    with pytest.raises(StoreError, match="not a database"):
        Store.open(text)
    with pytest.raises(StoreError):
        Store.open(StoreFiles(prefix=text).serving / "below" / "a")


@pytest.mark.process
def test_two_processes_write_one_store(path: Path) -> None:
    """Each adds every second block; both see all of them in the end."""
    work = (
        "import sys; from pathlib import Path; from sql.engine.store import Store;"
        "from tests.harness.store.sample_rows import block;"
        "store = Store.open(Path(sys.argv[1]));\n"
        "for number in range(int(sys.argv[2]), 61, 2):\n"
        "    with store.transaction() as tx: tx.insert('block', [block(number)])\n"
        "store.close()"
    )
    children = [
        subprocess.Popen([sys.executable, "-c", work, str(path), str(first)]) for first in (1, 2)
    ]
    assert [child.wait(60) for child in children] == [0, 0]
    store = Store.open(path)
    assert list_blocks(store, chain_id=1) == [block(number) for number in range(1, 61)]
    store.close()


# --- quote tokens -------------------------------------------------------------------------------


def stored(store: Store) -> list[Cells]:
    return read_rows(
        store,
        "select chain_id, address, symbol, decimals, is_dollar from quote_token order by 1, 2",
    )


def test_every_chain_has_its_quote_tokens(store: Store) -> None:
    write_quote_tokens(store, BUILT_IN_CHAINS)
    expected = {
        (chain.id, anchor.address, anchor.symbol, anchor.decimals, int(anchor in chain.stables))
        for chain in BUILT_IN_CHAINS
        for anchor in chain.anchors
    }
    assert set(stored(store)) == expected


def test_what_is_not_configured_any_more_goes(store: Store) -> None:
    first, second = BUILT_IN_CHAINS[:2]
    write_quote_tokens(store, [first, second])
    one = first.stables[0]
    write_quote_tokens(store, [msgspec.structs.replace(first, stables=(one, one))])
    found = stored(store)
    assert {row[1] for row in found if row[0] == first.id} == {
        one.address,
        first.wrapped_native.address,
    }
    assert len([row for row in found if row[0] == second.id]) == len(second.anchors)
