"""Recording of an analysis: a report, a refusal or a creator, each in one transaction.

The subjects' tables, the notifications of watchers and the next tasks are written together, so that
a crash leaves all of them or none.
"""

from collections.abc import Sequence

import msgspec

from core.evm.primitives import Address, Hash32, RawAmount
from core.report.feed_lines import FeedDetail, FeedLine, VerdictLine
from core.report.notifications import (
    BASELINE,
    REFUSED,
    WatchEvent,
    baseline_event,
    has_kind,
    notified_state,
    refusal_event,
    refused_state,
    report_event,
)
from core.report.report import Report, ReportRow
from core.report.report_changes import state_of
from core.report.rows import RefusalRow
from core.report.verdict import FindVerdict, ReportVerdict
from sql.chain.feed_tables import write_lines
from sql.engine.database import Transaction
from sql.engine.store import Store
from sql.engine.table_rows import TokenRow
from sql.reports.disagreement_tables import settle_disagreements
from sql.reports.judgements import put_verdict
from sql.reports.report_history import HistoryStep, add_to_history, find_last_verdict
from sql.reports.report_tables import (
    delete_reports,
    read_report,
    update_creator,
    write_refusal,
    write_report,
)
from sql.tokens.code_shapes import put_shape
from sql.tokens.creator_tables import read_creator
from sql.tokens.funder_tables import plan_funder
from sql.tokens.observations import settle_changes
from sql.tokens.search_entries import put_search_entry
from sql.tokens.task_queue import add_task, drop_task, put_task
from sql.tokens.tokens import read_token, track_tokens
from sql.watches.watch_events import (
    EventSubject,
    Watcher,
    end_waiting,
    lock_watchers,
    put_notified_state,
    read_causes,
    read_notified_state,
    write_event,
)

_HISTORY_WORTH_REQUESTED = 1_000_000


class NextRefresh(msgspec.Struct, frozen=True, kw_only=True):
    """Next background analysis of a token."""

    worth: int
    """Rank among the tokens that are due; higher comes first."""
    due_s: int
    """Unix seconds."""


def record_report(
    store: Store, report: Report, refresh: NextRefresh, report_verdict: ReportVerdict | None = None
) -> None:
    """Store a report in place of the token's previous report or refusal, and plan what follows.

    An untracked token counts as requested, and is tracked from now on. Without
    `report_verdict` it has no verdict in SQL and no place in the history. Raises
    StoreError.
    """
    head = report.token
    with store.transaction(chain_id=head.chain_id) as tx:
        token = _track_requested(tx, head)
        token_id = token.token_id
        with tx.pipelined():
            write_report(tx, token_id, report)
            if report_verdict is not None:
                put_verdict(tx, token_id, report_verdict)
                step = add_to_history(tx, token_id, report, report_verdict)
                if step is not None:
                    _put_changed_verdict(tx, token_id, report, report_verdict, step)
                    _notify_of_report(tx, token_id, report, report_verdict)
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
        settle_disagreements(tx, token, report)  # needs the counts of changed rows: not pipelined


def record_refusal(
    store: Store, *, chain_id: int, address: Address, refusal: RefusalRow, refresh: NextRefresh
) -> None:
    """Store the refusal of a tracked token in place of its previous report or refusal.

    That of an untracked address is not stored: callers can name any number of those.
    """
    with store.transaction(chain_id=chain_id) as tx:
        token = read_token(tx, chain_id=chain_id, address=address)
        if token is None:
            return
        verdict_before = find_last_verdict(tx, token.token_id)
        delete_reports(tx, token.token_id)
        if verdict_before is not None:
            write_lines(tx, [_refusal_line(token, refusal, verdict_before)], chain_id=chain_id)
        write_refusal(tx, token.token_id, refusal)
        _notify_of_refusal(tx, token, refusal)
        drop_task(tx, "changed", token_id=token.token_id)
        drop_task(tx, "creator", token_id=token.token_id)
        drop_task(tx, "funder", token_id=token.token_id)
        drop_task(tx, "history", token_id=token.token_id)
        _plan_refresh(tx, token, refresh)


def record_creator(
    store: Store,
    *,
    chain_id: int,
    address: Address,
    block_hash: Hash32,
    creator: Address,
    balance_raw: RawAmount | None,
    find_verdict: FindVerdict = lambda _: None,
) -> None:
    """Add the creator to the token's report, if the report is still that of the given block.

    `balance_raw` is the creator's balance at that block; None if not known. The verdict is computed
    again; the history has it from the next report on.
    """
    with store.transaction(chain_id=chain_id) as tx:
        token = read_token(tx, chain_id=chain_id, address=address)
        report = read_report(tx, chain_id=chain_id, address=address)
        if token is None or report is None or report.token.block_hash != block_hash:
            return
        known = update_creator(tx, token.token_id, report, creator, balance_raw)
        plan_funder(tx, token=token, creator=creator, now_s=report.token.scanned_at_s)
        report_verdict = find_verdict(known)
        if report_verdict is not None:
            put_verdict(tx, token.token_id, report_verdict)


def _track_requested(tx: Transaction, head: ReportRow) -> TokenRow:
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
    """Plan the next analysis, unless a request is the only reason to track the token."""
    if token.tracked_because != "request":
        put_task(tx, "refresh", token=token, worth=refresh.worth, due_s=refresh.due_s)


def _put_changed_verdict(
    tx: Transaction,
    token_id: int,
    report: Report,
    report_verdict: ReportVerdict,
    step: HistoryStep,
) -> None:
    """Append a changed verdict to the feed of the chain."""
    if step.verdict_before == report_verdict.verdict:
        return
    head = report.token
    last = read_notified_state(tx, token_id)
    causes = [] if last is None else read_causes(tx, token_id, last.block_number, head.block_number)
    changed = VerdictLine(
        before=step.verdict_before,
        after=report_verdict.verdict,
        reasons=report_verdict.reasons,
        headline=report_verdict.headline,
        causes=tuple(causes),
    )
    line = FeedLine(
        kind="verdict",
        token=head.address,
        block_number=head.block_number,
        seen_at_s=head.scanned_at_s,
        detail=FeedDetail(verdict=changed),
    )
    write_lines(tx, [line], chain_id=head.chain_id)


def _refusal_line(token: TokenRow, refusal: RefusalRow, verdict_before: str) -> FeedLine:
    changed = VerdictLine(
        before=verdict_before, after=REFUSED, reasons=(refusal.code,), headline=None
    )
    return FeedLine(
        kind="verdict",
        token=token.address,
        block_number=None,
        seen_at_s=refusal.refused_at_s,
        detail=FeedDetail(verdict=changed),
    )


def _notify_of_report(
    tx: Transaction,
    token_id: int,
    report: Report,
    report_verdict: ReportVerdict,
) -> None:
    """Queue the notifications of a settled report, and store the state that they describe."""
    watchers = lock_watchers(tx, token_id)
    if not watchers:
        return
    head = report.token
    new = state_of(report, report_verdict)
    last = read_notified_state(tx, token_id)
    last_state = None if last is None else last.state
    causes = [] if last is None else read_causes(tx, token_id, last.block_number, head.block_number)
    event = report_event(
        last_state,
        new,
        report=report,
        report_verdict=report_verdict,
        causes=causes,
    )
    subject = EventSubject(
        chain_id=head.chain_id,
        address=head.address,
        block_number=head.block_number,
        block_hash=head.block_hash,
        block_time_s=head.block_time_s,
        seen_at_s=head.scanned_at_s,
    )
    write_event(tx, _recipients(watchers, event), subject, event, kind="change")
    first = [one for one in watchers if one.is_awaiting and BASELINE in one.kinds]
    write_event(tx, first, subject, baseline_event(event, new), kind=BASELINE)
    end_waiting(tx, token_id)
    put_notified_state(tx, token_id, notified_state(last_state, new), head.block_number)


def _notify_of_refusal(tx: Transaction, token: TokenRow, refusal: RefusalRow) -> None:
    """Queue the notifications of a refusal: one until the token has a report again."""
    watchers = lock_watchers(tx, token.token_id)
    last = read_notified_state(tx, token.token_id)
    if last is None or not watchers or last.state["verdict"] == REFUSED:
        return
    event = refusal_event(last.state, refusal.code)
    subject = EventSubject(
        chain_id=token.chain_id,
        address=token.address,
        block_number=None,
        block_hash=None,
        block_time_s=None,
        seen_at_s=refusal.refused_at_s,
    )
    write_event(tx, _recipients(watchers, event), subject, event, kind="change")
    state = refused_state(last.state, refusal.code)
    put_notified_state(tx, token.token_id, state, last.block_number)


def _recipients(watchers: Sequence[Watcher], event: WatchEvent) -> list[Watcher]:
    """Return the watches that have had their first report and select one of the changes."""
    return [one for one in watchers if not one.is_awaiting and has_kind(event.changes, one.kinds)]
