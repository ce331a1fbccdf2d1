"""DuckDB files as release 0.3.0 left them, written in the SQL of that time."""

from pathlib import Path

import duckdb
import msgspec

from core.primitives import Address, RawAmount
from sql.duckdb_import.old_store import OLD_SCHEMA
from sql.statements import load_migrations
from tests.sql.samples import address, hash32

LAST_OF_0_3 = 17
"""Migrations that release 0.3.0 knew."""

CHAIN_ID = 1
TOKEN, LAUNCHED, REQUESTED = address(0xA), address(0xB), address(0xC)
HELD_FROM = 50
"""Lowest block that was held: those above may still be reorganised away."""


class OldTransfer(msgspec.Struct, frozen=True, kw_only=True):
    """One transfer of `TOKEN`."""

    block_number: int
    log_index: int
    sender: Address
    recipient: Address
    amount_raw: RawAmount


def write_old_store(path: Path, transfers: list[OldTransfer]) -> None:
    """Write a file with three tokens, a pool, a launch, reports and these transfers."""
    with duckdb.connect(str(path)) as file:
        file.execute("create table schema_version (version integer, name varchar)")
        for migration in load_migrations(OLD_SCHEMA)[:LAST_OF_0_3]:
            file.execute(migration.text)
            file.execute(
                "insert into schema_version values (?, ?)", [migration.version, migration.name]
            )
        _write_chain(file)
        _write_report(file)
        _write_transfers(file, transfers)


def _write_chain(file: duckdb.DuckDBPyConnection) -> None:
    file.executemany(
        "insert into token values (?, ?, ?, ?, ?, ?)",
        [
            (3, CHAIN_ID, TOKEN, "pool", 10, 20),
            (7, CHAIN_ID, LAUNCHED, "launch", 11, None),
            (9, CHAIN_ID, REQUESTED, "request", 12, None),
        ],
    )
    file.execute("insert into request values (?, ?, ?)", [CHAIN_ID, REQUESTED, 12])
    file.execute(
        "insert into pool values (?, ?, ?, null, 'uniswap_v2', 'AmmV2', null, ?, ?, ?, 30, null,"
        " null, null, 10, 4)",
        [CHAIN_ID, address(0x50), address(0x50), address(1), TOKEN, address(2)],
    )
    file.execute(
        "insert into launch values (?, ?, 'a-pad', ?, null, ?, 11, 1)",
        [CHAIN_ID, LAUNCHED, address(7), hash32(11)],
    )
    file.execute(
        "insert into creator values (?, ?, ?, 9, ?)", [CHAIN_ID, TOKEN, address(8), hash32(9)]
    )
    for number in (HELD_FROM, HELD_FROM + 1):
        file.execute(
            "insert into block values (?, ?, ?, ?, ?)",
            [CHAIN_ID, number, hash32(number), hash32(number - 1), 1_700_000_000 + number],
        )
    file.execute(
        "insert into checkpoint values (?, 'follow', ?, ?)",
        [CHAIN_ID, HELD_FROM + 1, hash32(HELD_FROM + 1)],
    )
    file.execute("insert into coverage values (?, 'transfers', 10, ?)", [CHAIN_ID, HELD_FROM + 1])
    file.execute("insert into history values (3, true, 2, 5)")
    file.execute("insert into refusal values (9, 'not_a_token', 'no decimals', 1000)")
    file.execute(
        "insert into undecoded values (?, 15, 2, ?, ?, 4, '0x00ff')",
        [CHAIN_ID, TOKEN, hash32(3)],
    )
    file.execute(
        "insert into trade values (?, 30, 1, 1700000030, ?, 5.0, -7.0)", [CHAIN_ID, address(0x50)]
    )


def _write_report(file: duckdb.DuckDBPyConnection) -> None:
    file.execute(
        "insert into report (token_id, pools_resolved, chain_id, address, block_number,"
        " block_hash, block_time_s, scanned_at_s, is_settled, name, symbol, decimals, supply_raw,"
        " burned_raw, privileged_spenders, others_raw)"
        " values (3, true, 1, ?, 40, ?, 1, 900, true, 'Token', 'TKN', 18, ?, '0', [?], '5')",
        [TOKEN, hash32(40), str(2**255), address(6)],
    )
    file.execute(
        "insert into report_static (token_id, mint_or_burn_function, is_proxy, timebomb,"
        " position_cap_can_be_modified, balance_update_function, allowance_update_function)"
        " values (3, true, false, 'true', 'pending', ['0xa9059cbb', '0x23b872dd'], [])"
    )
    file.execute(
        "insert into report_pool values (3, 0, ?, null, 'AmmV2', 'uniswap_v2', ?, 12.5, 6.0,"
        " 'passed', 0.0, 'refused', null, null, null, null, 0.25)",
        [address(0x50), address(2)],
    )
    file.execute("insert into report_holder values (3, 'top', 0, ?, '77')", [address(5)])
    file.execute(
        "insert into report_clock_limit values (3, 0, 'storage', ?, ?, 'block')",
        [hash32(1), str(2**200)],
    )
    file.execute("insert into report_evidence values (3, 0, 'key', '{}')")
    # The index of this table is what a replayed log makes deletions fail on.
    file.execute("insert into report_body values (3, 'of another form'::blob)")


def _write_transfers(file: duckdb.DuckDBPyConnection, transfers: list[OldTransfer]) -> None:
    owners = sorted({owner for one in transfers for owner in (one.sender, one.recipient)})
    numbers = {owner: at for at, owner in enumerate(owners, start=1)}
    for owner, number in numbers.items():
        file.execute("insert into address values (?, ?)", [number, owner])
    for one in transfers:
        words = [(one.amount_raw >> (64 * at)) & (2**64 - 1) for at in range(4)]
        file.execute(
            "insert into transfer values (1, ?, ?, 3, ?, ?, ?, ?, ?, ?, ?)",
            [
                one.block_number,
                one.log_index,
                numbers[one.sender],
                numbers[one.recipient],
                *words,
                float(one.amount_raw),
            ],
        )
