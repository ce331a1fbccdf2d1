"""Protects the queue of feeds for webhooks: one message at a time, from any cursor, with gaps."""

from typing import Any

from api.watches.message_body import MessageRenderer
from core.process.secret import Secret
from sql.chain.feed_tables import delete_old_lines, find_newest_line
from sql.engine.store import Store
from sql.watches.watch_messages import (
    delete_old_messages,
    find_next,
    list_after,
    list_deliveries,
    list_last,
    list_new,
    note_delivered,
    queue_feeds,
)
from sql.watches.watches import (
    add_tokens,
    find_watch,
    pause_watch,
    remove_watch,
    resume_watch,
)
from tests.harness.api.world import CHAINS
from tests.harness.watches.changing_reports import TOKEN, tell
from tests.harness.watches.followed_feed import NOW_S, cursors, follow, write


def take(store: Store, watch_id: int) -> dict[str, Any] | None:
    """The next message, as it would be posted and taken. None: there is none."""
    queue_feeds(store, now_s=NOW_S)
    message = find_next(store, watch_id)
    if message is None:
        return None
    note_delivered(store, message, now_s=NOW_S)
    body = MessageRenderer(CHAINS).body(message)
    feed = body.data.feed
    assert feed is not None
    return {
        "after": feed.after,
        "cursor": feed.cursor,
        "gap": None if feed.gap is None else feed.gap.forgotten_up_to,
        "lines": [line.cursor for line in feed.lines],
    }


def test_a_feed_begins_where_it_is_told(store: Store) -> None:
    write(store, 4)
    _, second, third, fourth = cursors(store)
    late = follow(store, "https://late.test", Secret("whsec_"))
    behind = follow(store, "https://behind.test", Secret("whsec_"), after=second)
    assert take(store, late) is None
    assert take(store, behind) == {
        "after": second,
        "cursor": fourth,
        "gap": None,
        "lines": [third, fourth],
    }
    write(store, 1)
    fifth = find_newest_line(store, chain_id=1)
    for watch_id in (late, behind):
        wanted = {"after": fourth, "cursor": fifth, "gap": None, "lines": [fifth]}
        assert take(store, watch_id) == wanted
        assert take(store, watch_id) is None


def test_deleted_lines_are_announced_as_a_gap_and_never_skipped(store: Store) -> None:
    write(store, 2)
    _, second = cursors(store)
    watch_id = follow(store, "https://one.test", Secret("whsec_"), after=0)
    queue_feeds(store, now_s=NOW_S)
    # The message waits until its lines are too old.
    delete_old_lines(store, chain_id=1, before_s=NOW_S + 1)
    assert take(store, watch_id) == {"after": 0, "cursor": second, "gap": second, "lines": []}
    # Lines that were never queued.
    write(store, 1)
    (third,) = cursors(store)
    delete_old_lines(store, chain_id=1, before_s=NOW_S + 1)
    assert take(store, watch_id) == {"after": second, "cursor": third, "gap": third, "lines": []}
    write(store, 1)
    (fourth,) = cursors(store)
    assert take(store, watch_id) == {
        "after": third,
        "cursor": fourth,
        "gap": None,
        "lines": [fourth],
    }


def test_a_paused_feed_goes_on_where_it_was(store: Store) -> None:
    watch_id = follow(store, "https://one.test", Secret("whsec_"))
    with store.transaction() as tx:
        pause_watch(tx, watch_id)
    write(store, 2)
    assert take(store, watch_id) is None
    with store.transaction() as tx:
        resume_watch(tx, watch_id, now_s=NOW_S)
    found = take(store, watch_id)
    assert found is not None
    assert found["lines"] == cursors(store)
    with store.transaction() as tx:
        remove_watch(tx, watch_id)
    write(store, 1)
    assert take(store, watch_id) is None


def test_messages_about_tokens_stay_apart_from_the_feed(store: Store) -> None:
    """One watch has both. Streams of messages have no lines, and lists none of their bodies."""
    watch_id = follow(store, "https://one.test", Secret("whsec_"))
    with store.transaction() as tx:
        add_tokens(tx, watch_id, chain_id=1, addresses=[TOKEN], now_s=0)
    tell(store, 1)
    queue_feeds(store, now_s=NOW_S)
    tell(store, 2)
    assert [row.kind for row in list_deliveries(store, watch_id, at_most=9)] == ["change", "feed"]
    (change,) = list_after(store, watch_id, after=0, at_most=9)
    assert (change.kind, change.feed) == ("change", None)
    assert [row.id for row in list_new(store, after=0, at_most=9)] == [change.id]
    newest, older = list_last(store, watch_id, at_most=9)
    assert (newest.feed, older.feed is None) == (None, False)
    assert older.feed is not None
    assert older.feed.lines == ()
    feed = take(store, watch_id)
    assert feed is not None
    # Old parts of a feed are no missing messages of a stream.
    delete_old_messages(store, before_s=NOW_S + 1)
    watch = find_watch(store, watch_id)
    assert watch is not None
    assert (watch.pending, watch.forgotten) == (1, 0)
    assert find_next(store, watch_id) == change
