"""What watchers are told of a token: written in the transaction of the report that says it.

Reports are compared with what was told last, not with the report before: a change that a reorg
takes back and brings again is told once, one that it takes back for good is told back.
"""

from collections.abc import Sequence

import msgspec

from core.evm.primitives import Address, Hash32
from core.process.zstd import compress, decompress
from core.report.judgement import Judgement
from core.report.notifications import BASELINE, known_of, state_told, told_changes, wanted
from core.report.report import Report
from core.report.report_changes import Change, ReportState, state_of
from sql.engine.columns import blob
from sql.engine.database import Transaction
from sql.engine.table_rows import TokenRow
from sql.tokens.observations import ObservationKind, causes_of

MOST_PENDING = 1_000
"""Messages that wait for one webhook. What comes beyond it is counted, and the next message that is
taken says how many are missing."""

MOST_CAUSES = 20

REFUSED = "refused"
"""In place of a verdict: the address is no token any more."""


class ChangeCause(msgspec.Struct, frozen=True, kw_only=True):
    """One thing seen on the chain about a token. What it led to is not known: it came before."""

    kind: ObservationKind
    block_number: int
    tx_hash: Hash32 | None
    """None: no single transaction is known."""
    sender: Address | None
    """Who signed the transaction. None: not known."""
    what: str
    """A function, an event, a storage slot, a pool: by kind."""
    detail: str | None
    """Values, or a reason. None: there is none to tell."""


class WatchEvent(msgspec.Struct, frozen=True, kw_only=True):
    """What is told of a token, for all who watch it."""

    name: str | None
    symbol: str | None
    headline: str | None
    """One sentence that says what is wrong. None: nobody has written it."""
    verdict_before: str | None
    """None: nothing was told before."""
    verdict: str
    reasons: tuple[str, ...]
    """Every cause of the verdict that holds."""
    changes: tuple[Change, ...]
    """Of all kinds; before is what was told last. None as a value: unknown."""
    causes: tuple[ChangeCause, ...] = ()
    """What was seen on the chain since the report before, newest first; at most `MOST_CAUSES`."""


class EventPlace(msgspec.Struct, frozen=True, kw_only=True):
    """Which token, and at which block."""

    chain_id: int
    address: Address
    block_number: int | None
    block_hash: Hash32 | None
    block_time_s: int | None
    """All three None: a refusal, which belongs to no block."""
    seen_at_s: int


class _Watcher(msgspec.Struct, frozen=True, kw_only=True):
    id: int
    kinds: tuple[str, ...]
    pending: int
    missed: int
    is_awaiting: bool
    has_webhook: bool


class _State(msgspec.Struct, frozen=True, kw_only=True):
    state: bytes
    block_number: int


class _Told(msgspec.Struct, frozen=True, kw_only=True):
    """What was told last."""

    state: ReportState
    block_number: int


class _Number(msgspec.Struct, frozen=True, kw_only=True):
    id: int


def tell_watchers(tx: Transaction, token_id: int, report: Report, judgement: Judgement) -> None:
    """Tell those who watch a token what a settled report says differently from what was told last.

    Costs one look-up where nobody watches it; else it takes the turn of those who tell.
    """
    watchers = _watchers_in_turn(tx, token_id)
    if not watchers:
        return
    head = report.token
    new = state_of(report, judgement)
    last = _read_state(tx, token_id)
    told = None if last is None else last.state
    event = WatchEvent(
        name=head.name,
        symbol=head.symbol,
        headline=judgement.headline,
        verdict_before=None if told is None else told["verdict"],
        verdict=judgement.verdict,
        reasons=judgement.reasons,
        changes=() if told is None else tuple(told_changes(told, new)),
        causes=() if last is None else _causes(tx, token_id, last.block_number, head.block_number),
    )
    place = EventPlace(
        chain_id=head.chain_id,
        address=head.address,
        block_number=head.block_number,
        block_hash=head.block_hash,
        block_time_s=head.block_time_s,
        seen_at_s=head.scanned_at_s,
    )
    _tell(tx, [each for each in watchers if not each.is_awaiting], place, event)
    first = msgspec.structs.replace(
        event, verdict_before=None, changes=tuple(known_of(new)), causes=()
    )
    _tell_baseline(tx, [each for each in watchers if each.is_awaiting], place, first)
    tx.execute("watches/end_waiting", token_id=token_id)
    _put_state(tx, token_id, state_told(told, new), head.block_number)


def tell_refusal(tx: Transaction, token: TokenRow, *, code: str, refused_at_s: int) -> None:
    """Tell those who watch a token that it is refused as one now. Once: until it has a report."""
    watchers = _watchers_in_turn(tx, token.token_id)
    last = _read_state(tx, token.token_id)
    if last is None or not watchers or last.state["verdict"] == REFUSED:
        return
    told = last.state
    event = WatchEvent(
        name=told.get("name"),
        symbol=told.get("symbol"),
        headline=None,
        verdict_before=told["verdict"],
        verdict=REFUSED,
        reasons=(code,),
        changes=(Change("verdict", told["verdict"], REFUSED),),
    )
    place = EventPlace(
        chain_id=token.chain_id,
        address=token.address,
        block_number=None,
        block_hash=None,
        block_time_s=None,
        seen_at_s=refused_at_s,
    )
    _tell(tx, [each for each in watchers if not each.is_awaiting], place, event)
    refused = {**told, "verdict": REFUSED, "verdict_reasons": code}
    _put_state(tx, token.token_id, refused, last.block_number)


def tell_test(tx: Transaction, watch_id: int, *, has_webhook: bool, now_s: float) -> None:
    """Send a watch a message that tells nothing."""
    _enqueue(tx, watch_id, None, kind="test", has_webhook=has_webhook, missed=0, now_s=int(now_s))


def _tell(
    tx: Transaction, watchers: Sequence[_Watcher], place: EventPlace, event: WatchEvent
) -> None:
    """Write a message to each that wants one of the changes."""
    asking = [watcher for watcher in watchers if wanted(event.changes, watcher.kinds)]
    _send(tx, asking, place, event, kind="change")


def _tell_baseline(
    tx: Transaction, watchers: Sequence[_Watcher], place: EventPlace, event: WatchEvent
) -> None:
    """Write a message to each that wants to know where changes begin."""
    asking = [watcher for watcher in watchers if BASELINE in watcher.kinds]
    _send(tx, asking, place, event, kind=BASELINE)


def _send(
    tx: Transaction, asking: Sequence[_Watcher], place: EventPlace, event: WatchEvent, *, kind: str
) -> None:
    if not asking:
        return
    (made,) = tx.fetch(
        "messages/insert_event",
        _Number,
        chain_id=place.chain_id,
        address=blob(place.address),
        block_number=place.block_number,
        block_hash=None if place.block_hash is None else blob(place.block_hash),
        block_time_s=place.block_time_s,
        seen_at_s=place.seen_at_s,
        body=msgspec.json.encode(event).decode(),
    )
    for watcher in asking:
        if watcher.has_webhook and watcher.pending >= MOST_PENDING:
            tx.execute("messages/add_missed", watch_id=watcher.id)
            continue
        _enqueue(
            tx,
            watcher.id,
            made.id,
            kind=kind,
            has_webhook=watcher.has_webhook,
            missed=watcher.missed,
            now_s=place.seen_at_s,
        )
    tx.execute("messages/delete_event", event_id=made.id)  # where every queue is full


def _enqueue(
    tx: Transaction,
    watch_id: int,
    event_id: int | None,
    *,
    kind: str,
    has_webhook: bool,
    missed: int,
    now_s: int,
) -> None:
    tx.execute(
        "messages/insert_message",
        watch_id=watch_id,
        event_id=event_id,
        kind=kind,
        created_at_s=now_s,
        missed=missed,
        is_pending=int(has_webhook),
    )
    if has_webhook:
        tx.execute("messages/add_pending", watch_id=watch_id, due_s=now_s)


def _watchers_in_turn(tx: Transaction, token_id: int) -> list[_Watcher]:
    """Return who watches a token, with counts that no writer of another chain changes meanwhile."""
    if not tx.fetch("watches/list_of_token", _Watcher, token_id=token_id):
        return []
    tx.fetch_tuples("messages/take_turn")
    return tx.fetch("watches/list_of_token", _Watcher, token_id=token_id)


def _causes(tx: Transaction, token_id: int, last: int, now: int) -> tuple[ChangeCause, ...]:
    """Return what was seen since the last report; after a reorg at the block of this one alone."""
    seen = causes_of(tx, token_id, above=min(last, now - 1), up_to=now, at_most=MOST_CAUSES)
    return tuple(
        ChangeCause(
            kind=one.kind,
            block_number=one.block_number,
            tx_hash=one.tx_hash,
            sender=one.sender,
            what=one.what,
            detail=one.detail,
        )
        for one in seen
    )


def _read_state(tx: Transaction, token_id: int) -> _Told | None:
    found = tx.fetch_one("watches/find_state", _State, token_id=token_id)
    if found is None:
        return None
    text = decompress(found.state)
    return _Told(state=msgspec.json.decode(text, type=ReportState), block_number=found.block_number)


def _put_state(tx: Transaction, token_id: int, state: ReportState, block_number: int) -> None:
    packed = compress(msgspec.json.encode(state))
    tx.execute("watches/put_state", token_id=token_id, state=packed, block_number=block_number)
