"""Protects delivery: every message at least once, in order, through all kills.

A slow receiver delays no other, and a failing one is not forgotten.
"""

import asyncio
import random
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from api.watches.delivery.delivery_worker import DeliveryWorker
from api.watches.delivery.webhook_address import WebhookRules
from api.watches.delivery.webhook_sender import Attempt, WebhookSender
from api.watches.delivery.webhook_signature import new_secret
from api.watches.message_body import MessageRenderer
from core.process.secret import Secret
from sql.engine.store import MEMORY, Store
from sql.watches.watch_messages import list_deliveries
from sql.watches.watches import Watch, find_watch, pause_watch, resume_watch
from tests.harness.api.world import CHAINS
from tests.harness.clock import HandClock
from tests.harness.examples import one_in
from tests.harness.store.sample_rows import address
from tests.harness.watches.changing_reports import TOKEN, tell, watch
from tests.harness.watches.delivery_process import delivering, start_delivering, until
from tests.harness.watches.webhook_receiver import Received
from tests.watches.conftest import Receiver

pytestmark = pytest.mark.process

MakeReceiver = Callable[[], Receiver]


def found(store: Store, watch_id: int) -> Watch:
    one = find_watch(store, watch_id)
    assert one is not None
    return one


def owners(taken: list[Received]) -> list[int]:
    """Return the owners in the messages, in order."""
    return [
        int(change["after"], 16) - 1
        for message in taken
        for change in message.body["data"]["changes"]  # type: ignore[index]  # JSON
        if change["what"] == "owner_address"
    ]


async def test_messages_come_signed_in_order_and_once(
    store: Store, make_receiver: MakeReceiver
) -> None:
    receiver = make_receiver()
    watch_id = watch(store, receiver.url, receiver.secret)
    async with delivering(store):
        for number in range(1, 12):
            tell(store, number)
        await until(lambda: found(store, watch_id).pending == 0)
    assert owners(receiver.taken) == list(range(2, 12))
    assert len({message.id for message in receiver.taken}) == 10
    body = receiver.taken[0].body
    assert body["type"] == "token.changed"
    assert {key: body["data"][key] for key in ("chain", "chain_id", "verdict")} == {  # type: ignore[index]  # JSON
        "chain": "ethereum",
        "chain_id": 1,
        "verdict": "safe",
    }


@pytest.mark.parametrize("mode", ["503", "301", "400", "401", "hang"])
async def test_what_is_not_taken_is_sent_again_with_the_same_id(
    store: Store, make_receiver: MakeReceiver, mode: str
) -> None:
    receiver = make_receiver()
    receiver.answer(mode)
    watch_id = watch(store, receiver.url, receiver.secret)
    async with delivering(store):
        tell(store, 1)
        tell(store, 2)
        tell(store, 3)
        await until(lambda: found(store, watch_id).failures > 0)
        (waiting, first) = list_deliveries(store, watch_id, at_most=9)
        assert (waiting.attempts, first.is_pending, receiver.taken) == (0, True, [])
        assert first.error == ("no answer within 2 s" if mode == "hang" else f"HTTP {mode}")
        receiver.answer("ok")
        await until(lambda: found(store, watch_id).pending == 0)
    assert owners(receiver.taken) == [2, 3]
    assert receiver.taken[0].id == f"msg_{first.id}"
    assert found(store, watch_id).failures == 0


async def test_a_receiver_that_hangs_holds_up_no_other(
    store: Store, make_receiver: MakeReceiver
) -> None:
    slow, quick = make_receiver(), make_receiver()
    slow.answer("hang")
    # More of them than are tried at once at one host.
    waiting = [watch(store, slow.url, slow.secret) for _ in range(30)]
    watch_id = watch(store, quick.url, quick.secret)
    async with delivering(store):
        for number in range(1, 6):
            tell(store, number)
        await until(lambda: found(store, watch_id).pending == 0, within_s=2.0)
    assert owners(quick.taken) == [2, 3, 4, 5]
    assert [found(store, one).pending for one in waiting] == [4] * 30


async def test_a_receiver_that_is_gone_is_left_alone_until_it_is_resumed(
    store: Store, make_receiver: MakeReceiver
) -> None:
    receiver = make_receiver()
    receiver.answer("410")
    watch_id = watch(store, receiver.url, receiver.secret)
    async with delivering(store):
        tell(store, 1)
        tell(store, 2)
        await until(lambda: found(store, watch_id).failing_since_s is not None)
        tell(store, 3)
        receiver.answer("ok")
        await asyncio.sleep(0.6)  # two looks at what is due
        assert (found(store, watch_id).pending, receiver.taken) == (2, [])
        with store.transaction() as tx:
            resume_watch(tx, watch_id, now_s=time.time())
        await until(lambda: found(store, watch_id).pending == 0)
    assert owners(receiver.taken) == [2, 3]
    assert found(store, watch_id).failing_since_s is None


async def test_nothing_is_sent_while_a_watch_is_paused(
    store: Store, make_receiver: MakeReceiver
) -> None:
    receiver = make_receiver()
    receiver.answer("503")
    watch_id = watch(store, receiver.url, receiver.secret)
    async with delivering(store):
        tell(store, 1)
        tell(store, 2)
        await until(lambda: found(store, watch_id).failures > 0)
        with store.transaction() as tx:
            pause_watch(tx, watch_id)
        receiver.answer("ok")
        await asyncio.sleep(1.5)  # longer than the first wait
        assert receiver.taken == []
        with store.transaction() as tx:
            resume_watch(tx, watch_id, now_s=time.time())
        await until(lambda: found(store, watch_id).pending == 0)
    assert owners(receiver.taken) == [2]


class Scripted(WebhookSender):
    """Scripted receiver, without a wire."""

    def __init__(self, outcomes: list[bool]) -> None:
        super().__init__(WebhookRules(allow_http=True, allow_private=True), timeout_s=1)
        self.outcomes = outcomes
        self.seen: list[tuple[str, bool]] = []

    async def send(
        self, url: str, secret: Secret, *, message_id: str, sent_at_s: int, body: bytes
    ) -> Attempt:
        is_taken = self.outcomes.pop(0) if self.outcomes else True
        self.seen.append((f"{url} {message_id}", is_taken))
        return Attempt() if is_taken else Attempt(error="HTTP 500")


@settings(max_examples=one_in(3), suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(
    numbers=st.lists(st.sampled_from([7, 8]), min_size=2, max_size=10),
    outcomes=st.lists(st.booleans(), max_size=30),
)
def test_whatever_fails_each_watch_gets_all_in_order(
    numbers: list[int], outcomes: list[bool]
) -> None:
    """Two watches, one of both tokens. Time jumps to whenever an attempt is due."""

    async def run() -> None:
        store, sender = Store.open(MEMORY), Scripted(outcomes)
        clock = HandClock(time.time() + 5)
        worker = DeliveryWorker(
            store,
            sender,
            render=MessageRenderer(CHAINS).encode,
            ended_keys=lambda _: set(),
            now_s=clock,
            kept_s=1e9,
        )
        watches = [
            watch(store, "https://one.test", new_secret(), address(7)),
            watch(store, "https://both.test", new_secret(), address(7), address(8)),
        ]
        for number, token in enumerate(numbers, start=1):
            tell(store, number, token=address(token))
        while any(found(store, one).pending for one in watches):
            await worker._begin_due()
            await asyncio.gather(*worker._busy.values())
            clock.now_s += 1_000
        for one, host in zip(watches, ("one", "both"), strict=True):
            sent = [seen for seen in sender.seen if f"//{host}." in seen[0]]
            rows = reversed(list_deliveries(store, one, at_most=99))
            ids = [f"https://{host}.test msg_{row.id}" for row in rows]
            assert [name for name, is_taken in sent if is_taken] == ids
            # What is tried is always the first that was not taken.
            for at, (name, _) in enumerate(sent):
                assert name == ids[sum(is_taken for _, is_taken in sent[:at])]
        await sender.aclose()
        store.close()

    asyncio.run(run())


async def test_after_a_day_of_failures_a_watch_is_failing_and_keeps_what_waits(
    store: Store,
) -> None:
    sender, clock, seen = Scripted([False] * 1_000), HandClock(time.time() + 5), list[str]()
    worker = DeliveryWorker(
        store,
        sender,
        render=MessageRenderer(CHAINS).encode,
        ended_keys=lambda _: set(),
        now_s=clock,
        kept_s=1e9,
        observe=seen.append,
    )
    watch_id = watch(store, "https://one.test", new_secret())
    tell(store, 1)
    tell(store, 2)
    began_s = clock.now_s
    while found(store, watch_id).failing_since_s is None:
        await worker._begin_due()
        await asyncio.gather(*worker._busy.values())
        clock.now_s += 600
    assert 86_400 <= clock.now_s - began_s <= 86_400 + 2 * 3_600
    assert found(store, watch_id).pending == 1
    assert (seen.count("given_up"), seen[-1]) == (1, "given_up")
    await sender.aclose()


async def test_the_watches_of_a_key_that_has_ended_are_paused(store: Store) -> None:
    sender = Scripted([])
    worker = DeliveryWorker(
        store,
        sender,
        render=MessageRenderer(CHAINS).encode,
        ended_keys=lambda keys: set(keys) & {1},
        now_s=time.time,
        kept_s=1e9,
    )
    watch_id = watch(store, "https://one.test", new_secret())
    await worker._tidy()
    assert found(store, watch_id).is_paused
    await sender.aclose()


@pytest.mark.process
async def test_kills_of_service_and_receiver_lose_nothing(
    store: Store, path: Path, make_receiver: MakeReceiver
) -> None:
    """Reports are written all the while. Both sides get SIGKILL at random moments, the service
    also with messages that are stored and not sent, and sent and not recorded."""
    seed = random.randrange(2**32)  # noqa: S311 - chance, not secrecy
    dice = random.Random(seed)  # noqa: S311
    receiver = make_receiver()
    watch_id = watch(store, receiver.url, receiver.secret)
    number = 0
    service = start_delivering(path)
    try:
        for _ in range(3):
            for _ in range(dice.randrange(5, 30)):
                number += 1
                await asyncio.to_thread(tell, store, number, token=TOKEN)
                await asyncio.sleep(dice.random() * 0.02)
            service.kill()
            service.communicate()
            if dice.random() < 0.7:
                receiver.kill()
                receiver.start()
            service = start_delivering(path)
        await until(lambda: found(store, watch_id).pending == 0, within_s=40)
    finally:
        service.kill()
        service.communicate()
    first = list(dict.fromkeys(message.id for message in receiver.taken))
    stored = [f"msg_{row.id}" for row in reversed(list_deliveries(store, watch_id, at_most=999))]
    assert len(stored) == number - 1, f"seed {seed}"
    assert first == stored, f"seed {seed}"
    assert len(receiver.taken) <= len(stored) + 8, f"seed {seed}"
