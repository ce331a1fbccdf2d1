"""Protects the feed by webhook: every line once and in order, whatever is down and for how long."""

import asyncio
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from sql.chain.feed_tables import find_newest_line
from sql.engine.store import Store
from sql.watches.watch_messages import list_deliveries
from sql.watches.watches import Watch, find_watch
from tests.harness.watches.delivery_process import delivering, start_delivering, until
from tests.harness.watches.followed_feed import cursors, follow, write
from tests.harness.watches.webhook_receiver import Received
from tests.watches.conftest import Receiver

pytestmark = pytest.mark.process

MakeReceiver = Callable[[], Receiver]


def part(message: Received) -> dict[str, Any]:
    data = msgspec.convert(message.body["data"], dict[str, Any])
    return msgspec.convert(data["feed"], dict[str, Any])


def cursors_taken(taken: list[Received]) -> list[int]:
    """The cursors of all lines, of each message once."""
    once = {message.id: part(message) for message in taken}
    return [line["cursor"] for feed in once.values() for line in feed["lines"]]


def is_level(store: Store, watch_id: int) -> Callable[[], bool]:
    """The receiver has every line."""

    def check() -> bool:
        watch = found(store, watch_id)
        return watch.pending == 0 and watch.feed_cursor == find_newest_line(store, chain_id=1)

    return check


def found(store: Store, watch_id: int) -> Watch:
    one = find_watch(store, watch_id)
    assert one is not None
    return one


async def test_lines_come_once_and_in_order_after_failures(
    store: Store, make_receiver: MakeReceiver
) -> None:
    receiver = make_receiver()
    receiver.answer("503")
    write(store, 3)
    watch_id = follow(store, receiver.url, receiver.secret, after=0)
    async with delivering(store):
        await until(lambda: list_deliveries(store, watch_id, at_most=9)[:1] != [])
        write(store, 250)  # while the receiver is down
        write(store, 5, chain_id=56)
        await until(lambda: list_deliveries(store, watch_id, at_most=9)[0].attempts > 0)
        assert found(store, watch_id).pending == 1  # one message waits, however many lines do
        receiver.answer("ok")
        await until(is_level(store, watch_id))
        write(store, 1, kind="reorg")
        await until(is_level(store, watch_id))
    parts = [part(message) for message in receiver.taken]
    assert [line["cursor"] for feed in parts for line in feed["lines"]] == cursors(store)
    assert [len(feed["lines"]) for feed in parts] == [3, 100, 100, 50, 1]
    assert [feed["after"] for feed in parts] == [0, *[feed["cursor"] for feed in parts[:-1]]]
    assert [feed["gap"] for feed in parts] == [None] * 5
    assert {message.type for message in receiver.taken} == {"feed.lines"}
    assert parts[-1]["lines"][0]["kind"] == "reorg"


async def test_kills_of_service_and_receiver_lose_no_line(
    store: Store, path: Path, make_receiver: MakeReceiver
) -> None:
    receiver = make_receiver()
    watch_id = follow(store, receiver.url, receiver.secret)
    service = start_delivering(path)
    try:
        for _ in range(random.randrange(5, 25)):  # noqa: S311 - chance, not secrecy
            await asyncio.to_thread(write, store, 9)
            await asyncio.sleep(0.02)
        service.kill()
        service.communicate()
        receiver.kill()
        write(store, 120)
        service = start_delivering(path)
        await until(lambda: found(store, watch_id).failures > 0)
        receiver.start()
        await until(is_level(store, watch_id), within_s=40)
    finally:
        service.kill()
        service.communicate()
    assert cursors_taken(receiver.taken) == cursors(store)
