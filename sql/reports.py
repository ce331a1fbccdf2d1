"""Storage of reports: each is written and read as a whole, by the token's id.

A report is read from its compressed JSON body. The tables hold the same data for SQL queries, and
are the fallback for a body that another release has written.
"""

from collections.abc import Sequence

import msgspec
import zstandard

from core.errors import StoreError
from core.fields.scan_findings import ScanFindings
from core.fields.static_findings import StaticFindings
from core.primitives import Address, Hash32, RawAmount
from core.report import (
    ClockLimitRow,
    EvidenceRow,
    HolderRow,
    PoolResultRow,
    Report,
    ReportRow,
)
from sql.finding_rows import from_rows, to_rows
from sql.rows import FindingRow, RefusalRow, TokenRow
from sql.store import Readable, Reader, Store, Transaction
from sql.tokens import read_token, track_tokens

_PARTS = ("head", "finding", "pool", "holder", "clock_limit", "evidence", "refusal", "body")

MOST_POOLS_IN_TABLE = 1_000
"""The deepest pools of a report; the body has all. Writing tens of thousands of rows with every
report is of little use to queries and costs more than the analysis."""

_BODY_LEVEL = 1
"""zstd level: higher ones take twice as long and save nothing on addresses and ids."""


class _Resolved(msgspec.Struct, frozen=True, kw_only=True):
    pools_resolved: bool


class _Checked(msgspec.Struct, frozen=True, kw_only=True):
    checked_at_s: int


class _Body(msgspec.Struct, frozen=True, kw_only=True):
    body: bytes


def write_report(store: Store, report: Report) -> None:
    """Store a report, replacing the token's former report or refusal.

    A token that is not tracked counts as requested, and is tracked from now on.
    """
    head = report.token
    with store.transaction() as tx:
        token_id = _tracked_id(tx, head)
        delete_reports(tx, token_id)
        tx.insert("report", [head], token_id=token_id, pools_resolved=report.pools is not None)
        tx.insert("report_finding", to_rows(report.static, report.scan), token_id=token_id)
        tx.insert("report_pool", _deepest(report.pools or ()), token_id=token_id)
        tx.insert("report_holder", report.holders, token_id=token_id)
        tx.insert("report_clock_limit", report.clock_limits, token_id=token_id)
        tx.insert("report_evidence", report.evidence, token_id=token_id)
        _insert_body(tx, token_id, report)


def set_creator(
    store: Store,
    *,
    chain_id: int,
    address: Address,
    block_hash: Hash32,
    creator: Address,
    balance_raw: RawAmount | None,
) -> None:
    """Set the creator in the token's report, if the report is still that of the given block.

    `balance_raw` is the creator's balance at that block; None if not known.
    """
    with store.transaction() as tx:
        token = read_token(tx, chain_id=chain_id, address=address)
        if token is None:
            return
        report = _read_body(tx, token.token_id) or _read(tx, token.token_id)
        if report is None or report.token.block_hash != block_hash:
            return
        tx.execute(
            "reports/update_creator",
            token_id=token.token_id,
            block_hash=block_hash,
            creator=creator,
            balance_raw=None if balance_raw is None else str(balance_raw),
        )
        head = msgspec.structs.replace(
            report.token, creator_address=creator, creator_balance_raw=balance_raw
        )
        tx.execute("reports/delete_body", token_id=token.token_id)
        _insert_body(tx, token.token_id, msgspec.structs.replace(report, token=head))


def read_report(store: Store, *, chain_id: int, address: Address) -> Report | None:
    """Return the token's report, or None when there is none.

    Pools come deepest first, holders by role and rank, the rest in written order.
    """
    with store.snapshot() as reader:
        token = read_token(reader, chain_id=chain_id, address=address)
        if token is None:
            return None
        return _read_body(reader, token.token_id) or _read(reader, token.token_id)


def walletless_check_of(store: Readable, *, chain_id: int, token: Address) -> int | None:
    """Return the Unix seconds of the last transfer check if it found no wallet to send from. None:
    it found one, or no check was made."""
    tracked = read_token(store, chain_id=chain_id, address=token)
    if tracked is None:
        return None
    row = store.fetch_one("reports/find_walletless_check", _Checked, token_id=tracked.token_id)
    return None if row is None else row.checked_at_s


def write_refusal(store: Store, *, chain_id: int, address: Address, refusal: RefusalRow) -> None:
    """Store that admission refused a tracked token; its former report is deleted.

    A refusal of an untracked address is not stored: callers can name any number of those.
    """
    with store.transaction() as tx:
        token = read_token(tx, chain_id=chain_id, address=address)
        if token is not None:
            delete_reports(tx, token.token_id)
            tx.insert("refusal", [refusal], token_id=token.token_id)


def read_refusal(store: Store, *, chain_id: int, address: Address) -> RefusalRow | None:
    """Return the admission refusal of a tracked token; None if its latest result is a report, or it
    has none."""
    with store.snapshot() as reader:
        token = read_token(reader, chain_id=chain_id, address=address)
        if token is None:
            return None
        return reader.fetch_one("reports/find_refusal", RefusalRow, token_id=token.token_id)


def list_due(
    store: Readable, *, chain_id: int, now_s: int, older_than_s: int, at_most: int
) -> list[TokenRow]:
    """Return tokens with a pool that need analysis: never analysed, unsettled, or analysed too long
    ago."""
    return store.fetch(
        "reports/list_due",
        TokenRow,
        chain_id=chain_id,
        before_s=now_s - older_than_s,
        at_most=at_most,
    )


def delete_reports(tx: Transaction, token_id: int) -> None:
    """Delete the report or refusal of one token."""
    for part in _PARTS:
        tx.execute(f"reports/delete_{part}", token_id=token_id)


def _tracked_id(tx: Transaction, head: ReportRow) -> int:
    token = read_token(tx, chain_id=head.chain_id, address=head.address)
    if token is None:
        track_tokens(
            tx,
            chain_id=head.chain_id,
            addresses=[head.address],
            because="request",
            block_number=head.block_number,
        )
        token = read_token(tx, chain_id=head.chain_id, address=head.address)
    if token is None:
        raise StoreError(path="token", reason=f"{head.address} was not kept")
    return token.token_id


def _deepest(pools: Sequence[PoolResultRow]) -> Sequence[PoolResultRow]:
    if len(pools) <= MOST_POOLS_IN_TABLE:
        return pools
    return sorted(pools, key=lambda row: row.ordinal)[:MOST_POOLS_IN_TABLE]


def _insert_body(tx: Transaction, token_id: int, report: Report) -> None:
    body = msgspec.json.encode(_in_order(report))
    packed = zstandard.ZstdCompressor(level=_BODY_LEVEL).compress(body)
    tx.execute("reports/insert_body", token_id=token_id, body=packed)


def _in_order(report: Report) -> Report:
    """Return the report with its rows in the order in which the tables return them."""
    pools = report.pools
    return msgspec.structs.replace(
        report,
        pools=None if pools is None else tuple(sorted(pools, key=lambda row: row.ordinal)),
        holders=tuple(sorted(report.holders, key=lambda row: (row.role, row.ordinal))),
    )


def _read_body(reader: Reader, token_id: int) -> Report | None:
    """Read the body; None if there is none, or it has another release's format."""
    found = reader.fetch_one("reports/find_body", _Body, token_id=token_id)
    if found is None:
        return None
    try:
        body = zstandard.ZstdDecompressor().decompress(found.body)
        return msgspec.json.decode(body, type=Report)
    except (zstandard.ZstdError, msgspec.DecodeError):
        return None


def _read(reader: Readable, token_id: int) -> Report | None:
    """Read a report from the tables; None if there is none, or the tables may not hold all of its
    pools."""
    head = reader.fetch_one("reports/find_head", ReportRow, token_id=token_id)
    findings = reader.fetch("reports/list_findings", FindingRow, token_id=token_id)
    resolved = reader.fetch_one("reports/find_pools_resolved", _Resolved, token_id=token_id)
    if head is None or not findings or resolved is None:
        return None
    pools = reader.fetch("reports/list_pools", PoolResultRow, token_id=token_id)
    if len(pools) >= MOST_POOLS_IN_TABLE:
        return None
    holders = reader.fetch("reports/list_holders", HolderRow, token_id=token_id)
    limits = reader.fetch("reports/list_clock_limits", ClockLimitRow, token_id=token_id)
    evidence = reader.fetch("reports/list_evidence", EvidenceRow, token_id=token_id)
    return Report(
        token=head,
        static=from_rows(findings, StaticFindings),
        scan=from_rows(findings, ScanFindings),
        pools=tuple(pools) if resolved.pools_resolved else None,
        holders=tuple(holders),
        clock_limits=tuple(limits),
        evidence=tuple(evidence),
    )
