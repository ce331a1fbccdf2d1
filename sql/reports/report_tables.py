"""Storage of reports: each is written and read as a whole, by the token's address.

A report is read from its compressed JSON body. The tables hold what searches ask for.
"""

from collections.abc import Sequence

import msgspec

from core.evm.primitives import Address, Hash32, RawAmount
from core.report.judgement import Judge, Judgement
from core.report.report import PoolResultRow, Report, ReportRow
from core.report.rows import RefusalRow
from sql.engine.columns import blob
from sql.engine.database import Transaction
from sql.engine.store import Readable, Store
from sql.engine.table_rows import TokenRow
from sql.reports.disagreements import settle_disagreements
from sql.reports.finding_rows import to_rows
from sql.reports.judgements import put_judgement
from sql.reports.report_bodies import decode_body, encode_body
from sql.reports.report_history import add_to_history, forget_state
from sql.tokens.code_shapes import delete_shape, put_shape
from sql.tokens.creator_tables import read_creator
from sql.tokens.funder_tables import plan_funder
from sql.tokens.observations import settle_changes
from sql.tokens.search_entries import delete_search_entry, put_search_entry
from sql.tokens.task_queue import add_task, drop_task, put_task
from sql.tokens.tokens import read_token, track_tokens
from sql.watches.watch_events import tell_refusal, tell_watchers

_PARTS = ("report", "finding", "pool", "holder", "body", "judgement", "refusal")

MOST_POOLS_IN_TABLE = 1_000
"""The deepest pools of a report; the body has all. Writing tens of thousands of rows with every
report is of little use to queries and costs more than the analysis."""

_HISTORY_WORTH_REQUESTED = 1_000_000


class NextRefresh(msgspec.Struct, frozen=True, kw_only=True):
    """When the background is to analyse a token again, and what that is worth beside others."""

    worth: int
    due_s: int
    """Unix seconds."""


class _Checked(msgspec.Struct, frozen=True, kw_only=True):
    checked_at_s: int


class _Body(msgspec.Struct, frozen=True, kw_only=True):
    body: bytes


def write_report(
    store: Store, report: Report, refresh: NextRefresh, judgement: Judgement | None = None
) -> None:
    """Store a report, replacing the token's former report or refusal, and what is to be done next.

    A token that is not tracked counts as requested, and is tracked from now on. `judgement` is what
    the summary says of this very report; None: nobody judged it, so it has no verdict in SQL and no
    place in the history. Raises StoreError.
    """
    head = report.token
    with store.transaction(chain_id=head.chain_id) as tx:
        token = _tracked(tx, head)
        token_id = token.token_id
        with tx.pipelined():
            _delete_parts(tx, token_id)
            tx.insert(
                "report", [head], token_id=token_id, pools_resolved=int(report.pools is not None)
            )
            tx.insert("report_finding", to_rows(report.static, report.scan), token_id=token_id)
            tx.insert("report_pool", _deepest(report.pools or ()), token_id=token_id)
            tx.insert("report_holder", report.holders, token_id=token_id)
            _insert_body(tx, token_id, report)
            if judgement is not None:
                put_judgement(tx, token_id, judgement)
                if add_to_history(tx, token_id, report, judgement):
                    tell_watchers(tx, token_id, report, judgement)
            put_search_entry(
                tx,
                token_id=token_id,
                chain_id=head.chain_id,
                name=head.name,
                symbol=head.symbol,
                usd=sum(pool.quote_side_usd for pool in report.pools or ()),
            )
            put_shape(tx, token_id=token_id, chain_id=head.chain_id, shape=report.shape)
            _plan_tasks(tx, token, head, refresh)
            settle_changes(tx, token, head)
        settle_disagreements(tx, token, report)  # asks what a write changed


def set_creator(
    store: Store,
    *,
    chain_id: int,
    address: Address,
    block_hash: Hash32,
    creator: Address,
    balance_raw: RawAmount | None,
    judge: Judge = lambda _: None,
) -> None:
    """Set the creator in the token's report, if the report is still that of the given block.

    `balance_raw` is the creator's balance at that block; None if not known. The report is judged
    again with it; in the history it is from the next report on.
    """
    with store.transaction(chain_id=chain_id) as tx:
        token = read_token(tx, chain_id=chain_id, address=address)
        report = _read_body(tx, chain_id=chain_id, address=address)
        if token is None or report is None or report.token.block_hash != block_hash:
            return
        tx.execute(
            "reports/update_creator",
            token_id=token.token_id,
            block_hash=blob(block_hash),
            creator=blob(creator),
            balance_raw=None if balance_raw is None else str(balance_raw),
        )
        plan_funder(tx, token=token, creator=creator, now_s=report.token.scanned_at_s)
        head = msgspec.structs.replace(
            report.token, creator_address=creator, creator_balance_raw=balance_raw
        )
        known = msgspec.structs.replace(report, token=head)
        _insert_body(tx, token.token_id, known)
        judgement = judge(known)
        if judgement is not None:
            put_judgement(tx, token.token_id, judgement)


def read_report(store: Readable, *, chain_id: int, address: Address) -> Report | None:
    """Return the token's report; None if there is none, or it has another release's format.

    Pools come deepest first, holders by role and rank, the rest in written order. The shape of its
    code is not read.
    """
    return _read_body(store, chain_id=chain_id, address=address)


def walletless_check_of(store: Readable, *, chain_id: int, token: Address) -> int | None:
    """Return the Unix seconds of the last transfer check if it found no wallet to send from. None:
    it found one, or no check was made."""
    tracked = read_token(store, chain_id=chain_id, address=token)
    if tracked is None:
        return None
    row = store.fetch_one("reports/find_walletless_check", _Checked, token_id=tracked.token_id)
    return None if row is None else row.checked_at_s


def write_refusal(
    store: Store, *, chain_id: int, address: Address, refusal: RefusalRow, refresh: NextRefresh
) -> None:
    """Store that admission refused a tracked token; its former report is deleted.

    A refusal of an untracked address is not stored: callers can name any number of those.
    """
    with store.transaction(chain_id=chain_id) as tx:
        token = read_token(tx, chain_id=chain_id, address=address)
        if token is None:
            return
        delete_reports(tx, token.token_id)
        tx.insert("refusal", [refusal], token_id=token.token_id)
        tell_refusal(tx, token, code=refusal.code, refused_at_s=refusal.refused_at_s)
        drop_task(tx, "changed", token_id=token.token_id)
        drop_task(tx, "creator", token_id=token.token_id)
        drop_task(tx, "funder", token_id=token.token_id)
        drop_task(tx, "history", token_id=token.token_id)
        _plan_refresh(tx, token, refresh)


def read_refusal(store: Readable, *, chain_id: int, address: Address) -> RefusalRow | None:
    """Return the admission refusal of a tracked token; None if its latest result is a report, or it
    has none."""
    return store.fetch_one(
        "reports/find_refusal", RefusalRow, chain_id=chain_id, address=blob(address)
    )


def delete_reports(tx: Transaction, token_id: int) -> None:
    """Delete the report or refusal of one token, with its entry for searches. Its history stays."""
    _delete_parts(tx, token_id)
    forget_state(tx, token_id)
    delete_shape(tx, token_id)
    delete_search_entry(tx, token_id)


def _delete_parts(tx: Transaction, token_id: int) -> None:
    for part in _PARTS:
        tx.execute(f"reports/delete_{part}", token_id=token_id)


def _tracked(tx: Transaction, head: ReportRow) -> TokenRow:
    token = read_token(tx, chain_id=head.chain_id, address=head.address)
    if token is not None:
        return token
    (token,) = track_tokens(
        tx,
        chain_id=head.chain_id,
        seen={head.address: head.block_number},
        because="request",
    )
    return token


def _plan_tasks(tx: Transaction, token: TokenRow, head: ReportRow, refresh: NextRefresh) -> None:
    _plan_refresh(tx, token, refresh)
    now_s = head.scanned_at_s
    is_known = head.creator_address is not None or read_creator(
        tx, chain_id=head.chain_id, token=head.address
    )
    if head.is_settled and not is_known:
        add_task(tx, "creator", token=token, worth=now_s, due_s=now_s)
    if head.creator_address is not None:
        plan_funder(tx, token=token, creator=head.creator_address, now_s=now_s)
    requested = token.requested_at_block is not None
    worth = _HISTORY_WORTH_REQUESTED if requested else 0
    add_task(tx, "history", token=token, worth=worth, due_s=now_s)


def _plan_refresh(tx: Transaction, token: TokenRow, refresh: NextRefresh) -> None:
    """Tokens that are tracked only because of a request are analysed on request."""
    if token.tracked_because != "request":
        put_task(tx, "refresh", token=token, worth=refresh.worth, due_s=refresh.due_s)


def _deepest(pools: Sequence[PoolResultRow]) -> Sequence[PoolResultRow]:
    if len(pools) <= MOST_POOLS_IN_TABLE:
        return pools
    return sorted(pools, key=lambda row: row.ordinal)[:MOST_POOLS_IN_TABLE]


def _insert_body(tx: Transaction, token_id: int, report: Report) -> None:
    tx.execute("reports/insert_body", token_id=token_id, body=encode_body(report))


def _read_body(reader: Readable, *, chain_id: int, address: Address) -> Report | None:
    found = reader.fetch_one("reports/find_body", _Body, chain_id=chain_id, address=blob(address))
    return None if found is None else decode_body(found.body)
