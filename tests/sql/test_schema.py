"""Protects the agreement of tables and structs, and files of other releases from this one."""

import subprocess
import sys
from pathlib import Path

import duckdb
import pytest
from msgspec import structs

from core import report
from core.errors import StoreError
from core.fields.scan_findings import ScanFindings
from core.fields.static_findings import StaticFindings
from core.primitives import Address, Selector
from sql import rows
from sql.columns import ADDED, NARROWED, TABLES, columns_of
from sql.reports import read_report
from sql.statements import load_migrations
from sql.store import Store
from sql.transfer_tables import TRANSFER_COLUMNS
from tests.sql.samples import block

IN_NO_TABLE = {"KeyRow"}  # in the ledger


def described(store: Store, table: str) -> list[tuple[str, str]]:
    with store.cursor() as cursor:
        return [(name, kind) for name, kind, *_ in cursor.execute(f"describe {table}").fetchall()]


@pytest.mark.parametrize("table", TABLES)
def test_a_table_is_its_struct(table: str, store: Store) -> None:
    own = [(column.name, column.sql_type) for column in columns_of(TABLES[table])]
    assert described(store, table) == [*ADDED.get(table, ()), *own]


def test_the_transfer_table_is_as_declared(store: Store) -> None:
    assert described(store, "transfer") == list(TRANSFER_COLUMNS)


def test_every_row_struct_has_a_table() -> None:
    structs = {
        name
        for name in (*vars(rows), *vars(report))
        if name.endswith("Row") and name != "Row" and name not in IN_NO_TABLE
    }
    assert structs == {row.__name__ for row in TABLES.values()}


def test_only_declared_integers_are_narrow(store: Store) -> None:
    for table in TABLES:
        narrow = {name for name, kind in described(store, table) if kind == "INTEGER"}
        assert narrow <= NARROWED | {"position"}, table


def test_opening_again_changes_nothing(path: Path) -> None:
    Store.open(path).close()
    again = Store.open(path)
    with again.cursor() as cursor:
        cursor.execute("select version, name from schema_version order by version")
        applied = cursor.fetchall()
    again.close()
    assert applied == [(step.version, step.name) for step in load_migrations()]


def test_an_older_file_is_brought_up_with_what_it_holds(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = load_migrations()
    monkeypatch.setattr("sql.migrate.load_migrations", lambda: steps[:2])
    old = Store.open(path)
    with old.transaction() as tx:
        tx.insert("block", [block(1)])
    old.close()
    monkeypatch.undo()

    with pytest.raises(StoreError, match="schema 2 is older than"):
        Store.open(path, read_only=True)
    store = Store.open(path)
    assert described(store, "report")
    assert len(store.fetch("blocks/list_window", rows.BlockRow, chain_id=1)) == 1
    store.close()


def test_reports_outlive_the_step_that_brought_the_contracts_clock(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = load_migrations()
    monkeypatch.setattr("sql.migrate.load_migrations", lambda: steps[:8])
    Store.open(path).close()
    monkeypatch.undo()
    with duckdb.connect(str(path)) as file:
        file.execute("insert into token values (7, 1, '0x7', 'request', 1, null)")
        file.execute(
            "insert into report (token_id, pools_resolved, chain_id, address, block_number,"
            " block_hash, block_time_s, scanned_at_s, is_settled, name, symbol, decimals,"
            " supply_raw, burned_raw, privileged_spenders)"
            " values (7, false, 1, '0x7', 1, '0x1', 1, 1, true, 'n', 's', 18, '1', '0', [])"
        )
        file.execute("insert into report_deadline values (7, 0, 'constant', null, 'block', '5')")
    store = Store.open(path)
    head = store.fetch_one("reports/find_head", report.ReportRow, token_id=7)
    assert head is not None
    assert (head.name, head.owner_slots_vacant, head.clock_block) == ("n", None, None)
    store.close()


def test_findings_outlive_the_step_that_made_them_rows(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = load_migrations()
    monkeypatch.setattr("sql.migrate.load_migrations", lambda: steps[:19])
    Store.open(path).close()
    monkeypatch.undo()
    with duckdb.connect(str(path)) as file:
        file.execute("insert into token values (7, 1, '0x7', 'request', 1, null)")
        file.execute(
            "insert into report (token_id, pools_resolved, chain_id, address, block_number,"
            " block_hash, block_time_s, scanned_at_s, is_settled, name, symbol, decimals,"
            " supply_raw, burned_raw, privileged_spenders, is_open_source, sell_tax_rises,"
            " creates_balances)"
            " values (7, true, 1, '0x7', 1, '0x1', 1, 1, true, 'n', 's', 18, '1', '0', [], false,"
            " true, false)"
        )
        file.execute(
            "insert into report_static (token_id, can_selfdestruct, is_proxy, timebomb,"
            " position_cap_can_be_modified, balance_update_function, allowance_update_function)"
            " values (7, true, false, 'true', 'pending', ['0xa9059cbb', '0x23b872dd'], [])"
        )
        file.execute("insert into report_body values (7, 'of another form'::blob)")
        before = file.execute("select key, value from v_findings order by key").fetchall()
    for _ in range(2):  # the second time as the log of the first leaves it
        store = Store.open(path)
        found = read_report(store, chain_id=1, address=Address("0x7"))
        with store.cursor() as cursor:
            after = cursor.execute("select key, value from v_findings order by key").fetchall()
        store.close()
        assert found is not None
        assert found.static == StaticFindings(
            can_selfdestruct=True,
            is_proxy=False,
            timebomb=True,
            position_cap_can_be_modified="pending",
            balance_update_function=(Selector("0xa9059cbb"), Selector("0x23b872dd")),
            allowance_update_function=(),
        )
        assert found.scan == ScanFindings(sell_tax_rises=True, creates_balances=False)
        assert set(before) <= set(after)
        assert {("sell_tax_rises", "true"), ("creates_balances", "false")} <= set(after)


def test_a_step_that_fails_leaves_the_file_as_it_was(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = load_migrations()
    bad = structs.replace(steps[1], text="create table half (a int); selec")
    monkeypatch.setattr("sql.migrate.load_migrations", lambda: (steps[0], bad))
    with pytest.raises(StoreError, match="selec"):
        Store.open(path)
    monkeypatch.undo()
    with duckdb.connect(str(path)) as file:
        assert file.execute("show tables").fetchall() == []


def test_a_newer_file_is_refused(path: Path) -> None:
    Store.open(path).close()
    newest = len(load_migrations())
    with duckdb.connect(str(path)) as file:
        file.execute("insert into schema_version values (?, 'from_the_future')", [newest + 1])
    with pytest.raises(StoreError, match=f"newer release wrote it .schema {newest + 1}") as caught:
        Store.open(path)
    assert caught.value.path == str(path)


def test_files_that_are_no_store_are_refused(path: Path, tmp_path: Path) -> None:
    with duckdb.connect(str(path)) as file:
        file.execute("create table theirs (a int)")
    with pytest.raises(StoreError, match="not one of ours"):
        Store.open(path)
    text = tmp_path / "notes.txt"
    text.write_text("not a database\n" * 1000)
    with pytest.raises(StoreError, match="not a valid DuckDB database"):
        Store.open(text)
    with pytest.raises(StoreError, match="no such file"):
        Store.open(tmp_path / "absent.duckdb", read_only=True)
    with pytest.raises(StoreError):
        Store.open(text / "below" / "a.duckdb")


def test_a_file_that_another_process_owns_says_so(path: Path) -> None:
    hold = (
        "import sys; from pathlib import Path; from sql.store import Store;"
        "store = Store.open(Path(sys.argv[1])); print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", hold, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as owner:
        assert owner.stdout
        assert owner.stdout.readline() == b"held\n"
        with pytest.raises(StoreError, match=f"another process owns it .process {owner.pid}"):
            Store.open(path)
        owner.communicate(b"")
    Store.open(path).close()
