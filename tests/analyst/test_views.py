"""Protects the views of analysts: each view has its columns, and every row once."""

import sqlite3
from contextlib import closing

import duckdb
import pytest

from sql.engine.store_files import StoreFiles
from sql.lake.final_batches import FinalBatches
from sql.lake.open_store import load_views, open_to_read
from tests.analyst.conftest import fill
from tests.harness.lake.serving_files import many_events

ZERO_ONE = "0x" + "00" * 19 + "01"


def described(connection: duckdb.DuckDBPyConnection, view: str) -> dict[str, str]:
    found = connection.execute("select * from pragma_table_info($1)", [view]).fetchall()
    return {row[1]: row[2] for row in found}


@pytest.fixture(scope="module")
def reader(store: StoreFiles) -> duckdb.DuckDBPyConnection:
    return open_to_read(store, memory_mb=300)


@pytest.mark.parametrize("view", load_views())
def test_a_view_answers_and_counts(view: str, reader: duckdb.DuckDBPyConnection) -> None:
    rows = reader.table(view).fetchall()
    counted = reader.table(view).count("*").fetchall()
    assert counted == [(len(rows),)]
    assert rows


COLUMNS = {
    "v_checkpoints": "chain stream number hash block_time",
    "v_coverage": "chain subject from_block to_block blocks",
    "v_findings": "chain token symbol key value",
    "v_histories": "chain token symbol transfers_from_block is_whole past_logs past_requests",
    "v_holders": "chain token symbol role ordinal owner amount held_pct",
    "v_launches": "chain token symbol launchpad emitter creator tx_hash block_number log_index",
    "v_powers": "chain token symbol ordinal what holder_kind holder bound detail functions finding"
    " is_harmless is_bound scanned_at",
    "v_pool_results": "chain token symbol ordinal dex kind pool pool_id quote liquidity_usd"
    " quote_side_usd buy buy_tax_pct sell sell_tax_pct error_code error_message is_launchpad",
    "v_pools": "chain dex kind variant pool pool_id factory token0 token1 fee_pct tick_spacing"
    " stable hooks block_number log_index",
    "v_tokens": "chain address name symbol decimals supply burned_supply owner_address"
    " ownership_renounced creator_address creator_balance is_launchpad_token launchpad_name"
    " tracked_because first_seen_block transfers_from_block report_block report_block_time"
    " scanned_at is_settled refused_with",
    "v_track_record": "chain token first_block first_trade_time sales buys sellers buyers"
    " spread_sellers seller_days",
    "v_trades": "chain block_number log_index block_time dex kind pool_key token0 token1"
    " amount0_raw amount1_raw",
    "v_transfers": "chain block_number log_index token symbol sender recipient amount amount_raw",
}
"""Columns that analysts' statements rely on, by view, in their order."""
NUMBERS = {"from_block", "to_block", "blocks", "number", "block_number", "transfers_from_block"}
FLOATS = {"amount", "amount_raw", "amount0_raw", "amount1_raw", "held_pct", "liquidity_usd"}


@pytest.mark.parametrize("view", COLUMNS)
def test_a_view_keeps_its_published_columns(view: str, reader: duckdb.DuckDBPyConnection) -> None:
    """New columns may be added; published ones keep their name, order and type."""
    published, columns = COLUMNS[view].split(), described(reader, view)
    assert [column for column in columns if column in published] == published
    for column in published:
        if column in NUMBERS:
            assert columns[column] == "BIGINT", column
        elif column in FLOATS:
            assert columns[column] == "DOUBLE", column
        elif column in {"block_time", "report_block_time", "scanned_at"}:
            assert columns[column] == "TIMESTAMP", column


def test_everything_has_a_comment(reader: duckdb.DuckDBPyConnection) -> None:
    """Every view and column, and no comment is of anything else."""
    views = reader.execute(
        "select view_name, comment from duckdb_views() where not internal"
    ).fetchall()
    columns = reader.execute(
        "select table_name || '.' || column_name, comment from duckdb_columns()"
        " where starts_with(table_name, 'v_')"
    ).fetchall()
    assert {name for name, _ in views} == set(load_views())
    assert len(columns) > 150
    lacking = [name for name, comment in (*views, *columns) if not comment]
    assert not lacking


def test_a_track_record_spreads_its_sellers(reader: duckdb.DuckDBPyConnection) -> None:
    rows = reader.execute(
        "select token, sales, sellers, spread_sellers, seller_days from v_track_record"
    ).fetchall()
    assert rows == [(ZERO_ONE, 40, 31, 21, 2)]


def test_powers_read_as_they_were_written(reader: duckdb.DuckDBPyConnection) -> None:
    rows = reader.execute(
        "select token, symbol, what, holder_kind, holder, detail, functions, is_harmless, is_bound"
        " from v_powers order by ordinal"
    ).fetchall()
    both = "0x8456cb59 0x3f4ba83a"
    assert rows == [
        (ZERO_ONE, "TKN", "stop", "multisig", "0x0e", "3 of 5", both, False, True),
        (ZERO_ONE, "TKN", "mint", "nobody", None, None, "", True, False),
    ]


def test_every_transfer_is_there_once(reader: duckdb.DuckDBPyConnection) -> None:
    rows = reader.execute(
        "select block_number, log_index, token, sender, recipient, amount_raw, amount_exact,"
        " epoch(block_time) from v_transfers order by all"
    ).fetchall()
    expected = [
        *many_events(30),
        *many_events(20, from_block=10),
        *many_events(10, from_block=20),
    ]
    assert [row[:2] for row in rows] == [(each.block_number, each.log_index) for each in expected]
    for row, event in zip(rows, expected, strict=True):
        assert int(row[3], 16) == event.sender
        assert int(row[4], 16) == event.recipient
        assert len(row[2]) == len(row[3]) == len(row[4]) == 42
        assert row[5] == pytest.approx(float(event.amount), rel=1e-15)
        assert row[6] == str(event.amount)
        assert row[7] == event.time_s


def test_rows_that_are_in_two_places_count_once(
    empty_store: StoreFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when the process that moves them ended before it had deleted any."""
    monkeypatch.setattr(FinalBatches, "delete_rows", lambda *_: iter(()))
    fill(empty_store)
    with closing(sqlite3.connect(empty_store.serving)) as serving:
        left = serving.execute("select count(*) from final_transfer").fetchone()
        assert left == (50,)
    with open_to_read(empty_store, memory_mb=300) as reader:
        assert reader.table("v_transfers").count("*").fetchall() == [(60,)]
        assert reader.table("v_trades").count("*").fetchall() == [(3,)]


def test_transfers_know_their_token(reader: duckdb.DuckDBPyConnection) -> None:
    found = reader.execute(
        "select distinct token, symbol from v_transfers where amount is not null"
    ).fetchall()
    assert found == [(ZERO_ONE, "TKN")]
    found = reader.execute(
        "select distinct amount_raw / amount from v_transfers where amount > 0"
    ).fetchall()
    assert [row[0] for row in found] == [pytest.approx(100)]


def test_every_trade_is_there_once(reader: duckdb.DuckDBPyConnection) -> None:
    rows = reader.execute(
        "select block_number, dex, pool_key, token0, amount0_raw, epoch(block_time)"
        " from v_trades order by 1"
    ).fetchall()
    assert rows == [
        (80, "a dex", "0x" + "02" * 20, ZERO_ONE, 3.0, 1_700_000_000),
        (85, "a dex", "0x" + "03" * 20, ZERO_ONE, 5.0, 1),
        (90, "a dex", "0x" + "01" * 20, ZERO_ONE, 1.0, 1_700_000_001),
    ]


def test_a_swap_is_told_from_the_tokens_side(reader: duckdb.DuckDBPyConnection) -> None:
    """The token has two decimals, the quote token three."""
    rows = reader.execute(
        "select block_number, token, symbol, quote_symbol, side, token_amount, quote_amount, price,"
        " price_usd, token_amount_raw, quote_amount_raw from v_swaps order by 1"
    ).fetchall()
    assert [row[1:5] for row in rows] == 3 * [(ZERO_ONE, "TKN", "USD", "sell")]
    amounts = [(80, 0.03, 0.004), (85, 0.05, 0.006), (90, 0.01, 0.002)]
    for row, (block, token, quote) in zip(rows, amounts, strict=True):
        assert row[0] == block
        assert row[5:9] == pytest.approx((token, quote, quote / token, quote / token))
        assert row[9:] == pytest.approx((100 * token, 1000 * quote))


def test_verdicts_and_changes_read_as_they_were_written(reader: duckdb.DuckDBPyConnection) -> None:
    """Against the API they are held in tests/formats/test_stored_verdicts.py."""
    flags = reader.execute("select flag, label, severity, status, value from v_flags").fetchall()
    assert flags == [
        ("is_proxy", "A", "warning", "warning", True),
        ("high_tax", "B", "danger", "unknown", None),
    ]
    verdicts = reader.execute("select token, verdict, reasons, judged_by from v_verdicts")
    assert verdicts.fetchall() == [(ZERO_ONE, "warning", "warning_flags", "a policy")]
    rows = reader.execute(
        "select token, block_number, what, before, after from v_changes order by what"
    ).fetchall()
    assert rows == [
        (ZERO_ONE, 7, "buy_tax", None, "2.5"),
        (ZERO_ONE, 7, "verdict", "safe", "warning"),
    ]
    kept = reader.execute(
        "select block_number, is_first, changes from v_report_history order by 1"
    ).fetchall()
    assert kept == [(6, True, 0), (7, False, 2)]


def test_a_report_reads_as_it_was_written(reader: duckdb.DuckDBPyConnection) -> None:
    (token,) = reader.execute(
        "select address, name, supply, burned_supply, ownership_renounced, is_settled,"
        " epoch(scanned_at), owner_address, refused_with from v_tokens where symbol = 'TKN'"
    ).fetchall()
    assert token == (ZERO_ONE, "To\0ken", 10.0, 1.0, True, True, 1_700_000_009, None, None)
    refused = reader.execute("select address from v_tokens where refused_with is not null")
    assert refused.fetchall() == [("0x" + "02" * 20,)]
    findings = dict(reader.execute("select key, value from v_findings").fetchall())
    assert findings["is_proxy"] == "true"
    assert findings["can_selfdestruct"] is None
    assert findings["is_open_source"] == "false"
    assert findings["ownership_renounced"] == "true"
    assert findings["transfer_success"] is None
    assert findings["send_tax"] == "2.5"
    assert findings["privileged_spenders"] == "0x01 0x02"
    holders = reader.execute("select token, owner, amount, held_pct from v_holders").fetchall()
    assert holders == [(ZERO_ONE, "0x0d", 2.5, 25.0)]
    pools = reader.execute("select pool, buy, is_launchpad from v_pool_results").fetchall()
    assert pools == [("0x0a0b", "passed", True)]
    launches = reader.execute("select token, symbol, creator, tx_hash from v_launches").fetchall()
    assert launches == [(ZERO_ONE, "TKN", None, "0x0304")]
    fees = reader.execute("select distinct fee_pct, stable from v_pools").fetchall()
    assert fees == [(0.3, True)]


def test_checkpoints_have_their_block_if_it_is_known(reader: duckdb.DuckDBPyConnection) -> None:
    rows = reader.execute(
        "select stream, number, hash, epoch(block_time) from v_checkpoints order by 1"
    ).fetchall()
    assert rows == [("follow", 7, "0x00ab", 1_700_000_000), ("other", 99, None, None)]


def test_a_store_without_a_lake_has_what_the_serving_state_has(empty_store: StoreFiles) -> None:
    with closing(sqlite3.connect(empty_store.serving, isolation_level=None)) as serving:
        serving.execute("insert into trade values (1, 90, 0, 1, 1700000001, 1.0, -2.0, null, null)")
    with open_to_read(empty_store, memory_mb=300) as reader:
        assert reader.table("v_trades").count("*").fetchall() == [(1,)]
        assert reader.table("v_tokens").count("*").fetchall() == [(5,)]


def test_a_reader_sees_one_state(empty_store: StoreFiles) -> None:
    with (
        closing(sqlite3.connect(empty_store.serving, isolation_level=None)) as serving,
        open_to_read(empty_store, memory_mb=300) as reader,
    ):
        serving.execute("insert into trade values (1, 90, 0, 1, 1700000001, 1.0, -2.0, null, null)")
        assert reader.table("v_trades").count("*").fetchall() == [(0,)]
