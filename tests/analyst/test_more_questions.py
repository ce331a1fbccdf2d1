"""Protects docs/notebooks/more_questions.py: its tables are the answers on known rows."""

import re
import runpy
import sqlite3
from contextlib import closing
from datetime import datetime
from pathlib import Path

import polars as pl
import pytest

from sql.engine.store_files import StoreFiles
from sql.lake.open_store import write_open_script
from tests.harness.lake.serving_files import new_serving
from tests.house.sources import ROOT

NOTEBOOK = ROOT / "docs" / "notebooks" / "more_questions.py"
TABLE = re.compile(r"(?:^# \|.*\n)+", re.M)

START_S = 1_699_999_200
"""22:00 on 14 November 2023, UTC: minute 0."""
HEAD_MIN = 170
BLOCKS_PER_MIN = 5
SUPPLY = 1_000
USD = bytes([0xEE]) * 20
NOBODY = bytes(20)
TRANSFER = bytes.fromhex("ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef")

# Symbol, platform, creator, verdict, can be sold, minute of the launch.
TOKENS = (
    ("GOOD", "alpha", 0xC1, "safe", True, 10),
    ("RUG", "alpha", 0xC2, "danger", False, 20),
    ("EARLY", "beta", 0xC2, "danger", True, 65),
    ("WASH", "beta", 0xC1, "warning", True, 70),
    ("NEW", "beta", 0xC3, "danger", False, 140),
)
# Minute, account, tokens and USD that came into the pool; negative: that went out.
TRADES = {
    "GOOD": ((11, 0xA1, -10, 10), (100, 0xA2, -10, 20)),
    "RUG": ((20, 0xA1, -50, 200), (40, 0xA2, -50, 200), (44, 0xA3, 100, -100)),
    "EARLY": ((66, 0xA1, -1, 2), (79, 0xA1, 1, -1)),
    "WASH": (
        *((71, 0xB1, -100, 100), (73, 0xB1, 100, -100)),
        *((100, 0xB1, -100, 100), (104, 0xB1, 100, -100)),
        (150, 0xB2, -100, 100),
    ),
    "NEW": ((141, 0xA1, -1, 1),),
}
# Minute, sender (None: the zero address), shares that were made or returned.
SHARES = {
    "GOOD": ((10, None, 1_000), (130, 0xC1, 100)),
    "RUG": ((20, None, 1_000), (45, 0xC2, 1_000)),
    "EARLY": ((65, None, 1_000), (75, 0xC2, 400), (80, 0xC2, 200)),
    "WASH": ((70, None, 1_000),),
    "NEW": ((140, None, 1_000),),
}
FLAGS = "high_tax liquidity_can_leave"
# Statuses of these flags: s safe, d danger, w warning, u unknown.
STATUSES = {"GOOD": "ss", "RUG": "sw", "EARLY": "dw", "WASH": "sw", "NEW": "du"}

# What, kind of holder, harmless, bound.
POWERS = {
    "GOOD": (("mint", "nobody", True, False), ("tax", "multisig", False, True)),
    "RUG": (("mint", "wallet", False, False),),
    "EARLY": (("mint", "wallet", False, False), ("tax", "wallet", False, False)),
}


def account(number: int) -> bytes:
    return bytes([number]) * 20


def pool_of(token_id: int) -> bytes:
    return account(0xD0 + token_id)


def at_s(minute: int) -> int:
    return START_S + 60 * minute


def block(minute: int) -> int:
    return 100 + BLOCKS_PER_MIN * minute


class Rows:
    """Rows of a serving state, inserted by table and columns."""

    def __init__(self, serving: sqlite3.Connection) -> None:
        self._serving = serving

    def add(self, table: str, columns: str, *values: object) -> None:
        names = columns.split()
        places = ", ".join("?" for _ in names)
        statement = f"insert into {table} ({', '.join(names)}) values ({places})"  # noqa: S608 - ours
        self._serving.execute(statement, values)


def write_rows(rows: Rows) -> None:
    head = block(HEAD_MIN)
    rows.add("quote_token", "chain_id address symbol decimals is_dollar", 1, USD, "USD", 0, 1)
    catalogue = "catalogue_id policy keys severities labels"
    rows.add("check_catalogue", catalogue, 1, "p", FLAGS, "danger warning", "A\nB")
    rows.add("block", "chain_id number hash parent_hash time_s", 1, head, b"", b"", at_s(HEAD_MIN))
    rows.add("checkpoint", "chain_id stream number", 1, "follow", head)
    for minute in range(HEAD_MIN + 1):
        rows.add("block_time", "chain_id number time_s", 1, block(minute), at_s(minute))
    for token_id in range(1, len(TOKENS) + 1):
        write_token(rows, token_id)
        write_events(rows, token_id)
    write_early_trades(rows)
    write_tax_changes(rows)
    write_accuracy(rows)


def write_token(rows: Rows, token_id: int) -> None:
    """Write the token with its launch, pool, report, verdict and powers."""
    symbol, platform, creator, verdict, can_sell, minute = TOKENS[token_id - 1]
    token, pool, launched = account(token_id), pool_of(token_id), block(minute)
    by_id = "token_id chain_id address"
    first = (token_id, 1, token)
    rows.add("token", f"{by_id} tracked_because first_seen_block", *first, "launch", launched)
    rows.add(
        "launch",
        "chain_id token slug emitter creator block_number log_index",
        *(1, token, platform, b"", account(creator), launched, 0),
    )
    rows.add(
        "pool",
        "pool_no chain_id pool_key pool dex kind factory token0 token1 block_number log_index",
        *(token_id, 1, pool, pool, "a dex", "AmmV2", b"", token, USD, launched, 1),
    )
    rows.add(
        "report",
        f"{by_id} pools_resolved block_number block_hash block_time_s scanned_at_s is_settled name"
        " symbol decimals supply_raw burned_raw creator_address privileged_spenders",
        *(*first, 1, block(HEAD_MIN), b"", at_s(HEAD_MIN), at_s(HEAD_MIN), 1, symbol),
        *(symbol, 0, str(SUPPLY), "0", account(creator), ""),
    )
    statuses = STATUSES[symbol]
    outcomes = statuses.translate(str.maketrans("sdw", "ftt"))
    rows.add(
        "judgement",
        "token_id catalogue_id verdict reasons danger_checks warning_checks info_checks"
        " notice_checks safe_checks unknown_checks can_sell pools statuses outcomes",
        *(token_id, 1, verdict, "", 0, 0, 0, 0, 0, 0, can_sell, 1, statuses, outcomes),
    )
    for ordinal, (what, kind, is_harmless, is_bound) in enumerate(POWERS.get(symbol, ())):
        rows.add(
            "report_power",
            "token_id ordinal check_key what holder_kind bound functions is_harmless is_bound",
            *(token_id, ordinal, what, what, kind, "none", "", is_harmless, is_bound),
        )


def write_events(rows: Rows, token_id: int) -> None:
    """Write the trades of the token's pool, and the logs of its shares."""
    symbol, pool = TOKENS[token_id - 1][0], pool_of(token_id)
    for minute, trader, tokens, dollars in TRADES[symbol]:
        rows.add(
            "trade",
            "chain_id block_number log_index pool_no time_s amount0 amount1 trader",
            *(1, block(minute), 10 + token_id, token_id, at_s(minute), tokens, dollars),
            account(trader),
        )
    for minute, sender, shares in SHARES[symbol]:
        made = [(NOBODY, account(0xC9))]
        # Shares that are sent to the pool are burnt there.
        moves = made if sender is None else [(account(sender), pool), (pool, NOBODY)]
        for place, (source, target) in enumerate(moves):
            rows.add(
                "liquidity_event",
                "chain_id block_number log_index pool_no topics data",
                *(1, block(minute), 20 + 2 * token_id + place, token_id),
                *(TRANSFER + bytes(12) + source + bytes(12) + target, shares.to_bytes(32)),
            )


def write_early_trades(rows: Rows) -> None:
    """RUG's first buyer takes a twentieth of the supply, GOOD's a two-hundredth."""
    for token_id, minute, amount in ((1, 11, 5), (2, 20, 50)):
        rows.add(
            "early_trade",
            "token_id block_number log_index chain_id time_s is_sale trader tx_hash amount",
            *(token_id, block(minute), 9, 1, at_s(minute), 0, account(0xA1), b"", amount),
        )


def write_tax_changes(rows: Rows) -> None:
    """One tax of EARLY falls, one becomes known, and one rises."""
    for minute, changes in (
        (75, None),
        (90, '[["sell_tax","3.0","2.0"],["buy_tax",null,"5.0"]]'),
        (165, '[["sell_tax","2.0","90.0"],["verdict","safe","danger"]]'),
    ):
        rows.add(
            "report_history",
            "chain_id block_number token_id scanned_at_s verdict changes",
            *(1, block(minute), 3, at_s(minute), "safe", changes),
        )


def write_accuracy(rows: Rows) -> None:
    for day, flag, agreed, disagreed, explained in (
        (19_675, "sell_success", 300, 2, 1),
        (19_676, "sell_success", 197, 1, 0),
        (19_676, "sell_tax", 200, 0, 0),
    ):
        rows.add(
            "accuracy_count",
            "chain_id day_s block_number dex flag age agreed disagreed explained uncounted",
            *(1, 86_400 * day, -1, "a dex", flag, "hour", agreed, disagreed, explained, 7),
        )


def answers_on(files: StoreFiles) -> dict[str, pl.DataFrame]:
    """Frames of the notebook on a store."""
    write_open_script(files)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ASSAY_STORE", str(files.prefix))
        found = runpy.run_path(str(NOTEBOOK), run_name="notebook")
    found["store"].close()
    frames: dict[str, pl.DataFrame] = found["answers"]
    return frames


def as_text(value: object) -> str:
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M}"
    if isinstance(value, bool):
        return str(value).lower()
    return "-" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def tables_of_notebook() -> list[list[list[str]]]:
    """Cells of each table, without the line below its head."""
    found = TABLE.findall(NOTEBOOK.read_text(encoding="utf-8"))
    tables = [
        [[cell.strip() for cell in line.strip("# |").split("|")] for line in table.splitlines()]
        for table in found
    ]
    return [[table[0], *table[2:]] for table in tables]


def test_each_table_of_the_notebook_is_the_answer(tmp_path: Path) -> None:
    files = new_serving(tmp_path / "assay")
    with closing(sqlite3.connect(files.serving)) as serving, serving:
        serving.executescript("delete from token; delete from pool")
        write_rows(Rows(serving))
    answers, tables = answers_on(files), tables_of_notebook()
    assert len(answers) == len(tables) == 10
    for (question, rows), table in zip(answers.items(), tables, strict=True):
        shown = [[as_text(value) for value in row] for row in rows.rows()]
        assert [rows.columns, *shown] == table, question


def test_an_empty_store_has_empty_answers(tmp_path: Path) -> None:
    """As on the first day: every question has an answer without rows."""
    answers = answers_on(new_serving(tmp_path / "assay"))
    assert [rows.height for rows in answers.values()] == [0] * 10
