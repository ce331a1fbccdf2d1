"""Lines of a feed, and watches that send it."""

from core.process.secret import Secret
from core.report.feed_lines import FeedDetail, FeedKind, FeedLine, VerdictLine
from core.report.notifications import ALL_KINDS
from sql.chain.feed_tables import list_lines, write_lines
from sql.engine.store import Store
from sql.watches.watches import NewWatch, create_watch
from tests.harness.store.sample_rows import address

NOW_S = 1_000


def write(store: Store, count: int, *, chain_id: int = 1, kind: FeedKind = "verdict") -> None:
    """Append lines to the feed of a chain."""
    verdict = VerdictLine(before=None, after="safe", reasons=(), headline=None)
    lines = [
        FeedLine(
            kind=kind,
            token=address(number),
            block_number=number,
            seen_at_s=NOW_S,
            detail=FeedDetail(verdict=verdict),
        )
        for number in range(count)
    ]
    with store.transaction(chain_id=chain_id) as tx:
        write_lines(tx, lines, chain_id=chain_id)


def follow(
    store: Store, url: str, secret: Secret, *, after: int | None = None, chain_id: int = 1
) -> int:
    """A watch of the feed of a chain; return its number."""
    new = NewWatch(
        key_id=1,
        name="feed",
        kinds=ALL_KINDS,
        url=url,
        secret=secret,
        feed_chain_id=chain_id,
        feed_after=after,
    )
    with store.transaction() as tx:
        return create_watch(tx, new, now_s=NOW_S)


def cursors(store: Store, *, chain_id: int = 1) -> list[int]:
    """Return the cursors of all stored lines."""
    lines = list_lines(store, chain_id=chain_id, after=0, at_most=10_000)
    return [line.sequence for line in lines]
