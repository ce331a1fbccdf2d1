"""Delivery of messages in a service: built from its settings, run until the stop."""

import asyncio
import time
from collections.abc import Callable, Iterable

from api.watches.delivery.delivery_worker import DeliveryResult, DeliveryWorker
from api.watches.delivery.webhook_address import WebhookRules
from api.watches.delivery.webhook_sender import WebhookSender
from config.settings import WatchSettings
from sql.engine.store import Store
from sql.watches.watch_messages import WatchMessage


def rules_of(settings: WatchSettings) -> WebhookRules:
    """Build the rules for webhook addresses from the settings."""
    return WebhookRules(allow_http=settings.allow_http, allow_private=settings.allow_private)


async def keep_delivering(
    store: Store,
    settings: WatchSettings,
    *,
    render: Callable[[WatchMessage], bytes],
    ended_keys: Callable[[Iterable[int], float], set[int]],
    observe: Callable[[DeliveryResult], None],
    stop: asyncio.Event,
) -> None:
    """Deliver messages to webhooks until the stop.

    `render`: builds the body of a message. `ended_keys`: returns which of these keys have ended by
    a time in Unix seconds; blocks.
    """
    sender = WebhookSender(rules_of(settings), timeout_s=settings.timeout_s)
    worker = DeliveryWorker(
        store,
        sender,
        render=render,
        ended_keys=lambda key_ids: ended_keys(key_ids, time.time()),
        now_s=time.time,
        kept_s=settings.messages_kept_s,
        observe=observe,
    )
    try:
        await worker.run(stop)
    finally:
        await sender.aclose()
