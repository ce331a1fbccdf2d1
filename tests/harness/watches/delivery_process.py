"""Delivery of one store in a separate process, until a signal ends it.

python -m tests.harness.watches.delivery_process STORE
"""

import asyncio
import sys
from contextlib import closing
from pathlib import Path

from api.watches.delivery.keep_delivering import keep_delivering
from api.watches.message_body import MessageRenderer
from config.settings import WatchSettings
from core.process.stop_signals import stop_on_signals
from sql.engine.store import Store
from tests.harness.api.world import CHAINS

SETTINGS = WatchSettings(allow_http=True, allow_private=True, timeout_s=2.0)


async def deliver(store: Store, stop: asyncio.Event) -> None:
    """Deliver to receivers on this machine, for keys that never end."""
    await keep_delivering(
        store,
        SETTINGS,
        render=MessageRenderer(CHAINS).encode,
        ended_keys=lambda _keys, _now_s: set(),
        observe=lambda _: None,
        stop=stop,
    )


async def _main(store: Store) -> None:
    stop = asyncio.Event()
    stop_on_signals(stop)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    await deliver(store, stop)


if __name__ == "__main__":
    with closing(Store.open(Path(sys.argv[1]))) as opened:
        asyncio.run(_main(opened))
