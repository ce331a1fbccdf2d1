"""Feed of a chain: lines in one sequence, from which every form of the feed is read."""

from collections.abc import Iterable
from typing import Final

import msgspec

from core.evm.primitives import Address, Hash32
from core.report.feed_lines import FeedDetail, FeedKind, FeedLine
from sql.engine.columns import blob
from sql.engine.database import Reader, Transaction
from sql.engine.store import Readable, Store

_DELETED_AT_ONCE: Final = 1_000


class StoredFeedLine(msgspec.Struct, frozen=True, kw_only=True):
    """A line with its place in the sequence."""

    sequence: int
    kind: FeedKind
    token: Address | None
    block_number: int | None
    tx_hash: Hash32 | None
    log_index: int | None
    seen_at_s: int
    detail: str
    """JSON of FeedDetail."""

    def decode_detail(self) -> FeedDetail:
        """Return the content of the line."""
        return msgspec.json.decode(self.detail, type=FeedDetail)


class TokenVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """Verdict of a token's last report."""

    token_id: int
    token: Address
    symbol: str
    block_number: int
    scanned_at_s: int
    verdict: str
    reasons: tuple[str, ...]


class _Sequence(msgspec.Struct, frozen=True, kw_only=True):
    sequence: int


class _Oldest(msgspec.Struct, frozen=True, kw_only=True):
    first: int | None
    last: int | None
    first_kept: int | None


class _Forgotten(msgspec.Struct, frozen=True, kw_only=True):
    forgotten: int


def write_lines(tx: Transaction, lines: Iterable[FeedLine], *, chain_id: int) -> int:
    """Append lines to the feed of a chain; return their number.

    The transaction must name the chain, so that numbers are committed in order.
    """
    rows = [
        (
            chain_id,
            line.kind,
            None if line.token is None else blob(line.token),
            line.block_number,
            None if line.tx_hash is None else blob(line.tx_hash),
            line.log_index,
            line.seen_at_s,
            msgspec.json.encode(line.detail).decode(),
        )
        for line in lines
    ]
    return tx.execute_many("feed/insert_line", rows) if rows else 0


def note_reorg(tx: Transaction, *, chain_id: int, number: int, now_s: int) -> None:
    """Append that the lines of the blocks from `number` on are void, if there are any."""
    where = {"chain_id": chain_id, "number": number}
    if tx.fetch_one("feed/find_from_block", _Sequence, **where) is not None:
        line = FeedLine(kind="reorg", token=None, block_number=number, seen_at_s=now_s)
        write_lines(tx, [line], chain_id=chain_id)


def list_lines(store: Readable, *, chain_id: int, after: int, at_most: int) -> list[StoredFeedLine]:
    """Return the lines after a place in the sequence, oldest first. Raises StoreError."""
    return store.fetch(
        "feed/list_after", StoredFeedLine, chain_id=chain_id, after=after, at_most=at_most
    )


def find_newest_line(store: Readable, *, chain_id: int) -> int:
    """Return the sequence of the newest line, also of a deleted one; 0 if there was none yet."""
    found = store.fetch_one("feed/find_newest", _Sequence, chain_id=chain_id)
    return find_feed_gap(store, chain_id=chain_id) if found is None else found.sequence


def find_feed_gap(store: Readable, *, chain_id: int) -> int:
    """Return the highest sequence of a line that was deleted by age; 0 if none was."""
    found = store.fetch_one("feed/find_gap", _Forgotten, chain_id=chain_id)
    return 0 if found is None else found.forgotten


def list_verdicts(reader: Reader, *, chain_id: int, after: int, at_most: int) -> list[TokenVerdict]:
    """Return the current verdicts of the tokens with a number above `after`, by number."""
    return reader.fetch(
        "feed/list_verdicts", TokenVerdict, chain_id=chain_id, after=after, at_most=at_most
    )


def delete_old_lines(store: Store, *, chain_id: int, before_s: float) -> None:
    """Delete the lines before the first that was seen at a time in Unix seconds or later.

    In small steps. The gap that each makes is recorded in its transaction. Raises StoreError.
    """
    while True:
        with store.transaction(chain_id=chain_id) as tx:
            oldest = tx.fetch_one(
                "feed/find_oldest",
                _Oldest,
                chain_id=chain_id,
                before_s=int(before_s),
                at_most=_DELETED_AT_ONCE,
            )
            if oldest is None or oldest.last is None or oldest.first_kept == oldest.first:
                return
            last = oldest.last if oldest.first_kept is None else oldest.first_kept - 1
            tx.execute("feed/delete_up_to", chain_id=chain_id, sequence=last)
            tx.execute("feed/note_gap", chain_id=chain_id, sequence=last)
