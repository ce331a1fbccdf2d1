"""Protects reports: they are read as they were written, whole, and plan the next work."""

import threading
from typing import TypeVar

import msgspec
from hypothesis import HealthCheck, given, settings

from assay.service.record_report import NextRefresh, record_creator, record_refusal, record_report
from core.evm.primitives import Address, RawAmount
from core.process import zstd
from core.report.fields.scan_findings import ScanFindings
from core.report.fields.static_findings import StaticFindings
from core.report.powers import Power
from core.report.report import HolderRow, PoolResultRow, Report, ReportRow
from core.report.rows import RefusalRow
from sql.engine.columns import decode
from sql.engine.store import FileStore, Store
from sql.engine.table_rows import CreatorRow, FindingRow, PowerRow
from sql.reports.report_tables import MOST_POOLS_IN_TABLE, from_rows, read_refusal, read_report
from sql.tokens.creator_tables import write_creator
from sql.tokens.task_queue import NEW_WORTH
from sql.tokens.tokens import read_token, track_tokens
from tests.harness.bare_reports import bare_report
from tests.harness.examples import one_in
from tests.harness.store.sample_rows import (
    LATER,
    address,
    evidence_of,
    hash32,
    pool_result,
    reports,
)
from tests.harness.store.store_contents import column_names, read_rows, read_stored

T = TypeVar("T", bound=msgspec.Struct)

on_one_store = settings(
    max_examples=one_in(2),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def scan(store: Store, token: Address, at_s: int, *, is_settled: bool = True) -> None:
    record_report(store, bare_report(token, scanned_at_s=at_s, is_settled=is_settled), LATER)


@on_one_store
@given(report=reports())
def test_a_report_comes_back_as_it_was_written(store: Store, report: Report) -> None:
    record_report(store, report, LATER)
    head = report.token
    assert read_report(store, chain_id=head.chain_id, address=head.address) == report


@on_one_store
@given(report=reports())
def test_the_tables_say_what_the_body_says(store: Store, report: Report) -> None:
    mixed = msgspec.structs.replace(
        report,
        pools=None if report.pools is None else report.pools[::-1],
        holders=report.holders[::-1],
    )
    record_report(store, mixed, LATER)
    head = report.token
    assert read_report(store, chain_id=head.chain_id, address=head.address) == report
    token = read_token(store, chain_id=head.chain_id, address=head.address)
    assert token is not None
    number = token.token_id
    expected_report = report if isinstance(store, FileStore) else without_nul(report)
    assert in_table(store, "report", ReportRow, number) == [expected_report.token]
    assert in_table(store, "report_pool", PoolResultRow, number) == list(
        expected_report.pools or ()
    )
    assert in_table(store, "report_holder", HolderRow, number) == list(expected_report.holders)
    powers = in_table(store, "report_power", PowerRow, number)
    assert [
        Power(
            check=row.check_key,
            what=row.what,
            holder_kind=row.holder_kind,
            holder=row.holder,
            functions=row.functions,
            bound=row.bound,
            detail=row.detail,
        )
        for row in powers
    ] == list(expected_report.powers)
    assert [(row.is_harmless, row.is_bound) for row in powers] == [
        (power.is_harmless, power.is_bound) for power in expected_report.powers
    ]
    rows = in_table(store, "report_finding", FindingRow, number)
    assert from_rows(rows, StaticFindings) == expected_report.static
    assert from_rows(rows, ScanFindings) == expected_report.scan
    resolved = "select pools_resolved from report where token_id = ?"
    assert read_rows(store, resolved, number) == [(int(report.pools is not None),)]


def without_nul(report: Report) -> Report:
    """Return the report as texts of PostgreSQL can hold it."""
    text = msgspec.json.encode(report).replace(rb"\u0000", b"")
    return msgspec.json.decode(text, type=Report)


def in_table(store: Store, table: str, row: type[T], token_id: int) -> list[T]:
    """Rows of one token as structs, in order of their key."""
    query = f"select * from {table} where token_id = ? order by 1, 2, 3"  # noqa: S608
    found = read_stored(store, query, token_id)
    return decode(column_names(store, table), found, row)


def test_a_body_of_another_form_is_no_report(store: Store) -> None:
    """Another release may have written it; the next analysis replaces it."""
    scan(store, address(7), 1)
    token = read_token(store, chain_id=1, address=address(7))
    assert token is not None
    for body in (zstd.compress(b'{"token": 3}'), b"no zstd", b""):
        with store.transaction() as tx:
            tx.execute("reports/insert_body", token_id=token.token_id, body=body)
        assert read_report(store, chain_id=1, address=address(7)) is None
    scan(store, address(7), 2)
    assert read_report(store, chain_id=1, address=address(7)) is not None


@on_one_store
@given(first=reports(), second=reports())
def test_a_report_replaces_the_one_before(store: Store, first: Report, second: Report) -> None:
    where = {"chain_id": 1, "address": address(7)}
    for report in (first, second):
        head = msgspec.structs.replace(report.token, **where)
        record_report(store, msgspec.structs.replace(report, token=head), LATER)
    head = msgspec.structs.replace(second.token, **where)
    expected = msgspec.structs.replace(second, token=head)
    assert read_report(store, chain_id=1, address=address(7)) == expected


def test_the_same_address_on_another_chain_is_another_token(store: Store) -> None:
    scan(store, address(7), 1)
    assert read_report(store, chain_id=1, address=address(7))
    assert read_report(store, chain_id=56, address=address(7)) is None
    assert read_report(store, chain_id=1, address=address(8)) is None


def test_a_reader_never_sees_half_a_report(store: Store) -> None:
    """The number of pieces of evidence follows from the version's time."""
    versions = [
        msgspec.structs.replace(
            bare_report(address(7), scanned_at_s=count), evidence=evidence_of(count)
        )
        for count in range(1, 12)
    ]
    record_report(store, versions[0], LATER)
    torn: list[Report] = []
    is_done = threading.Event()

    def read() -> None:
        while not is_done.is_set():
            report = read_report(store, chain_id=1, address=address(7))
            if report is None or len(report.evidence) != report.token.scanned_at_s:
                torn.append(bare_report(address(7), scanned_at_s=0) if report is None else report)

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for version in versions * 3:
        record_report(store, version, LATER)
    is_done.set()
    for reader in readers:
        reader.join()
    assert not torn


def tasks_of(store: Store, token: Address) -> dict[object, tuple[object, ...]]:
    """Worth and time of the token's tasks, by kind."""
    query = "select kind, worth, due_s from task join token using (token_id) where address = ?"
    rows = read_rows(store, query, bytes.fromhex(token[2:]))
    return {kind: tuple(values) for kind, *values in rows}


def test_an_analysed_token_stays_tracked_because_somebody_asked(store: Store) -> None:
    scan(store, address(7), 1)
    token = read_token(store, chain_id=1, address=address(7))
    assert token
    assert (token.tracked_because, token.requested_at_block) == ("request", 1)
    assert "refresh" not in tasks_of(store, address(7))  # nobody follows a token without a pool


def test_a_report_plans_what_is_to_be_done_next(store: Store) -> None:
    requested, pooled, unsettled = address(1), address(2), address(3)
    refresh = NextRefresh(worth=7, due_s=900)
    with store.transaction() as tx:
        track_tokens(tx, chain_id=1, seen={pooled: 1, unsettled: 1}, because="pool")
    assert tasks_of(store, pooled) == {"refresh": (NEW_WORTH, 0)}
    for token in (requested, pooled, unsettled):
        report = bare_report(token, scanned_at_s=500, is_settled=token != unsettled)
        record_report(store, report, refresh)
    creator, history = (500, 500), (0, 500)
    assert tasks_of(store, pooled) == {"refresh": (7, 900), "creator": creator, "history": history}
    assert tasks_of(store, unsettled) == {"refresh": (7, 900), "history": history}
    assert tasks_of(store, requested).keys() == {"creator", "history"}
    assert tasks_of(store, requested)["history"] > history  # a caller waits for it


def test_a_token_whose_creator_is_known_is_not_looked_up_again(store: Store) -> None:
    scan(store, address(1), 1)
    assert "creator" in tasks_of(store, address(1))
    row = CreatorRow(chain_id=1, token=address(1), creator=None, block_number=1, tx_hash=None)
    write_creator(store, row)
    assert "creator" not in tasks_of(store, address(1))
    scan(store, address(1), 2)
    assert "creator" not in tasks_of(store, address(1))
    named = msgspec.structs.replace(
        bare_report(address(2), scanned_at_s=1).token, creator_address=address(3)
    )
    report = msgspec.structs.replace(bare_report(address(2), scanned_at_s=1), token=named)
    record_report(store, report, LATER)
    assert "creator" not in tasks_of(store, address(2))


def test_a_refusal_takes_the_place_of_the_report_and_of_its_tasks(store: Store) -> None:
    token = address(1)
    with store.transaction() as tx:
        track_tokens(tx, chain_id=1, seen={token: 1}, because="pool")
    scan(store, token, 500)
    refusal = RefusalRow(code="not_a_token", reason="no decimals", refused_at_s=1_000)
    again = NextRefresh(worth=0, due_s=1_100)
    record_refusal(store, chain_id=1, address=token, refusal=refusal, refresh=again)
    assert read_refusal(store, chain_id=1, address=token) == refusal
    assert read_report(store, chain_id=1, address=token) is None
    assert tasks_of(store, token) == {"refresh": (0, 1_100)}
    scan(store, token, 1_200)
    assert read_refusal(store, chain_id=1, address=token) is None


def test_a_refusal_of_an_untracked_address_is_not_kept(store: Store) -> None:
    refusal = RefusalRow(code="not_a_contract", reason="no code", refused_at_s=1)
    record_refusal(store, chain_id=1, address=address(1), refusal=refusal, refresh=LATER)
    assert read_token(store, chain_id=1, address=address(1)) is None
    assert read_refusal(store, chain_id=1, address=address(1)) is None


def test_a_report_of_very_many_pools_is_whole_or_none(store: Store) -> None:
    """The tables keep the deepest, and never present them as all."""
    pools = tuple(pool_result(ordinal=at) for at in range(MOST_POOLS_IN_TABLE + 5))
    report = msgspec.structs.replace(bare_report(address(7), scanned_at_s=1), pools=pools)
    record_report(store, msgspec.structs.replace(report, pools=pools[::-1]), LATER)
    assert read_report(store, chain_id=1, address=address(7)) == report
    record_creator(
        store,
        chain_id=1,
        address=address(7),
        block_hash=report.token.block_hash,
        creator=address(8),
        balance_raw=RawAmount(9),
    )
    named = read_report(store, chain_id=1, address=address(7))
    assert named is not None
    assert named.pools == pools
    assert (named.token.creator_address, named.token.creator_balance_raw) == (address(8), 9)
    token = read_token(store, chain_id=1, address=address(7))
    assert token is not None
    kept = in_table(store, "report_pool", PoolResultRow, token.token_id)
    assert kept == list(pools[:MOST_POOLS_IN_TABLE])
    (head,) = in_table(store, "report", ReportRow, token.token_id)
    assert head == named.token
    stale = hash32(99)
    record_creator(
        store,
        chain_id=1,
        address=address(7),
        block_hash=stale,
        creator=address(10),
        balance_raw=None,
    )
    assert read_report(store, chain_id=1, address=address(7)) == named
