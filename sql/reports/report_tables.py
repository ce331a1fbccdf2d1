"""Tables of reports: each report is written and read as a whole, by the token's address.

A report is read from its compressed JSON body. The other tables serve searches.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any, TypeVar, get_type_hints

import msgspec

from core.evm.primitives import Address, RawAmount
from core.report.fields.field import list_keys
from core.report.powers import Power
from core.report.report import PoolResultRow, Report
from core.report.rows import RefusalRow
from sql.engine.columns import blob
from sql.engine.database import Transaction
from sql.engine.store import Readable
from sql.engine.table_rows import FindingRow, PowerRow
from sql.reports.report_bodies import decode_body, encode_body
from sql.reports.report_history import forget_state
from sql.tokens.code_shapes import delete_shape
from sql.tokens.search_entries import delete_search_entry
from sql.tokens.tokens import read_token

_PARTS = ("report", "finding", "pool", "holder", "power", "body", "judgement", "refusal")

MOST_POOLS_IN_TABLE = 1_000
"""The deepest pools of a report; the body has all. Tens of thousands of rows for every report are
of little use to queries and cost more than the analysis."""


class _Checked(msgspec.Struct, frozen=True, kw_only=True):
    checked_at_s: int


class _Body(msgspec.Struct, frozen=True, kw_only=True):
    body: bytes


def write_report(tx: Transaction, token_id: int, report: Report) -> None:
    """Store a report in place of the token's previous report or refusal."""
    _delete_parts(tx, token_id)
    pools_resolved = int(report.pools is not None)
    tx.insert("report", [report.token], token_id=token_id, pools_resolved=pools_resolved)
    tx.insert("report_finding", to_rows(report.static, report.scan), token_id=token_id)
    tx.insert("report_pool", _deepest(report.pools or ()), token_id=token_id)
    tx.insert("report_holder", report.holders, token_id=token_id)
    tx.insert("report_power", _power_rows(report.powers), token_id=token_id)
    _insert_body(tx, token_id, report)


def update_creator(
    tx: Transaction,
    token_id: int,
    report: Report,
    creator: Address,
    balance_raw: RawAmount | None,
) -> Report:
    """Set the creator in a stored report, and return the report with it.

    `balance_raw` is the creator's balance at the report's block; None if not known.
    """
    tx.execute(
        "reports/update_creator",
        token_id=token_id,
        block_hash=blob(report.token.block_hash),
        creator=blob(creator),
        balance_raw=None if balance_raw is None else str(balance_raw),
    )
    head = msgspec.structs.replace(
        report.token, creator_address=creator, creator_balance_raw=balance_raw
    )
    known = msgspec.structs.replace(report, token=head)
    _insert_body(tx, token_id, known)
    return known


def read_report(store: Readable, *, chain_id: int, address: Address) -> Report | None:
    """Return the token's report; None if there is none, or it has another release's format.

    Pools come deepest first, holders by role and rank, the rest in written order. The shape of its
    code is not read.
    """
    found = store.fetch_one("reports/find_body", _Body, chain_id=chain_id, address=blob(address))
    return None if found is None else decode_body(found.body)


def find_walletless_check(store: Readable, *, chain_id: int, token: Address) -> int | None:
    """Return the Unix seconds of the last transfer check if it found no wallet to send from. None:
    it found one, or no check was made."""
    tracked = read_token(store, chain_id=chain_id, address=token)
    if tracked is None:
        return None
    row = store.fetch_one("reports/find_walletless_check", _Checked, token_id=tracked.token_id)
    return None if row is None else row.checked_at_s


def write_refusal(tx: Transaction, token_id: int, refusal: RefusalRow) -> None:
    """Store that admission refused a tracked token. It must have no report and no refusal."""
    tx.insert("refusal", [refusal], token_id=token_id)


def read_refusal(store: Readable, *, chain_id: int, address: Address) -> RefusalRow | None:
    """Return the admission refusal of a tracked token; None if its latest result is a report, or it
    has none."""
    return store.fetch_one(
        "reports/find_refusal", RefusalRow, chain_id=chain_id, address=blob(address)
    )


def delete_reports(tx: Transaction, token_id: int) -> None:
    """Delete a token's report or refusal, with its entry for searches. The history stays."""
    _delete_parts(tx, token_id)
    forget_state(tx, token_id)
    delete_shape(tx, token_id)
    delete_search_entry(tx, token_id)


def _delete_parts(tx: Transaction, token_id: int) -> None:
    for part in _PARTS:
        tx.execute(f"reports/delete_{part}", token_id=token_id)


def _deepest(pools: Sequence[PoolResultRow]) -> Sequence[PoolResultRow]:
    if len(pools) <= MOST_POOLS_IN_TABLE:
        return pools
    return sorted(pools, key=lambda row: row.ordinal)[:MOST_POOLS_IN_TABLE]


def _power_rows(powers: Sequence[Power]) -> list[PowerRow]:
    return [
        PowerRow(
            ordinal=ordinal,
            check_key=power.check,
            what=power.what,
            holder_kind=power.holder_kind,
            holder=power.holder,
            bound=power.bound,
            detail=power.detail,
            functions=power.functions,
            is_harmless=power.is_harmless,
            is_bound=power.is_bound,
        )
        for ordinal, power in enumerate(powers)
    ]


def _insert_body(tx: Transaction, token_id: int, report: Report) -> None:
    tx.execute("reports/insert_body", token_id=token_id, body=encode_body(report))


T = TypeVar("T", bound=msgspec.Struct)


def to_rows(*findings: msgspec.Struct) -> list[FindingRow]:
    """Return one row per field of the structs, in their order."""
    return [
        FindingRow(key=key, value=None if value is None else _text(value))
        for group in findings
        for key, value in _items(group)
    ]


def from_rows(rows: Iterable[FindingRow], group: type[T]) -> T:
    """Return the findings of one struct; rows of other keys are left out, and a field without a row
    keeps its default.

    Raises msgspec.ValidationError for a value that is not of the field's type.
    """
    hints, lists = _hints(group), list_keys(group)
    values = {}
    for row in rows:
        if row.key in hints and row.value is not None:
            text = row.value.split() if row.key in lists else row.value
            values[row.key] = msgspec.convert(text, hints[row.key], strict=False)
        elif row.key in hints:
            values[row.key] = None
    return group(**values)


def _items(group: msgspec.Struct) -> Iterator[tuple[str, Any]]:
    return ((key, getattr(group, key)) for key in group.__struct_fields__)


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return " ".join(map(str, value))
    return str(value)


@cache
def _hints(group: type[msgspec.Struct]) -> dict[str, Any]:
    return get_type_hints(group)
