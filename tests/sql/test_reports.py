"""Protects reports: they come back as they were written, whole, and the right tokens are due."""

import threading

import msgspec
import zstandard
from hypothesis import HealthCheck, given, settings

from core.primitives import Address, RawAmount
from core.report import PoolResultRow, Report
from sql.reports import (
    MOST_POOLS_IN_TABLE,
    list_due,
    read_refusal,
    read_report,
    set_creator,
    write_refusal,
    write_report,
)
from sql.rows import RefusalRow
from sql.store import Store
from sql.tokens import read_token, track_tokens
from tests.examples import one_in
from tests.sql.samples import address, bare_report, evidence_of, pool_result, reports

on_one_store = settings(
    max_examples=one_in(2),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def scan(store: Store, token: Address, at_s: int, *, is_settled: bool = True) -> None:
    write_report(store, bare_report(token, scanned_at_s=at_s, is_settled=is_settled))


def due(store: Store, *, now_s: int, at_most: int = 100) -> list[Address]:
    rows = list_due(store, chain_id=1, now_s=now_s, older_than_s=100, at_most=at_most)
    return [row.address for row in rows]


@on_one_store
@given(report=reports())
def test_a_report_comes_back_as_it_was_written(store: Store, report: Report) -> None:
    write_report(store, report)
    head = report.token
    assert read_report(store, chain_id=head.chain_id, address=head.address) == report


@on_one_store
@given(report=reports())
def test_the_tables_hold_what_the_body_says(store: Store, report: Report) -> None:
    mixed = msgspec.structs.replace(
        report,
        pools=None if report.pools is None else report.pools[::-1],
        holders=report.holders[::-1],
    )
    write_report(store, mixed)
    chain_id, token_address = report.token.chain_id, report.token.address
    by_body = read_report(store, chain_id=chain_id, address=token_address)
    with store.transaction() as tx:
        token = read_token(tx, chain_id=chain_id, address=token_address)
        assert token is not None
        tx.execute("reports/delete_body", token_id=token.token_id)
    assert read_report(store, chain_id=chain_id, address=token_address) == by_body
    with store.transaction() as tx:  # as a release with other fields may have written it
        foreign = zstandard.ZstdCompressor().compress(b'{"token": 3}')
        tx.execute("reports/insert_body", token_id=token.token_id, body=foreign)
    assert read_report(store, chain_id=chain_id, address=token_address) == by_body


@on_one_store
@given(first=reports(), second=reports())
def test_a_report_replaces_the_one_before(store: Store, first: Report, second: Report) -> None:
    where = {"chain_id": 1, "address": address(7)}
    for report in (first, second):
        head = msgspec.structs.replace(report.token, **where)
        write_report(store, msgspec.structs.replace(report, token=head))
    head = msgspec.structs.replace(second.token, **where)
    expected = msgspec.structs.replace(second, token=head)
    assert read_report(store, chain_id=1, address=address(7)) == expected


def test_the_same_address_on_another_chain_is_another_token(store: Store) -> None:
    scan(store, address(7), 1)
    assert read_report(store, chain_id=1, address=address(7))
    assert read_report(store, chain_id=56, address=address(7)) is None
    assert read_report(store, chain_id=1, address=address(8)) is None


def test_a_reader_never_sees_half_a_report(store: Store) -> None:
    """Each version has as many pieces of evidence as its time says."""
    versions = [
        msgspec.structs.replace(
            bare_report(address(7), scanned_at_s=count), evidence=evidence_of(count)
        )
        for count in range(1, 12)
    ]
    write_report(store, versions[0])
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
        write_report(store, version)
    is_done.set()
    for reader in readers:
        reader.join()
    assert not torn


def test_a_judged_token_stays_tracked_because_somebody_asked(store: Store) -> None:
    scan(store, address(7), 1)
    token = read_token(store, chain_id=1, address=address(7))
    assert token
    assert token.tracked_because == "request"
    assert due(store, now_s=10_000) == []  # nobody follows a token without a pool


def test_kinds_of_due_tokens_take_turns(store: Store) -> None:
    names = {name: address(at) for at, name in enumerate("abcdefgh", start=1)}
    with store.transaction() as tx:
        for block_number, token in enumerate(names.values()):
            track_tokens(
                tx, chain_id=1, addresses=[token], because="pool", block_number=block_number
            )
    scan(store, names["c"], 990)
    scan(store, names["d"], 500)
    scan(store, names["e"], 400)
    scan(store, names["f"], 995, is_settled=False)
    scan(store, names["g"], 991, is_settled=False)
    wanted = ["h", "g", "e", "b", "f", "d", "a"]
    assert due(store, now_s=1_000) == [names[name] for name in wanted]
    assert due(store, now_s=1_000, at_most=2) == [names["h"], names["g"]]


def test_a_refused_token_is_not_due_at_once_again(store: Store) -> None:
    token = address(1)
    with store.transaction() as tx:
        track_tokens(tx, chain_id=1, addresses=[token], because="pool", block_number=1)
    scan(store, token, 500)
    refusal = RefusalRow(code="not_a_token", reason="no decimals", refused_at_s=1_000)
    write_refusal(store, chain_id=1, address=token, refusal=refusal)
    assert read_refusal(store, chain_id=1, address=token) == refusal
    assert read_report(store, chain_id=1, address=token) is None
    assert due(store, now_s=1_001) == []
    assert due(store, now_s=1_100) == [token]
    scan(store, token, 1_200)
    assert read_refusal(store, chain_id=1, address=token) is None


def test_a_refusal_of_an_untracked_address_is_not_kept(store: Store) -> None:
    refusal = RefusalRow(code="not_a_contract", reason="no code", refused_at_s=1)
    write_refusal(store, chain_id=1, address=address(1), refusal=refusal)
    assert read_token(store, chain_id=1, address=address(1)) is None
    assert read_refusal(store, chain_id=1, address=address(1)) is None


def test_a_report_of_very_many_pools_is_whole_or_none(store: Store) -> None:
    """The tables keep the deepest; they are never taken for all."""
    pools = tuple(pool_result(ordinal=at) for at in range(MOST_POOLS_IN_TABLE + 5))
    report = msgspec.structs.replace(bare_report(address(7), scanned_at_s=1), pools=pools)
    write_report(store, msgspec.structs.replace(report, pools=pools[::-1]))
    assert read_report(store, chain_id=1, address=address(7)) == report
    set_creator(
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
    with store.transaction() as tx:
        token = read_token(tx, chain_id=1, address=address(7))
        assert token is not None
        kept = tx.fetch("reports/list_pools", PoolResultRow, token_id=token.token_id)
        assert kept == list(pools[:MOST_POOLS_IN_TABLE])
        tx.execute("reports/delete_body", token_id=token.token_id)
    assert read_report(store, chain_id=1, address=address(7)) is None
