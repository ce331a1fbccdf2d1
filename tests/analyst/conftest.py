"""A store for analysts: tokens, pools, a report, and events in each of the three places."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from sql.analyst.bounds import Bounds, QueryResult
from sql.analyst.query_runner import run_sql
from sql.engine.store_files import StoreFiles
from sql.lake.final_batches import FinalBatches
from sql.lake.lake_file import Lake
from sql.lake.mover import close_batch, move_closed
from tests.harness.lake.serving_files import many_events, new_serving, write_batch, write_hot

Ask = Callable[..., QueryResult]

_ROWS = """
insert into block values (1, 7, x'00ab', x'00aa', 1700000000, null);
insert into checkpoint values (1, 'follow', 7, x'00ab'), (1, 'other', 99, null);
insert into coverage values (1, 'pools', 3, 9);
insert into launch values (1, zeroblob(19) || x'01', 'a-pad', x'0102', null, x'0304', 5, 6);
insert into history values (1, 0, 2, 30);
insert into trade_record values (1, 5, 1700000000, 40, 3, 31, 2);
insert into trade_day values (1, 19675, 30, 0), (1, 19676, 1, 2);
insert into refusal values (2, 'not_a_token', 'why', 5);
insert into report (
    token_id, pools_resolved, chain_id, address, block_number, block_hash, block_time_s,
    scanned_at_s, is_settled, name, symbol, decimals, supply_raw, burned_raw, ownership_renounced,
    is_open_source, privileged_spenders, send_tax
) values (
    1, 1, 1, zeroblob(19) || x'01', 7, x'00ab', 1700000000, 1700000009, 1, 'To' || char(0) || 'ken',
    'TKN', 2, '1000', '100', 1, 0, '0x01 0x02', 2.5
);
insert into report_finding values (1, 'is_proxy', 'true'), (1, 'can_selfdestruct', null);
insert into report_pool (
    token_id, ordinal, pool, kind, dex, quote, liquidity_usd, quote_side_usd, buy, is_launchpad
) values (1, 0, x'0a0b', 'AmmV2', 'a dex', x'0c', 1.5, 0.5, 'passed', 1);
insert into report_holder values (1, 'top', 0, x'0d', '250');
insert into report_power values
    (1, 0, 'pause_status_can_be_modified', 'stop', 'multisig', x'0e', 'none', '3 of 5',
     '0x8456cb59 0x3f4ba83a', 0, 1),
    (1, 1, 'mint_or_burn_function', 'mint', 'nobody', null, 'none', null, '', 1, 0);
insert into quote_token values (1, x'0202020202020202020202020202020202020202', 'USD', 3, 1);
insert into check_catalogue values
    (1, 'a policy', 'is_proxy high_tax', 'warning danger', 'A' || char(10) || 'B');
insert into judgement (
    token_id, catalogue_id, verdict, reasons, danger_checks, warning_checks, info_checks,
    notice_checks, safe_checks, unknown_checks, pools, statuses, outcomes
) values (1, 1, 'warning', 'warning_flags', 0, 1, 0, 0, 0, 1, 1, 'wu', 'tu');
insert into report_history values
    (1, 6, 1, 1699999000, 'safe', 1.0, null, null, null),
    (1, 7, 1, 1700000009, 'warning', 1.5, 2.5, 0,
     '[["verdict","safe","warning"],["buy_tax",null,"2.5"]]');
insert into accuracy_count values
    (1, 1699920000, -1, 'a dex', 'sell_tax', 'hour', 40, 2, 1, 3),
    (1, 1699920000, 7, 'a dex', 'sell_tax', 'hour', 1, 0, 0, 0);
insert into disagreement (
    chain_id, block_number, block_time_s, token_id, tx_hash, log_index, trader, pool, dex, flag,
    age, report_block, predicted, observed, is_certain, has_clock
) values (
    1, 7, 1700000000, 1, x'0a', 3, x'0b', x'0a0b', 'a dex', 'sell_tax', 'hour', 6, '2.5', '9.0',
    1, 0
);
insert into feed values (1, 1, 'reorg', null, 5, null, null, 1700000000, '{}');
insert into token_outcome values (1, zeroblob(19) || x'01', 'high_tax', 1, 6);
insert into trade values (1, 90, 0, 1, 1700000001, 1.0, -2.0, x'0f', x'1f');
insert into block_time values (1, 5, 1700000000);
insert into liquidity_event values
    (1, 4, 0, 1, x'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
        || zeroblob(32) || zeroblob(31) || x'0a', zeroblob(31) || x'05');
insert into liquidity_cliff values
    (1, 5, 0, zeroblob(19) || x'01', x'0a0b', 'a dex', 1700000000, null, 62.5);
insert into early_trade values (1, 90, 0, 1, 1700000001, 0, x'0f', x'1f', 2.0);
insert into early_trade values (1, 91, 0, 1, 1700000002, 0, null, x'2f', 2.0);
insert into early_transfer values
    (1, 3, 0, 1, x'0a', x'0b', x'0100', x'3f', 3), (1, 91, 1, 1, x'0c', x'0d', x'64', x'2f', 91);
insert into final_trade values (1, 80, 0, 2, 1700000000, 3.0, -4.0, null, null);
"""


def fill(files: StoreFiles) -> None:
    """Write 30 transfers into the lake, 20 outside it, 10 not yet final; 3 trades likewise."""
    with (
        closing(sqlite3.connect(files.serving, isolation_level=None)) as serving,
        closing(Lake.open(files)) as lake,
        closing(FinalBatches.open(files)) as batches,
    ):
        batch = write_batch(serving, many_events(30))
        serving.executescript(_ROWS)
        close_batch(batches, lake, 1, now_s=5, is_forced=True)
        move_closed(batches, lake, now_s=5)
        batch = write_batch(serving, many_events(20, from_block=10))
        serving.execute(
            "insert into final_trade values (?, 85, 0, 3, 1, 5.0, 6.0, x'0e', x'1e')", [batch]
        )
        write_hot(serving, many_events(10, from_block=20))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> StoreFiles:
    files = new_serving(tmp_path_factory.mktemp("store") / "assay")
    fill(files)
    return files


@pytest.fixture
def ask(store: StoreFiles) -> Ask:
    """Runs a statement on the store."""

    def run(sql: str, bounds: Bounds | None = None) -> QueryResult:
        return run_sql(store.prefix, sql, bounds)

    return run


@pytest.fixture
def empty_store(tmp_path: Path) -> StoreFiles:
    """A serving state without a lake."""
    return new_serving(tmp_path / "assay")
