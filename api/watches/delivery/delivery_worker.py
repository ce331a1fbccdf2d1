"""Delivers messages to webhooks: in order for each watch, all watches in parallel.

Messages stay in the store until the receiver has taken them: each is sent at least once, with the
same id each time.
"""

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from typing import Final, Literal
from urllib.parse import urlsplit

import structlog

from api.watches.delivery.webhook_sender import Attempt, WebhookSender
from core.errors import StoreError
from core.process.secret import mask_url
from core.rpc.backoff import drawn_backoff_s
from sql.engine.store import Store
from sql.watches.watch_messages import (
    WatchMessage,
    WebhookTarget,
    count_failure,
    delete_old_messages,
    find_next,
    list_due,
    note_delivered,
    note_failed,
    queue_feeds,
    set_due,
)
from sql.watches.watches import list_keys_with_watches, pause_watches_of

GIVE_UP_AFTER_S: Final = 86_400
"""Seconds of failed attempts after which a watch is marked as failing, and its messages are given
up."""

LONGEST_WAIT_S: Final = 3_600.0

_FIRST_WAIT_S: Final = 1.0


def next_attempt_s(
    *,
    failures: int,
    failed_first_at_s: float,
    now_s: float,
    chance: float,
    retry_after_s: float | None = None,
) -> float | None:
    """Return the time of the next attempt, in Unix seconds. None: there is none.

    The wait doubles with every failure, up to an hour; `chance`, from 0 to 1, cuts up to half of
    it, so that simultaneous failures do not come back together. `retry_after_s` is the receiver's
    Retry-After: it can extend the wait, up to an hour.
    """
    if now_s - failed_first_at_s >= GIVE_UP_AFTER_S:
        return None
    wait_s = drawn_backoff_s(failures, first_s=_FIRST_WAIT_S, most_s=LONGEST_WAIT_S, chance=chance)
    return now_s + min(max(wait_s, retry_after_s or 0.0), LONGEST_WAIT_S)


DeliveryResult = Literal["delivered", "failed", "given_up"]
"""Outcome of an attempt. given_up: it failed, and was the last one."""

_MOST_AT_ONCE = 256
_MOST_PER_HOST = 8
"""Attempts at one host at the same time, so that a slow host does not block the others."""

_MOST_PER_KEY = 16
"""Attempts for watches of one key at the same time, so that slow hosts of one do not block others.
"""

_MOST_LOOKED_AT = 5_000
"""Due webhooks that are read at a time; those with room are started."""

_LOOK_EVERY_S = 0.25
_TIDY_EVERY_S = 60.0
_END_WITHIN_S = 5.0
_PAUSE_AFTER_FAULT_S = 2.0

_LOG = structlog.get_logger(__name__)


class DeliveryWorker:
    """Sender of the store's messages. One for each store."""

    def __init__(
        self,
        store: Store,
        sender: WebhookSender,
        *,
        render: Callable[[WatchMessage], bytes],
        ended_keys: Callable[[Iterable[int]], set[int]],
        now_s: Callable[[], float],
        kept_s: float,
        observe: Callable[[DeliveryResult], None] = lambda _: None,
    ) -> None:
        """`render`: builds the body of a message. `ended_keys`: returns which of these keys are
        revoked or expired; blocks. `kept_s`: seconds for which sent messages are kept."""
        self._store = store
        self._sender = sender
        self._render = render
        self._ended_keys = ended_keys
        self._now_s = now_s
        self._kept_s = kept_s
        self._observe = observe
        self._busy: dict[int, asyncio.Task[None]] = {}
        """Running tasks by watch: at most one attempt at a time, so that messages stay in order."""
        self._hosts = Counter[str]()
        self._keys = Counter[int]()

    async def run(self, stop: asyncio.Event) -> None:
        """Deliver until the stop, then give running attempts a moment."""
        tidying = asyncio.create_task(self._until(stop, self._tidy, every_s=_TIDY_EVERY_S))
        await self._until(stop, self._begin_due, every_s=_LOOK_EVERY_S)
        tidying.cancel()
        running = {*self._busy.values(), tidying}
        await asyncio.wait(running, timeout=_END_WITHIN_S)
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    async def _until(
        self, stop: asyncio.Event, step: Callable[[], Awaitable[None]], *, every_s: float
    ) -> None:
        while not stop.is_set():
            try:
                await step()
                pause_s = every_s
            except StoreError as error:
                _LOG.error("messages of watches cannot be read", why=str(error))
                pause_s = max(every_s, _PAUSE_AFTER_FAULT_S)
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), pause_s)

    async def _begin_due(self) -> None:
        """Start every due webhook, as far as there is room."""
        await asyncio.to_thread(queue_feeds, self._store, now_s=self._now_s())
        due = await asyncio.to_thread(
            list_due, self._store, now_s=self._now_s(), at_most=_MOST_LOOKED_AT
        )
        for target in due:
            host = urlsplit(target.url).netloc
            is_full = (
                len(self._busy) >= _MOST_AT_ONCE
                or self._hosts[host] >= _MOST_PER_HOST
                or self._keys[target.key_id] >= _MOST_PER_KEY
            )
            if target.watch_id in self._busy or is_full:
                continue
            self._hosts[host] += 1
            self._keys[target.key_id] += 1
            self._busy[target.watch_id] = asyncio.create_task(self._deliver(target, host))

    async def _deliver(self, target: WebhookTarget, host: str) -> None:
        """Send the waiting messages of one webhook, until it has all or an attempt fails."""
        try:
            is_taken = True
            while is_taken:
                message = await asyncio.to_thread(find_next, self._store, target.watch_id)
                is_taken = message is not None and await self._send(target, message)
        except StoreError as error:
            # It stays due: the next look tries again, and may send a message twice.
            _LOG.error("delivery cannot be recorded", watch=target.watch_id, why=str(error))
            await asyncio.sleep(_PAUSE_AFTER_FAULT_S)
        except Exception as error:  # noqa: BLE001 - logged whole; the other watches go on
            _LOG.error("delivery failed", watch=target.watch_id, exc_info=error)
            await asyncio.sleep(_PAUSE_AFTER_FAULT_S)
        finally:
            del self._busy[target.watch_id]
            self._hosts[host] -= 1
            self._keys[target.key_id] -= 1

    async def _send(self, target: WebhookTarget, message: WatchMessage) -> bool:
        """Make one attempt and record it; return True if the message was taken."""
        attempt = await self._sender.send(
            target.url,
            target.secret,
            message_id=f"msg_{message.id}",
            sent_at_s=int(self._now_s()),
            body=self._render(message),
        )
        if attempt.error is None:
            await asyncio.to_thread(note_delivered, self._store, message, now_s=self._now_s())
            self._observe("delivered")
            return True
        is_over = await asyncio.to_thread(self._put_off, message, attempt)
        if is_over:
            url = mask_url(target.url)
            _LOG.warning("watch is failing", watch=target.watch_id, url=url, why=attempt.error)
        self._observe("given_up" if is_over else "failed")
        return False

    def _put_off(self, message: WatchMessage, attempt: Attempt) -> bool:
        """Record a failed attempt; return True if it was the last one."""
        now_s = self._now_s()
        with self._store.transaction() as tx:
            note_failed(tx, message, str(attempt.error), now_s=now_s)
            counted = count_failure(tx, message.watch_id, now_s=now_s)
            if counted is None:
                return False
            due_s = None
            if not attempt.is_gone:
                due_s = next_attempt_s(
                    failures=counted.failures,
                    failed_first_at_s=counted.failed_first_at_s,
                    now_s=now_s,
                    chance=random.random(),  # noqa: S311 - spreads attempts, guards nothing
                    retry_after_s=attempt.retry_after_s,
                )
            set_due(tx, message.watch_id, due_s=due_s, now_s=now_s)
        return due_s is None

    async def _tidy(self) -> None:
        """Delete old messages, and pause the watches of keys that have ended."""
        await asyncio.to_thread(
            delete_old_messages, self._store, before_s=self._now_s() - self._kept_s
        )
        await asyncio.to_thread(self._pause_ended)

    def _pause_ended(self) -> None:
        for key_id in self._ended_keys(list_keys_with_watches(self._store)):
            with self._store.transaction() as tx:
                pause_watches_of(tx, key_id)
            _LOG.info("watches paused, as their key has ended", key=key_id)
